import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How a real agent CLI is pointed at our model and spoken to, without a terminal. */
export type Launch = {
  readonly name: string
  /** What it needs in its environment beside HOME. */
  readonly env: (port: number) => NodeJS.ProcessEnv
  /** Its settings, as files under HOME: our model, no questions, no updates. */
  readonly files: (port: number, dir: string) => Readonly<Record<string, string>>
  /** A new session; `id` only where it can be preset. */
  readonly start: (id: string, prompt: string) => string[]
  readonly resume: (id: string, prompt: string) => string[]
  /** The native id, from its output; null: it is preset. */
  readonly idIn: RegExp | null
  /** Whether two live owners of one session are fine with it. */
  readonly allowsTwo: boolean
  /** Variables of its own that tell its tools who they are: those it may set itself. */
  readonly own: RegExp
}

const address = (port: number): string => `http://127.0.0.1:${port}`

const claude: Launch = {
  name: 'claude',
  env: (port) => ({
    ANTHROPIC_BASE_URL: address(port),
    ANTHROPIC_API_KEY: 'sk-ant-fake-0000',
    // Root may skip its questions only in what says it is a sandbox.
    IS_SANDBOX: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  files: (_, dir) => ({
    '.claude/settings.json': '{"skipDangerousModePermissionPrompt": true}\n',
    '.claude.json': JSON.stringify({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['sk-ant-fake-0000'], rejected: [] },
      projects: { [dir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  }),
  start: (id, prompt) => ['-p', '--session-id', id, ...CLAUDE_OPTIONS, prompt],
  resume: (id, prompt) => ['-p', '--resume', id, ...CLAUDE_OPTIONS, prompt],
  idIn: null,
  allowsTwo: true,
  own: /^(CLAUDE|AI_AGENT$)/,
}
export const CLAUDE_OPTIONS = ['--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5']

const codexConfig = (port: number, dir: string): string => `model = "gpt-5.1-codex"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "${address(port)}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[projects."${dir}"]
trust_level = "trusted"
`
const CODEX_OPTIONS = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json']
const codex: Launch = {
  name: 'codex',
  env: () => ({ FAKE_KEY: 'x' }),
  files: (port, dir) => ({ '.codex/config.toml': codexConfig(port, dir) }),
  start: (_, prompt) => [...CODEX_OPTIONS, prompt],
  resume: (id, prompt) => [...CODEX_OPTIONS, 'resume', id, prompt],
  idIn: /"thread_id":"([0-9a-f-]{36})"/,
  allowsTwo: false,
  own: /^CODEX_/,
}

/** An old codex stands in for Every Code: same lineage, same files, and no lock on a session. */
const code: Launch = { ...codex, name: 'code', allowsTwo: true, own: /^(CODEX_|CODE_BINARY_PATH$|CODER_MANAGED)/ }

const gemini: Launch = {
  name: 'gemini',
  env: (port) => ({ GEMINI_API_KEY: 'fake', GOOGLE_GEMINI_BASE_URL: address(port) }),
  files: () => ({ '.gemini/settings.json': JSON.stringify({ ...settings('gemini-api-key') }) }),
  start: (id, prompt) => [...GEMINI_OPTIONS, '--session-id', id, '-p', prompt],
  resume: (id, prompt) => [...GEMINI_OPTIONS, '--resume', id, '-p', prompt],
  idIn: null,
  allowsTwo: true,
  own: /^GEMINI_/,
}
const GEMINI_OPTIONS = ['--yolo', '--skip-trust', '-m', 'gemini-2.5-flash', '-o', 'stream-json']

const qwen: Launch = {
  name: 'qwen',
  env: (port) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${address(port)}/v1`, OPENAI_MODEL: 'fake-model' }),
  files: () => ({ '.qwen/settings.json': JSON.stringify(settings('openai')) }),
  start: (id, prompt) => ['--yolo', '-o', 'stream-json', '--session-id', id, '-p', prompt],
  resume: (id, prompt) => ['--yolo', '-o', 'stream-json', '--resume', id, '-p', prompt],
  idIn: null,
  allowsTwo: true,
  own: /^QWEN_/,
}
const settings = (selectedType: string): object => ({
  security: { auth: { selectedType }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, disableAutoUpdate: true, disableUpdateNag: true },
  telemetry: { enabled: false },
})

const opencode: Launch = {
  name: 'opencode',
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  }),
  files: (port) => ({ '.config/opencode/opencode.json': JSON.stringify(opencodeConfig(port)) }),
  start: (_, prompt) => ['run', '--format', 'json', '--auto', prompt],
  resume: (id, prompt) => ['run', '--format', 'json', '--auto', '-s', id, prompt],
  idIn: /"sessionID":"(ses_[0-9A-Za-z]+)"/,
  allowsTwo: true,
  own: /^(OPENCODE|AGENT$)/,
}
const opencodeConfig = (port: number): object => ({
  autoupdate: false,
  share: 'disabled',
  permission: 'allow',
  model: 'fake/fake-model',
  small_model: 'fake/fake-model',
  provider: {
    fake: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Fake',
      options: { baseURL: `${address(port)}/v1`, apiKey: 'x' },
      models: { 'fake-model': { name: 'Fake', limit: { context: 128_000, output: 8000 }, tool_call: true } },
    },
  },
})

export const LAUNCHES: readonly Launch[] = [claude, codex, code, gemini, opencode, qwen]

export function configure(launch: Launch, home: string, port: number, dir: string): void {
  for (const [file, text] of Object.entries(launch.files(port, dir))) {
    mkdirSync(dirname(join(home, file)), { recursive: true })
    writeFileSync(join(home, file), text)
  }
}
