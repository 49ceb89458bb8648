import { join } from 'node:path'
import type { Environment, Harness } from '../../model/index.ts'
import { qwenHooks } from '../hooks/hook-rules.ts'
import { folderOf } from '../recognise/disk.ts'
import { inProjects } from '../recognise/find.ts'
import { pidFiles } from '../recognise/pid-files.ts'
import { words } from '../recognise/words.ts'
import { qwenUsage } from '../usage/rules.ts'

const home = (env: Environment): string => folderOf(env, 'QWEN_HOME', '.qwen')

/** Qwen Code; measured with 0.24.4. It registers only what has a terminal. */
export const qwen: Harness = {
  name: 'qwen',
  title: 'Qwen Code',
  commands: ['qwen'],
  program: { names: ['qwen'], packages: ['@qwen-code/qwen-code'], idle: ['sessions', 'serve'] },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--resume', '{id}', '{args}'],
    chooses: words('--session-id --resume -r --continue -c --fork-session'),
    continues: words('--continue -c'),
    idAfter: words('--session-id --resume -r'),
    forks: ['--fork-session'],
    headless: { start: ['{args}'], resume: ['--resume', '{id}', '{args}'], prompt: 'stdin', marks: ['-p', '--prompt'] },
    keeps: {
      flags: words('-s|--sandbox -y|--yolo --bare --safe-mode --insecure --screen-reader --include-partial-messages'),
      valued: words(
        '-m|--model --fallback-model --approval-mode --mcp-config --allowed-mcp-server-names --allowed-tools --exclude-tools --core-tools -e|--extensions --include-directories|--add-dir --system-prompt --append-system-prompt --output-style --auth-type --openai-base-url -o|--output-format',
      ),
      repeated: words(
        '--fallback-model --allowed-mcp-server-names --allowed-tools --exclude-tools --core-tools -e|--extensions --include-directories|--add-dir',
      ),
      headless: ['-o|--output-format', '--include-partial-messages'],
      either: [words('-y --yolo --approval-mode')],
    },
  },
  resumeIn: 'same',
  sessionVariables: words(
    'QWEN_CODE QWEN_CODE_SESSION_ID QWEN_CODE_AGENT_ID QWEN_CODE_PROMPT_ID QWEN_CODE_PROJECT_DIR QWEN_CODE_LAUNCHER_PID QWEN_CODE_NO_RELAUNCH QWEN_CODE_PRIVATE_* QWEN_CODE_MANAGED_* QWEN_CODE_STARTUP_VERSION',
  ),
  idVariable: 'QWEN_CODE_SESSION_ID',
  capture: [{ from: 'output', field: 'session_id' }, { from: 'variable' }],
  sessions: inProjects((env) => join(env['QWEN_RUNTIME_DIR'] || home(env), 'projects'), { below: 'chats' }),
  registry: pidFiles({
    harness: 'qwen',
    folder: (env) => join(home(env), 'sessions'),
    start: /^(?<boot>[^:]+):(?<ticks>\d{1,15})$/,
    place: ({ pidNs }) => ({ machine: null, pidNamespace: Number.isSafeInteger(pidNs) ? `pid:[${pidNs}]` : null }),
    services: [],
  }),
  zeroAfter: [],
  usage: qwenUsage,
  daemonizes: [],
  hooks: qwenHooks,
}
