import { join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { Harness } from '../../model/index.ts'
import { absolute, folderOf, isFile, textOf } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'

/** Continue; measured with 1.5.47. It resumes only its last session, and forks any. */
export const cn: Harness = {
  name: 'cn',
  title: 'Continue',
  commands: ['cn'],
  program: { names: ['cn'], packages: ['@continuedev/cli'] },
  speech: {
    preset: null,
    resume: null,
    chooses: ['--resume', '--fork'],
    idAfter: [],
    forks: ['--fork'],
    headless: { start: ['-p', '{args}'], resume: null, prompt: 'stdin', marks: ['-p', '--print'] },
    keeps: { flags: [], valued: [] },
  },
  resumeIn: 'same',
  sessionVariables: [],
  idVariable: null,
  capture: [],
  sessions: sessionsBy((env, id) => {
    const folder = join(folderOf(env, 'CONTINUE_GLOBAL_DIR', '.continue'), 'sessions')
    const path = join(folder, `${id}.json`)
    const index = orNull((): unknown => JSON.parse(textOf(join(folder, 'sessions.json')) ?? 'null'))
    const entry = Array.isArray(index) ? (index as readonly (Indexed | null)[]).find((one) => one?.sessionId === id) : undefined
    return isFile(path) ? { id, path, dir: absolute(entry?.workspaceDirectory) } : null
  }),
  registry: null,
  zeroAfter: ['SIGTERM'],
  usage: null,
  daemonizes: [],
  hooks: null,
}

type Indexed = { readonly sessionId?: unknown; readonly workspaceDirectory?: unknown }
