import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { sessionVariables } from '../../../src/decide/index.ts'
import { HARNESSES, harnessNamed, SESSION_VARIABLES } from '../../../src/harness/index.ts'
import { verifies } from '../../requirements.ts'

const BLANKS = /^\{(id|args|prompt)\}$|^--?[\w-]+=\{id\}$/

describe.each(HARNESSES.map((harness) => [harness.name, harness] as const))('%s', (name, harness) => {
  const { speech, program } = harness
  const { keeps, headless } = speech
  const templates = [speech.preset, speech.resume, headless?.start, headless?.resume].flatMap((one) => one ?? [])

  test('is found by its name and its commands', () => {
    expect(harnessNamed(name)).toBe(harness)
    for (const command of harness.commands) expect(harnessNamed(command)).toBe(harness)
    expect(harness.commands.length > 0).toBe(name !== 'generic')
    expect(program.names.length > 0).toBe(name !== 'generic')
  })
  test('its templates have their blanks, and no others', () => {
    expect(templates.filter((word) => word.includes('{') && !BLANKS.test(word))).toEqual([])
    for (const template of [speech.resume, headless?.resume]) if (template) expect(template.some((word) => word.includes('{id}'))).toBe(true)
    for (const template of [speech.resume, headless?.start, headless?.resume]) if (template) expect(template).toContain('{args}')
    for (const template of [headless?.start, headless?.resume])
      if (template) expect(template.includes('{prompt}')).toBe(headless?.prompt === 'argument')
    if (speech.preset) expect(speech.preset.at(-1)).toBe('{id}')
  })
  test('what names or forks a session chooses one, and what presets or resumes one names it', () => {
    expect(speech.idAfter.filter((word) => !speech.chooses.includes(word))).toEqual([])
    expect(speech.forks.filter((word) => !speech.chooses.includes(word))).toEqual([])
    expect(speech.idAfter.filter((word) => speech.forks.includes(word))).toEqual([])
    const before = (template: readonly string[] | null): string[] =>
      (template ?? []).flatMap((word, at) =>
        word === '{id}' ? (template?.[at - 1] ?? []) : word.includes('={id}') ? (word.split('=')[0] ?? []) : [],
      )
    const namers = [speech.preset, speech.resume, headless?.resume ?? null].flatMap(before)
    expect(namers.filter((word) => !speech.idAfter.includes(word))).toEqual([])
  })
  test('what is kept chooses no session, and is known by one kind of option', () => {
    const all = [...keeps.flags, ...keeps.valued, ...(keeps.many ?? [])]
    const names = all.flatMap((entry) => entry.split('|'))
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((option) => !option.startsWith('-') || speech.chooses.includes(option))).toEqual([])
    for (const some of [keeps.repeated, keeps.interactive, keeps.headless]) expect((some ?? []).filter((entry) => !all.includes(entry))).toEqual([])
    expect((keeps.repeated ?? []).filter((entry) => !keeps.valued.includes(entry))).toEqual([])
    expect((keeps.interactive ?? []).filter((entry) => keeps.headless?.includes(entry))).toEqual([])
    for (const either of keeps.either ?? []) expect(either.filter((option) => !names.includes(option))).toEqual([])
  })
  test('its id variable is one of its session variables, and captured only if it has one', () => {
    if (harness.idVariable !== null) expect(sessionVariables([harness.idVariable], harness.sessionVariables)).toEqual([harness.idVariable])
    expect(harness.capture.some(({ from }) => from === 'variable')).toBe(harness.idVariable !== null)
    expect(harness.sessionVariables.filter((variable) => !SESSION_VARIABLES.includes(variable))).toEqual([])
  })
})

test('no two are one', () => {
  const names = HARNESSES.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const programs = HARNESSES.flatMap(({ program }) => program.names)
  expect(new Set(programs).size).toBe(programs.length)
  expect(harnessNamed('nonesuch')).toBeNull()
})

describe('Every Code', () => {
  const code = harnessNamed('code')
  const folder = mkdtempSync(join(tmpdir(), 'hf-code-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const owns = (path: string, text: string): boolean | undefined => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    return code?.owns?.(join(folder, path))
  }
  test('is `coder` before it is `code`', () => expect(code?.commands).toEqual(['coder', 'code']))
  test.each([
    ['lib/node_modules/@just-every/code/bin/coder.js', '#!/usr/bin/env node'],
    ['bin/code-x86_64-unknown-linux-musl', '\x7fELF'],
    ['shims/coder', '#!/bin/sh\nexec node /opt/@just-every/code/bin/coder.js "$@"'],
  ])('owns %s', (path, text) => expect(owns(path, text)).toBe(true))
  test.each([
    ['share/code/bin/code', '#!/usr/bin/env sh\nVSCODE_PATH="/usr/share/code"'],
    ['bin/coder', '\x7fELF of another, with @just-every/code in it'],
    ['bin/code', ''],
  ])('but not %s', (path, text) => expect(owns(path, text)).toBe(false))
  test('nor what is not there', () => expect(code?.owns?.('/nonexistent/code')).toBe(false))
  test('and is found behind a link', () => {
    owns('lib/@just-every/code/x', '')
    symlinkSync(join(folder, 'lib/@just-every/code/x'), join(folder, 'linked'))
    expect(code?.owns?.(join(folder, 'linked'))).toBe(true)
  })
})

/** As each of them sets them for its tools; measured, or from its package. */
const IDENTITIES =
  'CLAUDECODE CLAUDE_PID CLAUDE_JOB_DIR CLAUDE_ENV_FILE CLAUDE_PROJECT_DIR CLAUDE_EFFORT CLAUDE_BG_X CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SESSION_KIND CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH CLAUDE_CODE_MESSAGING_SOCKET CLAUDE_CODE_MESSAGING_TOKEN CLAUDE_CODE_HOST_SESSION_ID CLAUDE_CODE_REMOTE_SESSION_ID CLAUDE_CODE_RESUME_X CLAUDE_CODE_SSE_PORT AI_AGENT AGENT AGENT_SESSION_ID CODEX_THREAD_ID CODEX_SESSION_ID CODEX_TOOL_CALL_ID CODEX_CI CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_INTERNAL_X CODEX_MANAGED_BY_NPM CODEX_MANAGED_PACKAGE_ROOT CODE_BINARY_PATH CODER_MANAGED_BY_NPM GEMINI_CLI GEMINI_CLI_NO_RELAUNCH GEMINI_SESSION_ID GEMINI_PROJECT_DIR GEMINI_CWD GEMINI_PLANS_DIR QWEN_CODE QWEN_CODE_SESSION_ID QWEN_CODE_AGENT_ID QWEN_CODE_PROMPT_ID QWEN_CODE_PROJECT_DIR QWEN_CODE_LAUNCHER_PID QWEN_CODE_NO_RELAUNCH QWEN_CODE_PRIVATE_X QWEN_CODE_MANAGED_NPM_ROOT QWEN_CODE_STARTUP_VERSION OPENCODE OPENCODE_PID KILO KILO_PID KILO_RUN_ID KILO_PROCESS_ROLE COPILOT_CLI COPILOT_AGENT_SESSION_ID COPILOT_CLI_BINARY_VERSION COPILOT_LOADER_PID PI_SESSION_ID PI_SESSION_FILE PI_CODING_AGENT PI_MODEL PI_PROVIDER PI_REASONING_LEVEL GROK_AGENT GROK_SESSION_ID GROK_HOOK_X GROK_WORKSPACE_ROOT DROID_PARENT_SESSION_ID FACTORY_SESSION_X FACTORY_EXEC_TARGET_AUTONOMY FACTORY_PROJECT_DIR FACTORY_BACKGROUND_PID AUGMENT_CONVERSATION_ID AUGMENT_AGENT QODER_SESSION_ID QODER_CLI CURSOR_AGENT CURSOR_CONVERSATION_ID CURSOR_REQUEST_ID LETTA_AGENT_ID LETTA_CONVERSATION_ID LETTA_PARENT_AGENT_ID AMP_CURRENT_THREAD_ID AGENT_THREAD_ID CLAUDE_SESSION_ID'

/** What people configure their agents with. */
const CONFIGURATION =
  'CLAUDE_CONFIG_DIR CODEX_HOME CODE_HOME COPILOT_HOME GROK_HOME PI_CODING_AGENT_DIR KIMI_CODE_HOME GEMINI_CLI_HOME QWEN_HOME QWEN_RUNTIME_DIR CLINE_DIR CONTINUE_GLOBAL_DIR XDG_DATA_HOME ANTHROPIC_API_KEY ANTHROPIC_BASE_URL ANTHROPIC_MODEL OPENAI_API_KEY OPENAI_BASE_URL OPENAI_MODEL GEMINI_API_KEY GOOGLE_GEMINI_BASE_URL CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_MAX_OUTPUT_TOKENS CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC OPENCODE_DISABLE_AUTOUPDATE KILO_DISABLE_AUTOUPDATE KIMI_DISABLE_TELEMETRY GROK_DISABLE_AUTOUPDATER GOOSE_DISABLE_KEYRING GOOSE_PROVIDER GOOSE_MODEL GOOSE_MODE COPILOT_MODEL COPILOT_PROVIDER_API_KEY COPILOT_OFFLINE COPILOT_AUTO_UPDATE XAI_API_KEY FACTORY_API_KEY PI_OFFLINE GEMINI_CLI_TRUST_WORKSPACE OPENCODE_CONFIG PATH HOME EDITOR TMUX'

verifies('clean-env', "every session variable of every harness is found, and nothing of a person's configuration is", () => {
  const identities = IDENTITIES.split(' ')
  const configuration = CONFIGURATION.split(' ')
  expect(sessionVariables([...configuration, ...identities], SESSION_VARIABLES)).toEqual(identities)
})

test('the table has no name that this test does not know', () => {
  const unknown = SESSION_VARIABLES.filter((entry) => sessionVariables(IDENTITIES.split(' '), [entry]).length === 0)
  expect(unknown).toEqual([])
})
