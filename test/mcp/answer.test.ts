import { describe, expect, test } from 'vitest'
import type { World } from '../../src/app/index.ts'
import { worlds } from '../../src/app/index.ts'
import { answered, readOr } from '../../src/mcp/answer.ts'
import { Problem, policy } from '../../src/model/index.ts'

describe('what a tool answers', () => {
  test('its object, and the same as text', async () => {
    const answer = await answered(
      () => {},
      async () => ({ session: 's', pid: null }),
    )
    expect(answer).toEqual({ content: [{ type: 'text', text: '{"session":"s","pid":null}' }], structuredContent: { session: 's', pid: null } })
  })

  test('a refusal with what to do next, its code and who is in the way', async () => {
    const told: string[] = []
    const answer = await answered(
      (text) => told.push(text),
      async () => {
        throw new Problem('directory-held', '/w is held by pid 7', { hint: 'wait', detail: { holder: { pid: 7 } } })
      },
    )
    expect(answer).toEqual({
      isError: true,
      content: [{ type: 'text', text: '/w is held by pid 7\nwait' }],
      structuredContent: { error: 'held', id: 'directory-held', code: 75, message: '/w is held by pid 7', hint: 'wait', holder: { pid: 7 } },
    })
    expect(told).toEqual([])
  })

  test('a refusal tells an agent to talk, and not how to end whoever is in the way', async () => {
    const hints = ['holdfast stop a · --takeover to replace it', '--force takes it away all the same', 'holdfast siblings lists them']
    const said = await Promise.all(
      hints.map(async (hint) => {
        const { structuredContent } = await answered(
          () => {},
          async () => {
            throw new Problem('owner-alive', 'it is held', { hint })
          },
        )
        return (structuredContent as { hint: string }).hint
      }),
    )
    expect(said).toEqual([expect.stringContaining('ask whoever has it'), expect.stringContaining('ask whoever has it'), hints[2]])
  })

  test('a bug without its stack, which is told elsewhere', async () => {
    const told: string[] = []
    const answer = await answered(
      (text) => told.push(text),
      async () => {
        throw new TypeError('x is not a function')
      },
    )
    expect(answer).toMatchObject({
      isError: true,
      structuredContent: { error: 'bug', id: 'unexpected-error', code: 70, message: 'a bug in Holdfast: x is not a function' },
    })
    expect(JSON.stringify(answer)).not.toContain('answer.test.ts')
    expect(told).toEqual([expect.stringMatching(/^a bug: TypeError: x is not a function\n\s+at .*answer\.test\.ts/)])
  })

  test('of a resource, an error of the protocol', async () => {
    const read = (problem: Problem): Promise<unknown> =>
      readOr(
        'holdfast://events/x',
        () => {},
        async () => {
          throw problem
        },
      )
    await expect(read(new Problem('session-unknown', 'no such session: x', { hint: 'ls' }))).rejects.toMatchObject({
      code: -32602,
      message: 'no such session: x\nls',
    })
    await expect(read(new Problem('store-busy', 'the store is busy'))).rejects.toMatchObject({
      code: -32603,
      data: { error: 'unavailable', id: 'store-busy' },
    })
  })
})

describe('the world is opened anew for whoever looks', () => {
  test('together with those who look at the same time, and closed after the last', async () => {
    const log: string[] = []
    let serial = 0
    const lent = worlds(() => {
      const name = `world ${++serial}`
      log.push(`open ${name}`)
      return { home: name, close: () => log.push(`close ${name}`) } as unknown as World
    })
    const gate = { open: (): void => {} }
    const slow = lent.use(async ({ home }) => {
      await new Promise<void>((go) => {
        gate.open = go
      })
      return home
    })
    expect(await lent.use(async ({ home }) => home)).toBe('world 1')
    expect(lent.users()).toBe(1)
    gate.open()
    expect(await slow).toBe('world 1')
    await expect(
      lent.use(async () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(log).toEqual(['open world 1', 'close world 1', 'open world 2', 'close world 2'])
    expect(lent.users()).toBe(0)
  })

  test('one that overlapping calls keep open is not given to newcomers for ever, and its last user closes it', async () => {
    const log: string[] = []
    let now = 0
    let serial = 0
    const lent = worlds(
      () => {
        const name = `world ${++serial}`
        return { home: name, close: () => log.push(`close ${name}`) } as unknown as World
      },
      { elapsed: () => now },
    )
    const gates: (() => void)[] = []
    const slow = (): Promise<string> => lent.use(({ home }) => new Promise((go) => gates.push(() => go(home))))
    const first = slow()
    now = policy.worldMs - 1
    const second = slow()
    now = policy.worldMs
    const third = slow()
    expect(lent.users()).toBe(3)
    gates[0]?.()
    expect([await first, log]).toEqual(['world 1', []])
    gates[1]?.()
    expect([await second, log]).toEqual(['world 1', ['close world 1']])
    expect(await lent.use(async ({ home }) => home)).toBe('world 2')
    gates[2]?.()
    expect([await third, log, lent.users()]).toEqual(['world 2', ['close world 1', 'close world 2'], 0])
  })

  test('one that cannot be opened is tried again', async () => {
    let tries = 0
    const lent = worlds(() => {
      if (++tries === 1) throw new Problem('home-gone', 'no home')
      return { home: '/h', close: () => {} } as unknown as World
    })
    await expect(lent.use(async () => 1)).rejects.toThrow('no home')
    expect(await lent.use(async ({ home }) => home)).toBe('/h')
  })
})
