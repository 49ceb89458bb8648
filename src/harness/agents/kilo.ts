import { join } from 'node:path'
import type { Environment, Harness } from '../../model/index.ts'
import { kiloHooks } from '../hooks/hook-rules.ts'
import { dataOf } from '../recognise/disk.ts'
import { begunInDatabase, inDatabase } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { kiloUsage } from '../usage/rules.ts'
import { OPENCODE_SPEECH, SESSION_BEGUN, SESSION_DIRECTORY, SESSION_TITLE } from './opencode.ts'

const databaseOf = (env: Environment): string => join(dataOf(env), 'kilo', 'kilo.db')

/** Kilo, a fork of OpenCode; measured with 7.7.9. */
export const kilo: Harness = {
  name: 'kilo',
  title: 'Kilo',
  commands: ['kilo'],
  program: { names: ['kilo'], packages: ['@kilocode/cli'], idle: ['serve', 'acp', 'daemon', 'web'] },
  speech: { ...OPENCODE_SPEECH, chooses: [...OPENCODE_SPEECH.chooses, '--cloud-fork'], forks: ['--fork', '--cloud-fork'] },
  resumeIn: 'any',
  sessionVariables: words('KILO KILO_PID KILO_RUN_ID KILO_PROCESS_ROLE OPENCODE AGENT'),
  idVariable: null,
  capture: [
    { from: 'output', field: 'sessionID' },
    { from: 'begun', find: begunInDatabase(databaseOf, SESSION_BEGUN) },
  ],
  sessions: inDatabase(databaseOf, SESSION_DIRECTORY, SESSION_TITLE),
  registry: null,
  zeroAfter: [],
  usage: kiloUsage,
  daemonizes: [],
  hooks: kiloHooks,
}
