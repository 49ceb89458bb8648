import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { baselineUsage, codexUsage, glanceUsage, readUsage, readUsageWhole, usageSince } from '../../src/harness/index.ts'
import type { LinesRule, UsageCursor, UsageLine, UsageRule } from '../../src/model/index.ts'
import { NO_TOKENS } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-usage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'session.jsonl')
const other = join(folder, 'agent.jsonl')
const noDatabase = () => null
const at = { env: {}, id: 'x' }

type Line = { readonly usage: number; readonly at: number; readonly key?: string; readonly cost?: number }
const rule: LinesRule = {
  kind: 'lines',
  files: () => [file, other],
  words: ['usage'],
  remembers: 2,
  read: (value): UsageLine | null => {
    const line = value as Line
    if (line.cost !== undefined) return { kind: 'cost', total: line.cost }
    return { kind: 'burned', key: line.key ?? null, tokens: { ...NO_TOKENS, input: line.usage }, at: line.at }
  },
}
const text = (line: Line): string => `${JSON.stringify(line)}\n`
const write = (...lines: readonly Line[]): void => appendFileSync(file, lines.map(text).join(''))

/** A cursor is kept as JSON between two looks. */
function look(cursor: UsageCursor | null, by: UsageRule = rule): { input: number; cost: number | null; cursor: UsageCursor; complete: boolean } {
  const seen = readUsage(by, at, cursor && JSON.parse(JSON.stringify(cursor)), noDatabase)
  if (seen === null) throw new Error('nothing to read')
  return { input: seen.tokens.input, cost: seen.tokens.cost, cursor: seen.cursor, complete: seen.complete }
}

beforeEach(() => {
  for (const path of [file, other]) rmSync(path, { force: true })
})

describe('lines', () => {
  verifies('unknown', 'without a file nothing is known; what comes later counts from its beginning', () => {
    expect(readUsage(rule, at, null, noDatabase)).toBeNull()
    const cursor = baselineUsage(rule, at, noDatabase, 0)
    expect(readUsage(rule, at, cursor, noDatabase)).toBeNull()
    write({ usage: 5, at: 1 })
    expect(look(cursor).input).toBe(5)
  })

  test('a half-written line is left for the next time', () => {
    const line = text({ usage: 5, at: 1 })
    appendFileSync(file, line.slice(0, 7))
    const { input, cursor } = look(null)
    expect(input).toBe(0)
    appendFileSync(file, line.slice(7))
    expect(look(cursor).input).toBe(5)
  })

  test('a key counts once with its highest numbers, also over looks, as long as it is remembered', () => {
    write({ usage: 1, at: 1, key: 'a' }, { usage: 7, at: 2, key: 'a' })
    const first = look(null)
    expect(first.input).toBe(7)
    write({ usage: 9, at: 3, key: 'a' }, { usage: 2, at: 4, key: 'a' })
    const second = look(first.cursor)
    expect(second.input).toBe(9)
    write({ usage: 1, at: 5, key: 'b' }, { usage: 1, at: 6, key: 'c' }, { usage: 9, at: 7, key: 'a' })
    expect(look(second.cursor).input).toBe(20)
  })

  test('all files count together, and one that is gone takes nothing back', () => {
    write({ usage: 5, at: 1 })
    writeFileSync(other, text({ usage: 30, at: 1 }))
    const first = look(null)
    expect(first.input).toBe(35)
    rmSync(other)
    write({ usage: 1, at: 2 })
    const second = look(first.cursor)
    expect(second.input).toBe(36)
    writeFileSync(other, text({ usage: 30, at: 1 }) + text({ usage: 4, at: 9 }))
    expect(look(second.cursor).input).toBe(40)
  })

  test('lines that make no sense say nothing', () => {
    appendFileSync(file, 'usage\n{"usage"\n\n\u0000\n[]\nnull usage\n')
    write({ usage: 5, at: 1 })
    expect(look(null).input).toBe(5)
  })

  test('the cost of the session counts from what it was at the beginning, and never falls', () => {
    write({ usage: 0, at: 1, cost: 2 })
    expect(look(null).cost).toBe(2)
    const cursor = baselineUsage(rule, at, noDatabase, 1)
    expect(look(cursor).cost).toBeNull()
    write({ usage: 0, at: 2, cost: 2.5 })
    const first = look(cursor)
    expect(first.cost).toBe(0.5)
    write({ usage: 0, at: 3, cost: 0.1 }, { usage: 0, at: 4, cost: 3 })
    expect(look(first.cursor).cost).toBe(1)
  })
})

describe('since the run began', () => {
  verifies('innocent', 'what a young file copies from an older one does not count', () => {
    write({ usage: 5000, at: 10 }, { usage: 10, at: 20 }, { usage: 3, at: 31 })
    expect(look(usageSince(rule, 30)).input).toBe(3)
  })

  test('what does not say when it was written is as old as its file; in an old one it counts from the first look on', () => {
    write({ usage: 5, at: 0 })
    expect(look(usageSince(rule, Date.now())).input).toBe(5)
    const first = look(usageSince(rule, Date.now() + 60_000))
    expect(first.input).toBe(0)
    write({ usage: 7, at: 0 })
    const second = look(first.cursor)
    expect(second.input).toBe(7)
    writeFileSync(file, text({ usage: 7, at: 0 }))
    expect(look(second.cursor).input).toBe(7)
  })
})

test('a fork of codex tells all that was told before again, as if it were new', () => {
  const line = (seconds: number, type: string, payload: object): string =>
    `${JSON.stringify({ timestamp: new Date(1_000_000 + seconds * 1000).toISOString(), type, payload })}\n`
  const burned = (seconds: number, input: number, total: number): string => {
    const info = { last_token_usage: { input_tokens: input }, total_token_usage: { input_tokens: total } }
    return line(seconds, 'event_msg', { type: 'token_count', info })
  }
  const day = join(folder, 'sessions', '2026', '01', '01')
  mkdirSync(day, { recursive: true })
  const head = line(0, 'session_meta', { id: 'b', forked_from_id: 'a' }) + line(0.1, 'session_meta', { id: 'a' })
  writeFileSync(join(day, 'rollout-x-b.jsonl'), head + burned(0.2, 5000, 5000) + burned(0.3, 10, 5010) + burned(9, 7, 5017))
  const read = readUsage(codexUsage, { env: { CODEX_HOME: folder }, id: 'b' }, usageSince(codexUsage, 900_000), noDatabase)
  expect(read?.tokens.input).toBe(7)
})

describe('a glance', () => {
  const looked: string[] = []
  const watched: LinesRule = {
    ...rule,
    files: (_env, _id, which) => {
      looked.push(which)
      return which === 'own' ? [file] : [file, other]
    },
  }
  const glance = (cursor: UsageCursor | null, by: UsageRule = watched): ReturnType<typeof glanceUsage> => glanceUsage(by, at, cursor, noDatabase)

  test('finds its file once, reads what is new in those that are known, and does not say that this is all', () => {
    looked.length = 0
    write({ usage: 5, at: 1 })
    writeFileSync(other, text({ usage: 30, at: 1 }))
    const first = glance(null)
    expect(first).toMatchObject({ tokens: { input: 5 }, complete: false })
    expect(glance(first?.cursor ?? null)?.cursor).toBe(first?.cursor)
    write({ usage: 1, at: 2 })
    const second = glance(first?.cursor ?? null)
    expect([second?.tokens.input, looked]).toEqual([6, ['own']])
    const all = readUsage(watched, at, second?.cursor ?? null, noDatabase)
    expect(all).toMatchObject({ tokens: { input: 36 }, complete: true })
    appendFileSync(other, text({ usage: 4, at: 3 }))
    expect(glance(all?.cursor ?? null)?.tokens.input).toBe(40)
    rmSync(file)
    expect(glance(all?.cursor ?? null)?.tokens.input).toBe(40)
  })

  verifies('bounded', 'reads a megabyte; who reads all goes on from there', () => {
    const line = `{"usage":1,"at":1,"x":"${'y'.repeat(99_000)}"}\n`
    writeFileSync(file, line.repeat(30))
    const first = glance(null)
    expect(first?.tokens.input).toBe(10)
    expect(readUsage(watched, at, first?.cursor ?? null, noDatabase)?.tokens.input).toBe(30)
  })

  test('at totals reads only what looks otherwise than before', () => {
    let reads = 0
    const document: UsageRule = { kind: 'document', files: () => [file], read: (value) => ({ ...NO_TOKENS, input: (value as Line).usage + reads++ }) }
    writeFileSync(file, '{"usage":5}')
    const first = glance(null, document)
    expect(glance(first?.cursor ?? null, document)?.cursor).toBe(first?.cursor)
    utimesSync(file, 1, 1)
    expect([glance(first?.cursor ?? null, document)?.tokens.input, reads]).toEqual([6, 2])
  })
})

describe('bounds', () => {
  const LINE = 8 * 1024 * 1024
  verifies('bounded', 'a line over the bound is passed over, however it is cut into looks; one below it is not', () => {
    const long = (bytes: number): string => `{"usage":3,"at":1,"x":"${'y'.repeat(bytes - 25)}"}\n`
    expect(long(LINE)).toHaveLength(LINE + 1)
    writeFileSync(file, long(LINE) + text({ usage: 5, at: 2 }))
    expect(look(null).input).toBe(8)
    writeFileSync(file, long(LINE + 1) + text({ usage: 5, at: 2 }))
    expect(look(null).input).toBe(5)
    writeFileSync(file, long(LINE + 1).slice(0, -10))
    const first = look(null)
    appendFileSync(file, long(LINE + 1).slice(-10) + text({ usage: 5, at: 2 }))
    expect(look(first.cursor).input).toBe(5)
  })

  verifies('bounded', 'what is too much for one call is read by the next', () => {
    const line = `{"usage":1,"at":1,"x":"${'y'.repeat(LINE / 8)}"}\n`
    for (let count = 0; count < 100; count += 1) appendFileSync(file, line)
    const first = look(null)
    expect(first).toMatchObject({ complete: false, input: 63 })
    expect(look(first.cursor)).toMatchObject({ complete: true, input: 100 })
    expect(readUsageWhole(rule, at, null, noDatabase)).toMatchObject({ complete: true, tokens: { input: 100 } })
  })

  test('no pipe, no folder, and nothing of the kernel is opened', () => {
    const links = ['/dev/zero', '/proc/self/status', folder].map((target, index) => {
      const link = join(folder, `link${index}`)
      symlinkSync(target, link)
      return link
    })
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [...links, pipe, '/dev/null', '/proc/self/status', folder]) {
      const only: LinesRule = { ...rule, files: () => [path] }
      expect(readUsage(only, at, null, noDatabase), path).toBeNull()
      const document: UsageRule = { kind: 'document', files: () => [path], read: () => NO_TOKENS }
      expect(readUsage(document, at, null, noDatabase), path).toBeNull()
    }
  })
})

describe('documents', () => {
  const document: UsageRule = { kind: 'document', files: () => [file], read: (value) => ({ ...NO_TOKENS, input: (value as Line).usage }) }
  const set = (usage: number): void => writeFileSync(file, JSON.stringify({ usage }))

  test('only what grows beyond the beginning counts; what falls takes nothing back', () => {
    set(100)
    const cursor = baselineUsage(document, at, noDatabase)
    set(130)
    const first = look(cursor, document)
    expect(first.input).toBe(30)
    set(20)
    const second = look(first.cursor, document)
    expect(second.input).toBe(30)
    set(140)
    expect(look(second.cursor, document).input).toBe(40)
  })

  test('a half-written document is unknown', () => {
    writeFileSync(file, '{"usage":')
    expect(readUsage(document, at, null, noDatabase)).toBeNull()
  })
})

describe('however a file grows', () => {
  const sizes = fc.array(
    fc.record({ usage: fc.nat(1000), key: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }), noise: fc.boolean() }),
    { maxLength: 30 },
  )
  const linesOf = (drawn: readonly { usage: number; key: string | undefined; noise: boolean }[]): string =>
    drawn
      .map(({ usage, key, noise }, index) => (noise ? `${'n'.repeat(usage % 90)}\n` : text({ usage, at: index + 1, ...(key && { key }) })))
      .join('')

  test('in pieces it gives what it gives at once', () => {
    fc.assert(
      fc.property(sizes, fc.array(fc.nat(200), { maxLength: 30 }), (drawn, cuts) => {
        const whole = linesOf(drawn)
        writeFileSync(file, whole)
        const atOnce = look(null)
        writeFileSync(file, '')
        let written = 0
        let seen = look(null)
        for (const cut of [...cuts, whole.length]) {
          appendFileSync(file, whole.slice(written, written + cut))
          written = Math.min(whole.length, written + cut)
          seen = look(seen.cursor)
        }
        expect(seen.input).toBe(atOnce.input)
        expect(seen.cursor).toEqual(atOnce.cursor)
      }),
      { numRuns: 150 },
    )
  })

  type Act =
    | { kind: 'append'; usage: number }
    | { kind: 'half'; usage: number }
    | { kind: 'cut'; percent: number }
    | { kind: 'rewrite' }
    | { kind: 'look' }
  const acts = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), usage: fc.integer({ min: 1, max: 1000 }) }) },
      fc.record({ kind: fc.constant('half' as const), usage: fc.integer({ min: 1, max: 1000 }) }),
      fc.record({ kind: fc.constant('cut' as const), percent: fc.integer({ min: 0, max: 100 }) }),
      fc.record({ kind: fc.constant('rewrite' as const) }),
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
    ),
    { maxLength: 40 },
  )

  /** Each line has its own time, so that it can be told apart: those that were whole at a look have counted, once. */
  test.each([false, true])('cut or replaced, each line counts once and nothing is taken back (with a baseline: %s)', (withBaseline) => {
    fc.assert(
      fc.property(acts, (drawn) => {
        const world = { text: text({ usage: 7, at: 1 }), clock: 2 }
        writeFileSync(file, world.text)
        let seen = withBaseline ? { input: 0, cursor: baselineUsage(rule, at, noDatabase, 1) } : { input: 7, cursor: look(null).cursor }
        const counts = new Map<number, number>([[1, withBaseline ? 0 : 7]])
        for (const act of [...drawn, { kind: 'look' } as const]) {
          change(world, act)
          if (act.kind !== 'look') continue
          for (const line of wholeLines(world.text)) if (!counts.has(line.at)) counts.set(line.at, line.usage)
          const next = look(seen.cursor)
          expect(next.input).toBeGreaterThanOrEqual(seen.input)
          expect(next.input).toBe([...counts.values()].reduce((sum, usage) => sum + usage, 0))
          seen = next
        }
      }),
      { numRuns: 300 },
    )
  })

  function change(world: { text: string; clock: number }, act: Act): void {
    if (act.kind === 'append' || act.kind === 'half') {
      const line = text({ usage: act.usage, at: world.clock })
      world.clock += 1
      const piece = act.kind === 'half' ? line.slice(0, 9) : line
      world.text += piece
      appendFileSync(file, piece)
    } else if (act.kind === 'cut') {
      world.text = world.text.slice(0, Math.floor((world.text.length * act.percent) / 100))
      truncateSync(file, world.text.length)
    } else if (act.kind === 'rewrite') {
      writeFileSync(`${file}.new`, world.text)
      renameSync(`${file}.new`, file)
    }
  }

  const wholeLines = (all: string): Line[] =>
    all
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as Line]
        } catch {
          return []
        }
      })
})
