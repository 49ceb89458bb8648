import { describe, expect, test } from 'vitest'
import { commandOf, commandsOf } from '../../src/harness/index.ts'
import { namedSession } from '../../src/model/index.ts'

const ID = '0198c2f4-1b2c-7d3e-8f40-0123456789ab'
const OTHER = '11111111-2222-4333-8444-555555555555'
/** The conversations that a command line names. */
const named = (...argv: readonly string[]): string[] => commandsOf(argv).map(({ harness, args }) => `${harness.name} ${namedSession(harness, args)}`)
const split = (line: string): string[] => line.replaceAll('ID', ID).split(' ')

describe('an agent behind what only prepares it', () => {
  test.each<[string, string]>([
    ['timeout -k 5 60 claude --resume ID', 'claude'],
    ['env -u A B=1 nice -n 5 ionice -c 3 claude --resume ID', 'claude'],
    ['sudo -E -u dev env A=1 codex resume ID', 'codex'],
    ['npx claude --resume ID', 'claude'],
    ['npx --yes @anthropic-ai/claude-code@latest --resume ID', 'claude'],
    ['npx -y -p @openai/codex codex resume ID', 'codex'],
    ['npm exec -- @openai/codex resume ID', 'codex'],
    ['pnpm dlx @google/gemini-cli@0.61 --resume ID', 'gemini'],
    ['bunx @just-every/code resume ID', 'code'],
    ['bun x opencode-ai --session ses_1', 'opencode'],
    ['uvx --from claude-cli claude --resume ID', 'claude'],
    ['uv tool run claude --resume ID', 'claude'],
    ['node --no-warnings /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js --resume ID', 'claude'],
    ['flock -n /tmp/l claude --resume ID', 'claude'],
    ['systemd-run --user -p A=1 --scope claude --resume ID', 'claude'],
    ['env -S claude --resume ID', 'claude'],
    ['mise exec -- claude --resume ID', 'claude'],
  ])('%s', (line, name) => {
    const program = commandOf(split(line))
    expect(program?.harness.name).toBe(name)
    expect(program === null ? null : namedSession(program.harness, program.args)).toBe(name === 'opencode' ? 'ses_1' : ID)
  })
})

describe('an agent in a script on the command line', () => {
  test.each([
    `exec claude --resume ${ID}`,
    `claude --resume "${ID}"`,
    `claude --resume='${ID}' </dev/null >log 2>&1`,
    `cd /w && FOO='a b' exec claude -r ${ID} -p 'say; hello' | tee log`,
    `if true; then claude --resume ${ID}; fi`,
    `# before\n\ttimeout 60 \\\n  claude --resume ${ID} # after`,
    `(cd x; nohup claude --resume ${ID} &)`,
    `out=$(claude -p --resume ${ID})`,
    `eval "claude --resume ${ID}"`,
    `bash -c 'exec claude --resume ${ID}'`,
    `! 2>err claude --resume ${ID}`,
    `echo claude --resume ${OTHER}; claude --resume ${ID}`,
  ])('%s', (script) => {
    expect(named('sh', '-c', script)).toEqual([`claude ${ID}`])
    expect(named('timeout', '60', 'bash', '-o', 'pipefail', '-lc', script)).toEqual([`claude ${ID}`])
  })

  test('its arguments are put in', () => {
    expect(named('sh', '-c', 'exec "$@"', 'sh', 'claude', '--resume', ID)).toEqual([`claude ${ID}`])
    expect(named('sh', '-c', 'claude --resume $1', 'sh', ID)).toEqual([`claude ${ID}`])
    expect(named('sh', '-c', 'claude --resume ${2}', 'sh', 'x', ID)).toEqual([`claude ${ID}`])
  })

  test('several are several, and none of them is the one', () => {
    const argv = ['sh', '-c', `claude --resume ${ID} & codex resume ${OTHER}; wait`]
    expect(named(...argv)).toEqual([`claude ${ID}`, `codex ${OTHER}`])
    expect(commandOf(argv)).toBeNull()
  })

  test.each([
    `echo claude --resume ${ID}`,
    `grep 'claude --resume ${ID}' log`,
    `# claude --resume ${ID}`,
    `echo "$(date)" 'claude' --resume ${ID}`,
    `"claude --resume ${ID}"`,
    'claude',
    `claude --resume $ID`,
    "claude --resume '",
    '',
  ])('%s names no conversation', (script) => expect(named('sh', '-c', script).filter((one) => !one.endsWith(' null'))).toEqual([]))

  test('wrappers in wrappers have an end', () => {
    const deep = Array.from({ length: 40 }, () => 'nice')
    expect(commandsOf([...deep, 'claude'])).toEqual([])
    expect(commandsOf(['sh', '-c', 'claude;'.repeat(10_000)]).length).toBeLessThanOrEqual(64)
  })
})
