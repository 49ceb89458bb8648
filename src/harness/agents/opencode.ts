import { join } from 'node:path'
import type { Environment, Harness, Speech } from '../../model/index.ts'
import { opencodeHooks } from '../hooks/hook-rules.ts'
import { dataOf } from '../recognise/disk.ts'
import { begunInDatabase, inDatabase } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { opencodeUsage } from '../usage/rules.ts'

/** As Kilo speaks, too. */
export const OPENCODE_SPEECH: Speech = {
  preset: null,
  resume: ['--session', '{id}', '{args}'],
  chooses: words('--session -s --continue -c --fork'),
  continues: words('--continue -c'),
  idAfter: ['--session', '-s'],
  forks: ['--fork'],
  headless: { start: ['run', '{args}'], resume: ['run', '--session', '{id}', '{args}'], prompt: 'stdin', marks: ['run'] },
  keeps: {
    flags: words('--auto --pure --thinking --print-logs'),
    valued: words('-m|--model --agent --variant --format --log-level'),
    headless: words('--thinking --variant --format'),
  },
}

/** Not those of the agents that a session has started. */
export const SESSION_BEGUN = 'SELECT id FROM session WHERE directory = ? AND time_created >= CAST(? AS INTEGER) AND parent_id IS NULL'
export const SESSION_TITLE = 'SELECT title FROM session WHERE id = ?'
export const SESSION_DIRECTORY = 'SELECT directory FROM session WHERE id = ?'

const databaseOf = (env: Environment): string => join(dataOf(env), 'opencode', 'opencode.db')

/** OpenCode; measured with 1.18.33. */
export const opencode: Harness = {
  name: 'opencode',
  title: 'OpenCode',
  commands: ['opencode'],
  program: { names: ['opencode'], packages: ['opencode-ai'], idle: ['serve', 'acp', 'web'] },
  speech: OPENCODE_SPEECH,
  resumeIn: 'same',
  sessionVariables: words('OPENCODE OPENCODE_PID AGENT'),
  idVariable: null,
  capture: [
    { from: 'output', field: 'sessionID' },
    { from: 'begun', find: begunInDatabase(databaseOf, SESSION_BEGUN) },
  ],
  sessions: inDatabase(databaseOf, SESSION_DIRECTORY, SESSION_TITLE),
  registry: null,
  zeroAfter: [],
  usage: opencodeUsage,
  daemonizes: [],
  hooks: opencodeHooks,
}
