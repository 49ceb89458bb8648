import { basename, join } from 'node:path'
import type { Anchor, Environment, Harness, RegistryEntry } from '../../model/index.ts'
import { isPid, isSignallable } from '../../model/index.ts'
import { listed, malformed } from '../recognise/anchors.ts'
import { absolute, fieldsOf, folderOf, isPlainId, namesIn } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'
import { programSince } from '../recognise/program-since.ts'
import { words } from '../recognise/words.ts'
import { clineUsage } from '../usage/rules.ts'

const stored = (env: Environment): string => join(folderOf(env, 'CLINE_DIR', '.cline'), 'data', 'sessions')
const MAX_SESSIONS = 500

/** Cline; measured with 3.0.65. Its tools run in its hub; it reads no prompt from a file, and resumes only in a terminal. */
export const cline: Harness = {
  name: 'cline',
  title: 'Cline',
  commands: ['cline'],
  program: { names: ['cline'], dirOptions: ['--cwd'] },
  speech: {
    preset: null,
    resume: ['--id', '{id}', '--tui', '{args}'],
    chooses: ['--id'],
    idAfter: ['--id'],
    forks: [],
    id: /^\d{10,16}_\w{3,16}$/,
    headless: { start: ['{args}', '--', '{prompt}'], resume: null, prompt: 'argument', marks: ['--json'] },
    keeps: {
      flags: ['-p|--plan'],
      valued: words('--auto-approve -c|--cwd --compaction -P|--provider -m|--model -s|--system --config --data-dir --hooks-dir'),
    },
  },
  resumeIn: 'same',
  sessionVariables: [],
  idVariable: null,
  capture: [],
  sessions: sessionsBy((env, id) => {
    const path = join(stored(env), id, `${id}.json`)
    const fields = fieldsOf(path)
    return fields === null ? null : { id, path, dir: absolute(fields['cwd']) }
  }),
  registry: {
    read: (env, mayBeThere) =>
      namesIn(stored(env))
        .filter(isPlainId)
        .slice(0, MAX_SESSIONS)
        .flatMap((id) => entryOf(join(stored(env), id, `${id}.json`), id, mayBeThere) ?? []),
    anchors: {
      list: (env) => {
        const ids = namesIn(stored(env)).filter(isPlainId)
        const paths = ids.map((id) => join(stored(env), id, `${id}.json`))
        return listed(paths, anchorAt)
      },
      read: anchorAt,
    },
  },
  zeroAfter: ['SIGTERM'],
  usage: clineUsage,
  daemonizes: ['-z', '--zen'],
  hooks: null,
}

/** It names a pid, but not when that started. Only a cline that was there before the session began can be the one that is meant. */
function entryOf(path: string, id: string, mayBeThere: (pid: number) => boolean): RegistryEntry | null {
  const { pid, status, cwd, started_at: began } = fieldsOf(path) ?? {}
  if (status !== 'running' || typeof pid !== 'number' || !isSignallable(pid) || !mayBeThere(pid) || typeof began !== 'string') return null
  const ticks = programSince(pid, /^cline$/, Date.parse(began))
  return ticks === null ? null : { process: { pid, ticks }, cwd: absolute(cwd), nativeId: id, service: false }
}

/** The session itself says that it runs, and by whom: that may be wrong, but it is more than an anchor, and never removed. */
function anchorAt(path: string): Anchor | null {
  const { pid, status } = fieldsOf(path) ?? {}
  if (status !== 'running') return null
  if (typeof pid !== 'number' || !isPid(pid)) return malformed('cline', path, 'it says that it runs, but not by which pid')
  const says = { kind: 'process', pid, ticks: null, bootId: null, machine: null, pidNamespace: null, flock: 'none' } as const
  return { harness: 'cline', nativeId: basename(path, '.json'), path, files: [], says }
}
