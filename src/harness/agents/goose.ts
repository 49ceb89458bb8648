import { join } from 'node:path'
import type { Environment, Harness } from '../../model/index.ts'
import { dataOf } from '../recognise/disk.ts'
import { begunInDatabase, inDatabase } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { gooseUsage } from '../usage/rules.ts'

const databaseOf = (env: Environment): string =>
  join(env['GOOSE_PATH_ROOT'] ? join(env['GOOSE_PATH_ROOT'], 'data') : join(dataOf(env), 'goose'), 'sessions', 'sessions.db')

/** It tells the time in whole seconds. Those of its subagents are of another type. */
const SESSION_BEGUN =
  "SELECT id FROM sessions WHERE working_dir = ? AND created_at >= datetime(CAST(? AS INTEGER) / 1000, 'unixepoch') AND session_type = 'user'"

/** Goose; measured with 1.52. Its banner stands before its JSON, and has no field for the id. */
export const goose: Harness = {
  name: 'goose',
  title: 'Goose',
  commands: ['goose'],
  program: { names: ['goose'], idle: ['acp', 'web'] },
  speech: {
    preset: null,
    resume: ['session', '--resume', '--session-id', '{id}', '{args}'],
    chooses: words('--resume -r --session-id --path --fork'),
    idAfter: ['--session-id'],
    forks: ['--fork'],
    headless: {
      start: ['run', '{args}', '--instructions', '-'],
      resume: ['run', '--resume', '--session-id', '{id}', '{args}', '--instructions', '-'],
      prompt: 'stdin',
      marks: ['run'],
    },
    keeps: {
      flags: words('--no-profile --debug -q|--quiet'),
      valued: words(
        '--provider --model --max-turns --max-tool-repetitions --container --system --with-extension --with-streamable-http-extension --with-builtin --output-format',
      ),
      repeated: words('--with-extension --with-streamable-http-extension --with-builtin'),
      headless: ['-q|--quiet', '--output-format'],
    },
  },
  resumeIn: 'any',
  sessionVariables: ['AGENT_SESSION_ID'],
  idVariable: 'AGENT_SESSION_ID',
  capture: [{ from: 'variable' }, { from: 'begun', find: begunInDatabase(databaseOf, SESSION_BEGUN) }],
  sessions: inDatabase(databaseOf, 'SELECT working_dir AS directory FROM sessions WHERE id = ?'),
  registry: null,
  zeroAfter: [],
  usage: gooseUsage,
  daemonizes: [],
  hooks: null,
}
