import { join } from 'node:path'
import type { Harness } from '../../model/index.ts'
import { dataOf } from '../recognise/disk.ts'
import { inDatabase } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { gooseUsage } from '../usage/rules.ts'

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
  capture: [{ from: 'variable' }],
  sessions: inDatabase((env) => join(dataOf(env), 'goose', 'sessions', 'sessions.db'), 'SELECT working_dir AS directory FROM sessions WHERE id = ?'),
  registry: null,
  zeroAfter: [],
  usage: gooseUsage,
  daemonizes: [],
  hooks: null,
}
