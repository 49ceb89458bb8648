import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How a real agent CLI is pointed at our model and spoken to, without a terminal. */
export type Launch = {
  readonly name: string
  /** What it needs in its environment beside HOME. */
  readonly env: (port: number, home: string) => NodeJS.ProcessEnv
  /** Its settings, as files under HOME: our model, no questions, no updates. */
  readonly files: (port: number, dir: string) => Readonly<Record<string, string>>
  /** A new session, without an id: as a person would type it. */
  readonly fresh: (prompt: string) => string[]
  /** A new session with this id, where it can be preset. */
  readonly start: (id: string, prompt: string) => string[]
  readonly resume: (id: string, prompt: string) => string[]
  /** The native id, from its output; null: it is preset. */
  readonly idIn: RegExp | null
  /** Whether two live owners of one session are fine with it. */
  readonly allowsTwo: boolean
  /** What makes it take hooks from its settings without asking a person. */
  readonly hooked: readonly string[]
  /** What makes it start an MCP server; left out: not tried. */
  readonly mcp?: (command: string, args: readonly string[]) => string[]
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
    // The tools of MCP servers are shown to the model at once, instead of when it searches for them.
    ENABLE_TOOL_SEARCH: 'false',
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
  fresh: (prompt) => ['-p', ...CLAUDE_OPTIONS, prompt],
  start: (id, prompt) => ['-p', '--session-id', id, ...CLAUDE_OPTIONS, prompt],
  resume: (id, prompt) => ['-p', '--resume', id, ...CLAUDE_OPTIONS, prompt],
  idIn: null,
  allowsTwo: true,
  hooked: [],
  mcp: (command, args) => ['--strict-mcp-config', '--mcp-config', JSON.stringify({ mcpServers: { holdfast: { command, args } } })],
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
  fresh: (prompt) => [...CODEX_OPTIONS, prompt],
  start: (_, prompt) => [...CODEX_OPTIONS, prompt],
  resume: (id, prompt) => [...CODEX_OPTIONS, 'resume', id, prompt],
  idIn: /"thread_id":"([0-9a-f-]{36})"/,
  allowsTwo: false,
  hooked: ['--dangerously-bypass-hook-trust'],
  mcp: (command, args) => [
    '-c',
    `mcp_servers.holdfast.command=${JSON.stringify(command)}`,
    '-c',
    `mcp_servers.holdfast.args=${JSON.stringify(args)}`,
  ],
}

/** An old codex stands in for Every Code: same lineage, same files, and no lock on a session. */
const code: Launch = {
  ...codex,
  name: 'code',
  // Its files lie where those of Every Code would.
  env: (_, home) => ({ FAKE_KEY: 'x', CODEX_HOME: join(home, '.code') }),
  files: (port, dir) => ({ '.code/config.toml': codexConfig(port, dir) }),
  hooked: [],
  allowsTwo: true,
}

const gemini: Launch = {
  name: 'gemini',
  env: (port) => ({ GEMINI_API_KEY: 'fake', GOOGLE_GEMINI_BASE_URL: address(port) }),
  files: () => ({ '.gemini/settings.json': JSON.stringify({ ...settings('gemini-api-key') }) }),
  fresh: (prompt) => [...GEMINI_OPTIONS, '-p', prompt],
  start: (id, prompt) => [...GEMINI_OPTIONS, '--session-id', id, '-p', prompt],
  resume: (id, prompt) => [...GEMINI_OPTIONS, '--resume', id, '-p', prompt],
  idIn: null,
  allowsTwo: true,
  hooked: [],
}
const GEMINI_OPTIONS = ['--yolo', '--skip-trust', '-m', 'gemini-2.5-flash', '-o', 'stream-json']

const qwen: Launch = {
  name: 'qwen',
  env: (port) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${address(port)}/v1`, OPENAI_MODEL: 'fake-model' }),
  files: () => ({ '.qwen/settings.json': JSON.stringify(settings('openai')) }),
  fresh: (prompt) => ['--yolo', '-o', 'stream-json', '-p', prompt],
  start: (id, prompt) => ['--yolo', '-o', 'stream-json', '--session-id', id, '-p', prompt],
  resume: (id, prompt) => ['--yolo', '-o', 'stream-json', '--resume', id, '-p', prompt],
  idIn: null,
  allowsTwo: true,
  hooked: [],
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
  fresh: (prompt) => ['run', '--format', 'json', '--auto', prompt],
  start: (_, prompt) => ['run', '--format', 'json', '--auto', prompt],
  resume: (id, prompt) => ['run', '--format', 'json', '--auto', '-s', id, prompt],
  idIn: /"sessionID":"(ses_[0-9A-Za-z]+)"/,
  allowsTwo: true,
  hooked: [],
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
