import { basename, dirname, join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { Anchor, Environment, Harness } from '../../model/index.ts'
import { copilotHooks } from '../hooks/hook-rules.ts'
import { fileAt, isThereAtAll, listed, malformed, pidIn, stamped } from '../recognise/anchors.ts'
import { absolute, folderOf, isFile, namesIn, textOf } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'
import { flockersOf, flockOf } from '../recognise/flocks.ts'
import { words } from '../recognise/words.ts'
import { copilotUsage } from '../usage/rules.ts'

const states = (env: Environment): string => join(folderOf(env, 'COPILOT_HOME', '.copilot'), 'session-state')
const HELD = /\/([^/]+)\/inuse\.(\d+)\.hold$/

/** GitHub Copilot CLI; measured with 1.0.102. */
export const copilot: Harness = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  commands: ['copilot'],
  program: { names: ['copilot'], packages: ['@github/copilot'] },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--resume={id}', '{args}'],
    chooses: words('--session-id --resume -r --continue --connect'),
    continues: ['--continue'],
    idAfter: words('--session-id --resume -r'),
    forks: [],
    headless: { start: ['{args}'], resume: ['--resume={id}', '{args}'], prompt: 'stdin', marks: ['-p', '--prompt'] },
    keeps: {
      flags: words(
        '--allow-all-tools --allow-all-paths --allow-all-urls --allow-all --yolo --disallow-temp-dir --no-ask-user --no-custom-instructions --disable-builtin-mcps --experimental --no-experimental --no-auto-update --autopilot --plan -s|--silent',
      ),
      valued: words(
        '--model --reasoning-effort --context --agent --mode --stream --log-level --log-dir --add-dir --additional-mcp-config --disable-mcp-server --enable-mcp-server --plugin-dir --output-format',
      ),
      repeated: words('--add-dir --additional-mcp-config --disable-mcp-server --enable-mcp-server --plugin-dir'),
      many: words('--allow-tool --deny-tool --available-tools --excluded-tools --allow-url --deny-url'),
      headless: ['--output-format', '-s|--silent'],
      either: [words('--experimental --no-experimental'), words('--mode --autopilot --plan')],
    },
  },
  resumeIn: 'any',
  sessionVariables: words('COPILOT_CLI COPILOT_AGENT_SESSION_ID COPILOT_CLI_* COPILOT_LOADER_PID'),
  idVariable: 'COPILOT_AGENT_SESSION_ID',
  capture: [{ from: 'output', field: 'sessionId' }, { from: 'variable' }],
  sessions: sessionsBy((env, id) => {
    const path = join(states(env), id, 'workspace.yaml')
    // It writes that at its start, and its events only from the first prompt on: without them there is nothing to go on with.
    const text = isFile(join(states(env), id, 'events.jsonl')) ? textOf(path) : null
    return text === null ? null : { id, path: join(states(env), id), dir: absolute(yamlText(/^cwd: *(.+)$/m.exec(text)?.[1] ?? '')) }
  }),
  registry: {
    read: (env, mayBeThere) => {
      const holders = flockersOf(states(env), HELD, mayBeThere)
      return holders.flatMap(({ process, path, cwd }) => {
        const [, nativeId = null, pid] = HELD.exec(path) ?? []
        return Number(pid) === process.pid ? [{ process, cwd, nativeId, service: false }] : []
      })
    },
    anchors: { list: (env) => listed(inUse(states(env)), anchorAt), read: anchorAt },
  },
  zeroAfter: ['SIGTERM'],
  usage: copilotUsage,
  daemonizes: [],
  hooks: copilotHooks,
}

/** A text on one line of YAML: plain, or in quotes. */
function yamlText(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed.startsWith('"')) return orNull((): unknown => JSON.parse(trimmed))
  return trimmed.startsWith("'") ? trimmed.slice(1, -1).replaceAll("''", "'") : trimmed
}

const MAX_SESSIONS = 5000
const IN_USE = /^inuse\.([^/]*)\.(lock|hold)$/

/** One path for each pid of each session, whether both of its files are there or one. */
function inUse(root: string): string[] {
  const folders = namesIn(root)
    .slice(0, MAX_SESSIONS)
    .map((name) => join(root, name))
  return folders.flatMap((folder) => {
    const pids = new Set(namesIn(folder).flatMap((name) => IN_USE.exec(name)?.[1] ?? []))
    return [...pids].map((pid) => join(folder, `inuse.${pid}.lock`))
  })
}

/** `inuse.PID.lock` says the pid again; nobody tells when that was born, but as long as it lives it holds a lock on `inuse.PID.hold`. */
function anchorAt(path: string): Anchor | null {
  const hold = path.replace(/lock$/, 'hold')
  if (!isThereAtAll(path) && !isThereAtAll(hold)) return null
  const text = IN_USE.exec(basename(path))?.[1] ?? ''
  const pid = pidIn(text)
  if (pid === null) return malformed('copilot', path, 'its name is no pid')
  const said = fileAt(path)?.text.trim() ?? text
  if (said !== text) return malformed('copilot', path, `its name says ${pid}, and it says ${JSON.stringify(said).slice(0, 40)}`)
  const flock = flockOf(hold)
  const nativeId = basename(dirname(path))
  const says = { kind: 'process', pid, ticks: null, bootId: null, machine: null, pidNamespace: null, flock } as const
  return { harness: 'copilot', nativeId, path, files: stamped([path, hold]), says }
}
