import { join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { Environment, Harness, RegistryEntry } from '../../model/index.ts'
import { isSignallable } from '../../model/index.ts'
import { grokHooks } from '../hooks/hook-rules.ts'
import { absolute, folderOf, isFolder, namesIn, textOf } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'
import { programSince } from '../recognise/program-since.ts'
import { words } from '../recognise/words.ts'
import { grokUsage } from '../usage/rules.ts'

const home = (env: Environment): string => folderOf(env, 'GROK_HOME', '.grok')

/** Grok Build; measured with 1.0.41. It registers only what has a terminal. */
export const grok: Harness = {
  name: 'grok',
  title: 'Grok Build',
  commands: ['grok'],
  program: { names: ['grok'], packages: ['@xai-official/grok'], dirOptions: ['--cwd'] },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--resume', '{id}', '{args}'],
    chooses: words('--session-id -s --resume -r --continue -c --fork-session'),
    idAfter: words('--session-id -s --resume -r'),
    forks: ['--fork-session'],
    headless: {
      start: ['--prompt-file', '/dev/stdin', '{args}'],
      resume: ['--resume', '{id}', '--prompt-file', '/dev/stdin', '{args}'],
      prompt: 'stdin',
      marks: words('-p --single --prompt-file --prompt-json'),
    },
    keeps: {
      flags: words(
        '--always-approve --disable-web-search --no-plan --no-subagents --no-alt-screen --minimal --fullscreen --include-partial-messages',
      ),
      valued: words(
        '-m|--model --permission-mode --agent --agents --sandbox --tools --disallowed-tools --allow --deny --rules --reasoning-effort|--effort --max-turns --cwd --leader-socket --system-prompt-override --output-format',
      ),
      repeated: ['--allow', '--deny'],
      interactive: words('--no-alt-screen --minimal --fullscreen'),
      headless: words('--output-format --include-partial-messages'),
      either: [words('--always-approve --permission-mode'), words('--minimal --fullscreen')],
    },
  },
  resumeIn: 'any',
  sessionVariables: words('GROK_AGENT GROK_SESSION_ID GROK_HOOK_* GROK_WORKSPACE_ROOT'),
  idVariable: 'GROK_SESSION_ID',
  capture: [{ from: 'output', field: 'sessionId' }, { from: 'variable' }],
  sessions: sessionsBy((env, id) => {
    const root = join(home(env), 'sessions')
    const project = namesIn(root).find((name) => isFolder(join(root, name, id)))
    return project === undefined ? null : { id, path: join(root, project, id), dir: absolute(orNull(() => decodeURIComponent(project))) }
  }),
  registry: {
    read: (env, mayBeThere) => listed(env).flatMap((entry) => entryFrom(entry, mayBeThere) ?? []),
    // One file for all of them, which it keeps itself.
    anchors: { list: () => ({ anchors: [], whole: true }), read: () => null },
  },
  zeroAfter: [],
  usage: grokUsage,
  daemonizes: [],
  hooks: grokHooks,
}

type Listed = { readonly session_id?: unknown; readonly pid?: unknown; readonly cwd?: unknown; readonly opened_at?: unknown } | null

function listed(env: Environment): readonly Listed[] {
  const document = orNull((): unknown => JSON.parse(textOf(join(home(env), 'active_sessions.json')) ?? '[]'))
  return Array.isArray(document) ? (document as readonly Listed[]) : []
}

/** It names a pid, but not when that started. */
function entryFrom(entry: Listed, mayBeThere: (pid: number) => boolean): RegistryEntry | null {
  const { session_id: id, pid, cwd, opened_at: opened } = entry ?? {}
  if (typeof id !== 'string' || typeof pid !== 'number' || !isSignallable(pid) || !mayBeThere(pid) || typeof opened !== 'string') return null
  const ticks = programSince(pid, /^grok(-|$)/, Date.parse(opened))
  return ticks === null ? null : { process: { pid, ticks }, cwd: absolute(cwd), nativeId: id, service: false }
}
