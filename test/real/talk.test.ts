import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, type Lab, readOr, startOf, until } from './lab.ts'

/** A session that does what is put into its folder as a script, and answers with its output and exit code. */
async function worker(lab: Lab, session: string): Promise<(script: string) => Promise<{ out: string; code: number }>> {
  const dir = lab.newDir()
  const loop = `while :; do if [ -e do ]; then mv do doing; sh ./doing >out 2>&1; echo $? >code.new; mv code.new code; fi; sleep 0.02; done`
  await lab.ok(['run', '--session', session, '--dir', dir, '--detach', '--', 'sh', '-c', loop])
  return async (script) => {
    writeFileSync(join(dir, 'do.new'), script.replaceAll('holdfast ', `${COMMAND} `))
    renameSync(join(dir, 'do.new'), join(dir, 'do'))
    const code = await until(`${session} to answer`, () => {
      try {
        return readFileSync(join(dir, 'code'), 'utf8')
      } catch {
        return null
      }
    })
    rmSync(join(dir, 'code'))
    return { out: readFileSync(join(dir, 'out'), 'utf8'), code: Number(code) }
  }
}

/** The process of this lab, by pid and birth, that runs a command with these words and has the store open; null: none does. */
function lookingAt({ home }: Lab, ...words: readonly string[]): string | null {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (!readOr(`/proc/${pid}/cmdline`).includes(`\0${words.join('\0')}\0`)) continue
    try {
      const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      if (open.includes(join(home, 'holdfast.db'))) return `${pid} ${startOf(Number(pid))}`
    } catch {
      // It has just gone, or something of it.
    }
  }
  return null
}

type Told = { text: string; to: string; from: { session: string | null; how: string | null } }

verifies('self', 'a message has the sender that we know, not the one it claims to be; it is read once, and told to nobody who cannot read it', () =>
  inLab(async (lab) => {
    const [a, b] = [await worker(lab, 'a'), await worker(lab, 'b')]
    // The environment can say anything; the marker cannot be taken off.
    expect(await a('HOLDFAST_SESSION=b HOLDFAST_RUN=r000000000000 holdfast message b "it is me"')).toEqual({ out: 'sent to b\n', code: 0 })
    expect(await a('holdfast message --all "two\nlines"')).toEqual({ out: 'sent to b\n', code: 0 })
    await lab.ok(['message', 'b', 'from a person'])
    const peeked = JSON.parse((await b('holdfast inbox --peek --json')).out) as Told[]
    expect(peeked.map(({ text, to, from }) => [text, to, from.session])).toEqual([
      ['it is me', 'session', 'a'],
      ['two\nlines', 'all', 'a'],
      ['from a person', 'session', null],
    ])
    expect(peeked[0]?.from.how).toMatch(/^(marker|cookie)$/)
    // What cannot be handed over was not read.
    expect((await b('holdfast inbox >/dev/full')).code).toBe(69)
    expect((await b('holdfast inbox | true; exit 0')).code).toBe(0)
    // Two who read at once: each message goes to one of them.
    const { out } = await b('holdfast inbox --json >one & holdfast inbox --json >two; wait; cat one two')
    expect([...out.matchAll(/"text":/g)]).toHaveLength(3)
    expect((await b('holdfast inbox')).out).toBe('no messages\n')
    expect(await a('holdfast message a "to myself"')).toMatchObject({ code: 64 })
    for (const text of ["'- a list'", '-- -1', '-- --force']) expect(await a(`holdfast message b ${text}`)).toMatchObject({ code: 0 })
    expect((await b('holdfast inbox --json')).out).toMatch(/"- a list".*"-1".*"--force"/)
    expect((await b('holdfast inbox --wait --timeout 100ms')).code).toBe(75)
    // Waiting ends with the first one.
    const waiting = b('holdfast inbox --wait --timeout 20s')
    const waiter = await until('it to have looked', () => lookingAt(lab, 'inbox', '--wait'))
    // One that does not wait would be done before another, which starts after it, has answered.
    expect(await lab.ok(['inbox', '--session', 'b', '--peek'])).toBe('no messages\n')
    expect(lookingAt(lab, 'inbox', '--wait')).toBe(waiter)
    await lab.ok(['message', 'b', 'wake up'])
    expect((await waiting).out).toContain('wake up')
    expect(await lab.refused(['inbox', '--session', 'b'])).toMatchObject({ id: 'inbox-foreign', code: 64 })
    expect(await lab.refused(['message', 'nobody', 'x'])).toMatchObject({ id: 'session-unknown', code: 66 })
    await lab.ok(['stop', 'b', '--grace', '1s'])
    const late = await lab.refused(['message', 'b', 'too late'])
    expect(late).toMatchObject({ id: 'session-not-running', code: 66, message: expect.stringContaining('session b') as string })
  }),
)

verifies('self', 'nobody becomes somebody else by saying that a front stands in between', () =>
  inLab(async (lab) => {
    const a = await worker(lab, 'a')
    await lab.ok(['run', '--session', 'b', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
    const markerOf = (pid: number): string => /^Max realtime timeout +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? '-'
    const [mine, theirs] = [markerOf((await lab.status('a')).pid), markerOf((await lab.status('b')).pid)]
    expect(theirs).toMatch(/^\d{16}$/)
    const front = (made: string): string => `export HOLDFAST_FRONT="$$ ${made} 00000000-0000-0000-0000-000000000000 ${theirs} 0"`
    // As a parent of the command, and as the command itself; with no marker, and with one that it has.
    const asked = [
      `sh -c '${front('-')}; holdfast whoami --json; :'`,
      `sh -c '${front('-')}; exec holdfast --home "$HOLDFAST_HOME" whoami --json'`,
      `sh -c '${front(mine)}; "$HOLDFAST_NODE" ${resolve('dist/cli.cjs')} --home "$HOLDFAST_HOME" whoami --json; :'`,
      `sh -c '${front(mine)}; exec holdfast --home "$HOLDFAST_HOME" whoami --json'`,
    ]
    const script = asked.join('\n')
    const named = (out: string): unknown[] => [...out.matchAll(/"session": ?(null|"[^"]*")/g)].map(([, session]) => JSON.parse(session ?? ''))
    expect(named((await a(script)).out)).toEqual(asked.map(() => 'a'))
    const env = { ...lab.env, HOLDFAST_NODE: process.execPath }
    const outside = spawnSync('sh', ['-c', script.replaceAll('holdfast ', `${COMMAND} `)], { env, encoding: 'utf8' })
    expect(named(outside.stdout)).toEqual(asked.map(() => null))
    const run = await a(`sh -c '${front(mine)}; exec holdfast run --session inner --dir ${lab.newDir()} -- true'`)
    expect([run.code, run.out]).toEqual([64, expect.stringContaining('needs the holdfast command')])
  }),
)

verifies('self', 'what a session says of its own work is seen by the others, and only it speaks for itself', () =>
  inLab(async (lab) => {
    const a = await worker(lab, 'a')
    expect(await a('holdfast report "rewrite the parser"')).toMatchObject({ code: 0 })
    expect((await lab.hf(['report', 'I am nobody'])).code).toBe(66)
    await lab.ok(['message', 'a', 'hello'])
    expect(await lab.status('a')).toMatchObject({ said: { plan: { text: 'rewrite the parser' }, result: null }, unread: 1 })
    expect((await a('holdfast report ""')).code).toBe(64)
    const events = JSON.parse(await lab.ok(['events', 'a', '--json'])) as { kind: string; detail: { text?: string } }[]
    expect(events.filter(({ kind }) => kind === 'said').map(({ detail }) => detail.text)).toEqual(['rewrite the parser'])
  }),
)

verifies('visible', 'the next run of a session is told which messages were sent to the run before it', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'b', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
    const { run } = (await lab.status('b')) as unknown as { run: string }
    await lab.ok(['message', 'b', 'do not push'])
    await lab.ok(['stop', 'b'])
    const b = await worker(lab, 'b')
    await lab.ok(['message', 'b', 'push now'])
    expect(await lab.ok(['status', 'b'])).toMatch(/messages +2 unread, 1 of them sent to a run that is over/)
    const given = JSON.parse((await b('holdfast inbox --peek --json')).out) as (Told & { sentTo: { run: string; endedAt: string } | null })[]
    expect(given).toMatchObject([
      { text: 'do not push', sentTo: { run, endedAt: expect.stringMatching(/^20/) as string } },
      { text: 'push now', sentTo: null },
    ])
    expect((await b('holdfast inbox')).out).toMatch(
      new RegExp(`to the run before \\(${run}, ended .* ago\\), which did not read it\n +do not push\n`),
    )
    expect(await lab.status('b')).toMatchObject({ unread: 0, unreadEarlier: 0 })
  }),
)

verifies('one-owner', 'a retired agent says, reads, sends and asks for nothing any more, over MCP neither', () =>
  inLab(async (lab) => {
    const [a, b] = [await worker(lab, 'a'), await worker(lab, 'b')]
    await lab.ok(['message', 'a', 'for whoever comes next'])
    await a('touch "$HOLDFAST_FENCE"')
    for (const call of ['report x', 'message b x', 'inbox']) {
      const { code, out } = await a(`holdfast ${call}`)
      expect([call, code, out]).toEqual([call, 75, expect.stringContaining('session a, which this agent worked for, was retired')])
    }
    const calls = [
      { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } },
      { method: 'tools/call', params: { name: 'whoami', arguments: {} } },
      { method: 'tools/call', params: { name: 'lock', arguments: { dir: '/tmp' } } },
      { method: 'tools/call', params: { name: 'start_task', arguments: { command: ['true'] } } },
    ]
    const lines = calls.map((call, id) => `'${JSON.stringify({ jsonrpc: '2.0', id, ...call })}'`)
    const { out } = await a(`printf '%s\\n' ${lines.join(' ')} | holdfast mcp`)
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; result: { isError?: boolean } })
    const failed = answers.filter(({ result }) => result.isError === true).map(({ id }) => id)
    expect(failed.toSorted()).toEqual([2, 3])
    expect(await lab.status('a')).toMatchObject({ unread: 1, said: { plan: null } })
    expect((await b('holdfast inbox')).out).toBe('no messages\n')
  }),
)

verifies('one-owner', 'a session that many rebind at once has one id and all the others as aliases; its agent notices nothing', () =>
  inLab(async (lab) => {
    const a = await worker(lab, 'a')
    await worker(lab, 'other')
    const { pid } = await lab.status('a')
    const ids = Array.from({ length: 6 }, (_, index) => `n${index}`)
    const answers = await Promise.all(ids.map((id) => lab.hf(['rebind', '--session', 'a', '--to', id])))
    expect(answers.map(({ code }) => code)).toEqual(ids.map(() => 0))
    const own = (await a('holdfast whoami --json')).out
    const present = (JSON.parse(own) as { session: string }).session
    expect(ids).toContain(present)
    for (const reference of ['a', ...ids]) expect(await lab.status(reference)).toMatchObject({ session: present, pid })
    const listed = JSON.parse(await lab.ok(['siblings', '--session', 'other', '--json'])) as { session: string }[]
    expect(listed.map(({ session }) => session)).toEqual([present])
    const refused = await lab.hf(['rebind', '--session', 'a', '--to', 'other'])
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringMatching(/two owners of it; .* pid \d+ \(session other/)])
    const [record = ''] = readdirSync(join(lab.home, 'runs'))
      .map((run) => readOr(join(lab.home, 'runs', run, 'run.json')))
      .filter((text) => text.includes('"former"'))
    expect((JSON.parse(record) as { former: string[] }).former.toSorted()).toEqual(['a', ...ids].filter((id) => id !== present))
    // The same is on disk: without a store it is found and stopped by what it was called first.
    for (const name of readdirSync(lab.home)) if (name.startsWith('holdfast.db')) rmSync(join(lab.home, name))
    for (const reference of ['a', present]) expect(await lab.status(reference)).toMatchObject({ session: present, pid, state: 'running' })
    await lab.ok(['stop', 'a', '--grace', '1s'])
  }),
)

test('wrong input is told in a sentence, and changes nothing', () =>
  inLab(async (lab) => {
    for (const [args, code, id] of [
      [['rebind', '--session', 'a'], 64, 'option-missing'],
      [['rebind', '--to', 'b'], 66, 'caller-outside-session'],
      [['rebind', '--session', 'nobody', '--to', 'b'], 66, 'session-unknown'],
      [['message'], 64, 'arguments-wrong'],
      [['message', 'a'], 64, 'arguments-wrong'],
      [['message', '--all', '--here', 'x'], 64, 'arguments-wrong'],
      [['message', 'a', 'two', 'texts'], 64, 'arguments-wrong'],
      [['message', 'a', 'x'.repeat(9000)], 64, 'text-too-long'],
      [['inbox'], 66, 'caller-outside-session'],
      [['inbox', '--timeout', '1s'], 64, 'option-misplaced'],
      [['inbox', 'a'], 64, 'arguments-wrong'],
      [['siblings', '--session', 'nobody'], 66, 'session-unknown'],
      [['report'], 64, 'arguments-wrong'],
      [['whoami', 'x'], 64, 'arguments-wrong'],
    ] as const)
      expect(await lab.refused(args), args.join(' ').slice(0, 50)).toMatchObject({ code, id, message: expect.stringMatching(/\S/) as string })
    expect(await lab.ok(['message', '--all', 'x'])).toBe('nobody else is there: it was sent to nobody\n')
    const alone = await lab.hf(['whoami', '--json'])
    expect([alone.code, JSON.parse(alone.stdout)]).toEqual([66, expect.objectContaining({ session: null, how: null })])
  }))
