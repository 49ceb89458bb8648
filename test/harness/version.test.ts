import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { HOOKS, versionAt } from '../../src/harness/index.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-version-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
function lay(path: string, text = ''): string {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  return join(root, path)
}

test('the version of an agent is read where it lies, and nothing is executed', () => {
  const modules = 'nvm/versions/node/v22.1.0/lib/node_modules'
  lay(`${modules}/@openai/codex/package.json`, '{"version": "0.166.0"}')
  const script = lay(`${modules}/@openai/codex/bin/codex.js`)
  mkdirSync(join(root, 'nvm/versions/node/v22.1.0/bin'))
  const link = join(root, 'nvm/versions/node/v22.1.0/bin/codex')
  symlinkSync(script, link)
  const cases: readonly [path: string, version: string | null][] = [
    [link, '0.166.0'],
    [script, '0.166.0'],
    [lay('share/claude/versions/2.1.325'), '2.1.325'],
    [lay('Cellar/codex/0.46.0-beta.1/bin/codex'), '0.46.0-beta.1'],
    // Node's own version is not that of a script beside it, and a project is not an agent.
    [lay('nvm/versions/node/v22.1.0/bin/claude', 'exec holdfast run claude'), null],
    [lay('project/bin/claude', lay('project/package.json', '{"version": "9.9.9"}')), null],
    [join(root, 'nothing'), null],
  ]
  for (const [path, version] of cases) expect([path, versionAt(path)]).toEqual([path, version])
})

test('codex notes in its configuration which hooks a person trusted', () => {
  const home = join(root, 'codex')
  const path = join(home, 'hooks.json')
  const config = (...entries: readonly (readonly [path: string, event: string])[]): void => {
    const tables = entries.map(([file, event]) => `[hooks.state."${file}:${event}:0:0"]\nenabled = true\ntrusted_hash = "sha256:00"\n`)
    lay('codex/config.toml', `model = "x"\n\n[hooks.state]\n\n${tables.join('\n')}\n[tui]\n`)
  }
  const trusts = (): boolean | undefined => HOOKS['codex']?.trusts?.({ CODEX_HOME: home }, path, ['PreToolUse', 'Stop'])
  expect(trusts()).toBe(false)
  config([path, 'pre_tool_use'])
  expect(trusts()).toBe(false)
  config([path, 'pre_tool_use'], ['/elsewhere/hooks.json', 'stop'])
  expect(trusts()).toBe(false)
  config([path, 'pre_tool_use'], [path, 'stop'])
  expect(trusts()).toBe(true)
  lay('codex/config.toml', `[hooks.state."${path}:pre_tool_use:0:0"]\nenabled = false\n[hooks.state."${path}:stop:0:0"]\ntrusted_hash = "x"\n`)
  expect(trusts()).toBe(false)
})
