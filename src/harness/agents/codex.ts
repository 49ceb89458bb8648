import { join } from 'node:path'
import type { Anchor, Environment, Harness } from '../../model/index.ts'
import { partsOf } from '../../model/index.ts'
import { codexHooks } from '../hooks/hook-rules.ts'
import { listed } from '../recognise/anchors.ts'
import { folderOf, namesIn } from '../recognise/disk.ts'
import { inRollouts } from '../recognise/find.ts'
import { flockersOf, flockOf } from '../recognise/flocks.ts'
import { words } from '../recognise/words.ts'
import { codexUsage } from '../usage/rules.ts'

const home = (env: Environment): string => folderOf(env, 'CODEX_HOME', '.codex')
/** The file that a session writes; whoever has it open writes it. */
export const ROLLOUT = /\/rollout-[^/]*-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.jsonl$/

/** What `codex exec` says first, without --json: before a prompt, and before anything that a tool prints. */
export const BANNER = /^session id: ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Codex; measured with 0.166. Its shared daemon holds the lock of every session that it serves. */
export const codex: Harness = {
  name: 'codex',
  title: 'Codex',
  commands: ['codex'],
  program: {
    names: ['codex'],
    exe: /\/codex-(x86_64|aarch64)-[^/]+$/,
    packages: ['@openai/codex'],
    idle: words('app-server mcp-server exec-server sandbox debug archive delete queue'),
    valued: words('-c --config --enable --disable -p --profile -C --cd'),
    dirOptions: words('-C --cd'),
  },
  speech: {
    preset: null,
    resume: ['resume', '{id}', '{args}'],
    chooses: ['resume', 'fork'],
    continues: ['--last'],
    idAfter: ['resume'],
    forks: ['fork'],
    apart: '--no-daemon',
    headless: { start: ['exec', '{args}', '-'], resume: ['exec', '{args}', 'resume', '{id}', '-'], prompt: 'stdin', marks: ['exec', 'e'] },
    keeps: {
      flags: words(
        '--oss --approve-for-me --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust --strict-config --search --no-alt-screen --no-daemon --json --skip-git-repo-check --ignore-user-config --ignore-rules',
      ),
      valued: words(
        '-c|--config --enable --disable -m|--model --local-provider -p|--profile -s|--sandbox -a|--ask-for-approval -C|--cd --add-dir --output-schema --color',
      ),
      repeated: words('-c|--config --enable --disable --add-dir'),
      interactive: words('--search --no-alt-screen --no-daemon -a|--ask-for-approval'),
      headless: words('--json --skip-git-repo-check --ignore-user-config --ignore-rules --output-schema --color'),
      either: [
        words('--dangerously-bypass-approvals-and-sandbox --approve-for-me -a --ask-for-approval'),
        words('--dangerously-bypass-approvals-and-sandbox --approve-for-me -s --sandbox'),
      ],
    },
  },
  resumeIn: 'any',
  sessionVariables: words(
    'CODEX_THREAD_ID CODEX_SESSION_ID CODEX_TOOL_CALL_ID CODEX_CI CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_INTERNAL_* CODEX_MANAGED_*',
  ),
  idVariable: 'CODEX_THREAD_ID',
  capture: [{ from: 'output', field: 'thread_id' }, { from: 'banner', line: BANNER }, { from: 'open-file', path: ROLLOUT }, { from: 'variable' }],
  sessions: inRollouts((env) => [join(home(env), 'sessions')]),
  registry: {
    read: (env, mayBeThere) => {
      const holders = flockersOf(join(home(env), 'thread-writer-locks'), THREAD_LOCK, mayBeThere)
      return holders.map(({ process, path, cwd, argv }) => ({
        process,
        cwd,
        nativeId: THREAD_LOCK.exec(path)?.[1] ?? null,
        service: isAppServer(argv),
      }))
    },
    anchors: { list: (env) => listed(lockFiles(env), threadLock), read: threadLock },
  },
  zeroAfter: [],
  usage: codexUsage,
  daemonizes: [],
  hooks: codexHooks,
}

/** A prompt may say the same words. */
const isAppServer = ([, ...args]: readonly string[]): boolean =>
  partsOf(codex, args).some((part) => part.kind === 'plain' && part.place === 0 && part.word === 'app-server')

const THREAD_LOCK = /\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.lock$/

const lockFiles = (env: Environment): string[] =>
  namesIn(join(home(env), 'thread-writer-locks'))
    .map((name) => join(home(env), 'thread-writer-locks', name))
    .filter((path) => THREAD_LOCK.test(path))

/** It leaves them for good: only the lock on one tells anything, and none is ever removed. */
function threadLock(path: string): Anchor | null {
  const flock = flockOf(path)
  return flock === 'none'
    ? null
    : { harness: 'codex', nativeId: THREAD_LOCK.exec(path)?.[1] ?? null, path, files: [], says: { kind: 'flock', flock } }
}
