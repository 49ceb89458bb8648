import { join } from 'node:path'
import type { Environment, Harness } from '../../model/index.ts'
import { claudeHooks } from '../hooks/hook-rules.ts'
import { folderOf } from '../recognise/disk.ts'
import { inProjects } from '../recognise/find.ts'
import { pidFiles } from '../recognise/pid-files.ts'
import { words } from '../recognise/words.ts'
import { claudeUsage } from '../usage/rules.ts'

const home = (env: Environment): string => folderOf(env, 'CLAUDE_CONFIG_DIR', '.claude')

/** Where a pid of its is one: the machine's id, and the pid namespace. Either may have been unreadable to it; older releases (2.1.197) tell neither. */
const DOMAIN = /^linux:([^:]*):(pid:\[\d+\])?$/

/** Claude Code; measured with 2.1.325. */
export const claude: Harness = {
  name: 'claude',
  title: 'Claude Code',
  commands: ['claude'],
  program: {
    names: ['claude'],
    exe: /\/claude\/versions\/\d+\.\d+\.\d+[^/]*$/,
    packages: ['@anthropic-ai/claude-code', '@anthropic-ai/claude-agent-sdk'],
    idle: words('daemon bg-pty-host --bg-pty-host --claude-in-chrome-mcp --chrome-native-host stop respawn rm install setup-token plugin'),
  },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--resume', '{id}', '{args}'],
    chooses: words('--session-id --resume -r --continue -c --fork-session --from-pr --teleport --cloud'),
    continues: words('--continue -c'),
    idAfter: words('--session-id --resume -r'),
    forks: ['--fork-session'],
    headless: { start: ['-p', '{args}'], resume: ['-p', '--resume', '{id}', '{args}'], prompt: 'stdin', marks: ['-p', '--print'] },
    keeps: {
      flags: words(
        '--dangerously-skip-permissions --allow-dangerously-skip-permissions --strict-mcp-config --restricted --safe-mode --bare --verbose --chrome --no-chrome --ide --disable-slash-commands --include-partial-messages',
      ),
      valued: words(
        '--model --fallback-model --effort --permission-mode --permission-prompts --settings --setting-sources --agent --agents --system-prompt --append-system-prompt --autocompact --output-format --plugin-dir',
      ),
      repeated: ['--plugin-dir'],
      many: words('--add-dir --mcp-config --tools --allowedTools|--allowed-tools --disallowedTools|--disallowed-tools --betas'),
      headless: words('--output-format --include-partial-messages --permission-prompts'),
      either: [words('--dangerously-skip-permissions --permission-mode'), words('--chrome --no-chrome')],
    },
  },
  resumeIn: 'any',
  sessionVariables: words(
    'CLAUDECODE CLAUDE_PID CLAUDE_JOB_DIR CLAUDE_ENV_FILE CLAUDE_PROJECT_DIR CLAUDE_EFFORT CLAUDE_BG_* CLAUDE_CODE_SESSION_* CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH CLAUDE_CODE_MESSAGING_* CLAUDE_CODE_HOST_SESSION_ID CLAUDE_CODE_REMOTE_SESSION_ID CLAUDE_CODE_RESUME_* CLAUDE_CODE_SSE_PORT AI_AGENT',
  ),
  idVariable: 'CLAUDE_CODE_SESSION_ID',
  capture: [{ from: 'output', field: 'session_id' }, { from: 'variable' }],
  sessions: inProjects((env) => join(home(env), 'projects')),
  registry: pidFiles({
    harness: 'claude',
    folder: (env) => join(home(env), 'sessions'),
    start: /^(?<ticks>\d{1,15})$/,
    place: ({ pidDomain }) => {
      const [, machine = '', pidNamespace = ''] = typeof pidDomain === 'string' ? (DOMAIN.exec(pidDomain) ?? []) : []
      return { machine: machine || null, pidNamespace: pidNamespace || null }
    },
    services: ['daemon', 'daemon-worker'],
    // `shell`: its turn is over, and something that it started in the background is not.
    states: { busy: 'busy', waiting: 'waiting', idle: 'idle', shell: 'idle' },
  }),
  zeroAfter: ['SIGINT'],
  usage: claudeUsage,
  daemonizes: ['--bg', '--background'],
  hooks: claudeHooks,
}
