import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { Caller } from '../../src/app/caller/prove-caller.ts'
import { lostBecause } from '../../src/app/start/claim.ts'
import { preflight } from '../../src/app/start/preflight.ts'
import type { StartRequest } from '../../src/app/start/request.ts'
import { start } from '../../src/app/start/start.ts'
import { harnessNamed } from '../../src/harness/index.ts'
import type { Harness, LiveRun, Speech } from '../../src/model/index.ts'
import { LINEAGE_VARIABLE, MAX_LINEAGE, markerFrom, Problem } from '../../src/model/index.ts'
import { aClaim, aRun } from '../record/examples.ts'
import { verifies } from '../requirements.ts'
import { aRequest, outside, type Starting, starting } from '../sim/starting.ts'

/** A start of session s with --takeover, while s has a live owner in `dir`. */
type Case = Starting & { request: StartRequest; proven: Caller | null; readonly owner: LiveRun }
/** One change of the case, because of which the check of that name refuses. `touches`: rows that touch different things can be joined. */
type Row = { readonly name: string; readonly touches: string; readonly set: (one: Case) => void | Promise<void> }

const NATIVE = randomUUID()
const claude = harnessNamed('claude') as Harness

/** An agent like Claude Code, but for this. */
const agentWith = (speech: Partial<Speech>, more: Partial<Harness> = {}): Harness => ({
  ...claude,
  name: 'other',
  title: 'Other',
  commands: ['other'],
  ...more,
  speech: { ...claude.speech, ...speech },
})
/** Changes a case, or a part of it. */
const turn = <T extends object>(whole: T, to: Partial<T>): void => void Object.assign(whole, to)
const ask = (one: Case, more: Partial<StartRequest>): void => {
  turn<Case>(one, { request: { ...one.request, ...more } })
}
/** The request starts this agent, without a terminal. */
function asksFor(one: Case, harness: Harness | 'claude', more: Partial<StartRequest> = {}): void {
  if (harness !== 'claude') one.knobs.own = [harness]
  const name = harness === 'claude' ? harness : harness.name
  one.program(name)
  ask(one, { harness: name, argv: [], prompt: { file: one.file('say hello') }, ...more })
}
/** Another live session, which carries the conversation NATIVE. */
async function launchOther({ sim }: Case): Promise<LiveRun> {
  const run = aRun('t')
  await sim.store.claims.claim(aClaim(run, { keeper: { pid: 200, ticks: 2000 }, harness: 'claude', native: NATIVE }))
  return (await sim.store.runs.get(run.id)) as LiveRun
}

const rows: readonly Row[] = [
  { name: 'command-missing', touches: 'command', set: (one) => ask(one, { argv: [] }) },
  { name: 'session-id-invalid', touches: 'name', set: (one) => ask(one, { name: 'no name!' }) },
  { name: 'dir-empty', touches: 'place', set: (one) => ask(one, { dir: '' }) },
  { name: 'processes-hidden', touches: 'proc', set: ({ knobs }) => turn(knobs, { place: { ...knobs.place, pidNamespace: '' } }) },
  {
    name: 'tmux-unavailable',
    touches: 'tmux front',
    set(one) {
      ask(one, { tmux: true })
      one.knobs.tmuxTrouble = { why: 'there is no tmux', hint: 'install it' }
    },
  },
  {
    name: 'tmux-server-elsewhere',
    touches: 'tmux2 front',
    set(one) {
      ask(one, { tmux: true })
      one.knobs.namespaces = { net: 'other' }
    },
  },
  { name: 'front-missing', touches: 'front caller', set: (one) => ask(one, { detach: false }) },
  { name: 'nesting-too-deep', touches: 'caller', set: ({ env }) => turn(env, { [LINEAGE_VARIABLE]: Array(MAX_LINEAGE).fill('c').join(':') }) },
  { name: 'config-invalid', touches: 'config', set: ({ knobs }) => turn(knobs, { configTrouble: 'config.toml: a line is wrong' }) },
  { name: 'prompt-without-agent', touches: 'command prompt', set: (one) => ask(one, { prompt: { file: one.file('say hello') } }) },
  { name: 'agent-unknown', touches: 'command', set: (one) => ask(one, { harness: 'nonesuch' }) },
  { name: 'agent-not-installed', touches: 'command', set: (one) => ask(one, { harness: 'codex' }) },
  {
    name: 'conversation-missing',
    touches: 'command prompt',
    set: (one) => asksFor(one, agentWith({ preset: null }), { resume: { native: NATIVE, from: [] } }),
  },
  {
    name: 'resume-unsupported',
    touches: 'command prompt',
    set: (one) => asksFor(one, agentWith({ resume: null }, { sessions: null }), { resume: { native: NATIVE, from: [] } }),
  },
  { name: 'prompt-unreadable', touches: 'command prompt', set: (one) => asksFor(one, 'claude', { prompt: { file: join(one.dir, 'missing') } }) },
  {
    name: 'prompt-unfit',
    touches: 'command prompt',
    set: (one) =>
      asksFor(one, agentWith({ headless: { ...(claude.speech.headless as NonNullable<Speech['headless']>), prompt: 'argument' } }), {
        prompt: { file: one.file('a\0b') },
      }),
  },
  { name: 'prompt-unsupported', touches: 'command prompt', set: (one) => asksFor(one, agentWith({ headless: null })) },
  { name: 'budget-uncounted', touches: 'budget command', set: (one) => ask(one, { budget: 1000 }) },
  {
    name: 'run-record-unreadable',
    touches: 'runs',
    set({ sim, knobs }) {
      const run = 'r0123456789ab'
      mkdirSync(sim.runRecords.path(run))
      writeFileSync(join(sim.runRecords.path(run), 'run.json'), '{')
      turn(knobs, { unreadable: [run] })
    },
  },
  {
    name: 'name-taken',
    touches: 'name other',
    async set(one) {
      await launchOther(one)
      ask(one, { name: 't' })
    },
  },
  {
    name: 'parent-ending',
    touches: 'caller front other',
    async set(one) {
      const parent = await launchOther(one)
      one.proven = { ...outside, parent: { ...parent, state: 'stopping', intent: { end: 'stopped', by: 'ann', reason: 'asked' } } as LiveRun }
    },
  },
  {
    name: 'conversation-of-other-session',
    touches: 'command prompt other',
    async set(one) {
      await launchOther(one)
      asksFor(one, 'claude', { resume: { native: NATIVE, from: [] } })
    },
  },
  {
    name: 'conversations-named',
    touches: 'command other',
    async set(one) {
      await launchOther(one)
      ask(one, { argv: ['sh', '-c', `claude --resume ${NATIVE} & codex & wait`] })
    },
  },
  {
    name: 'current-directory-gone',
    touches: 'place',
    set(one) {
      ask(one, { dir: undefined })
      vi.spyOn(process, 'cwd').mockImplementation(() => {
        throw new Error('ENOENT')
      })
    },
  },
  { name: 'directory-unusable', touches: 'place', set: (one) => ask(one, { dir: join(one.dir, 'missing') }) },
  { name: 'repository-missing', touches: 'place worktree', set: (one) => ask(one, { worktree: '' }) },
  { name: 'branch-invalid', touches: 'place worktree', set: (one) => ask(one, { dir: one.repository, worktree: 'refs/heads/main' }) },
  {
    name: 'front-gone',
    touches: 'front caller',
    set(one) {
      ask(one, { detach: false })
      one.proven = { ...outside, front: { keeper: { pid: 1, ticks: 1 }, marker: null, cookie: 'c', outer: null, ignores: new Set() } }
    },
  },
  { name: 'agent-needs-terminal', touches: 'command prompt front', set: (one) => asksFor(one, 'claude', { prompt: undefined }) },
  {
    name: 'conversation-unknown',
    touches: 'command prompt',
    set: (one) => asksFor(one, agentWith({ preset: null }, { hooks: null }), { resume: { native: null, from: [] } }),
  },
  { name: 'program-missing', touches: 'command', set: (one) => ask(one, { argv: [join(one.dir, 'missing')] }) },
  {
    name: 'conversation-newest-in-use',
    touches: 'command prompt stranger',
    set(one) {
      one.stranger(['claude'], one.dir)
      asksFor(one, 'claude', { argv: ['--continue'], allowUnmanaged: true })
    },
  },
  {
    name: 'conversation-in-use',
    touches: 'command prompt',
    set(one) {
      one.stranger(['claude', '--resume', NATIVE], one.repository)
      asksFor(one, 'claude', { resume: { native: NATIVE, from: [] } })
    },
  },
  { name: 'agents-beside', touches: 'place stranger', set: (one) => void one.stranger(['claude'], one.dir) },
  {
    name: 'inside-owner',
    touches: 'caller front',
    set: (one) => turn<Case>(one, { proven: { ...outside, parent: one.owner, ancestors: [one.owner.id] } }),
  },
  {
    name: 'conversation-would-be-left',
    touches: 'command prompt other',
    async set({ sim, owner, conversation }) {
      conversation(NATIVE)
      await sim.store.conversations.bind(owner, { harness: 'claude', id: NATIVE }, { how: 'hook' }, 0)
    },
  },
]

/** Session s has a live owner, started by a simulated start. */
async function ownedCase(): Promise<Case> {
  const lab = await starting()
  await start(lab.world, aRequest(lab))
  const found = await lab.sim.store.sessions.find('s', 'exact')
  if (found.kind !== 'found' || found.view.run === null) throw new Error('the owner was not started')
  return { ...lab, request: aRequest(lab, { onLive: 'takeover' }), proven: null, owner: found.view.run as LiveRun }
}

/** The names of the checks that refuse, and of all that are asked, in order. */
function watched(): { readonly asked: string[]; readonly refused: string[] } {
  const seen = { asked: [] as string[], refused: [] as string[] }
  for (const check of preflight as readonly { name: string; check: (facts: never) => unknown }[]) {
    const real = check.check
    vi.spyOn(check, 'check').mockImplementation(async (facts) => {
      seen.asked.push(check.name)
      const problem = await real(facts)
      if (problem !== null) seen.refused.push(check.name)
      return problem
    })
  }
  return seen
}

const tried = (one: Case): Promise<unknown> =>
  start(one.world, one.request, undefined, one.proven).then(
    () => null,
    (error: unknown) => error,
  )

/** Everything that a refused start must leave as it was. */
const traces = async ({ sim, owner, worktreesFolder, worktrees }: Case) => ({
  sent: sim.sent.length,
  fenced: sim.fences.isRetired(owner.id),
  sessions: await sim.store.sessions.snapshot('all', 100),
  locks: (await sim.store.locks.all([], null)).locks,
  runs: sim.runRecords.list(),
  processes: sim.processes.table({ since: 0, cookies: false }).rows.map(({ pid }) => pid),
  worktrees: [...worktrees, ...worktreesFolder()],
})

afterEach(() => vi.restoreAllMocks())

test('the checks of a start, in their order', () => {
  expect(preflight.map(({ name, when, again }) => [name, ...when, ...(again === undefined ? [] : [`transaction: ${again}`])].join(' '))).toEqual([
    'command-missing request',
    'session-id-invalid request',
    'dir-empty request',
    'processes-hidden request',
    'tmux-unavailable caller',
    'tmux-server-elsewhere caller',
    'front-missing caller',
    'nesting-too-deep caller',
    'config-invalid command',
    'prompt-without-agent command',
    'agent-unknown command',
    'agent-not-installed command',
    'conversation-missing command',
    'resume-unsupported command',
    'prompt-unreadable command',
    'prompt-unfit command',
    'prompt-unsupported command',
    'budget-uncounted command',
    'run-record-unreadable session',
    'name-taken session transaction: name',
    'parent-ending session transaction: parent',
    'conversation-of-other-session session transaction: native',
    'conversations-named session',
    'current-directory-gone place',
    'directory-unusable place',
    'repository-missing place',
    'branch-invalid place',
    'front-gone step',
    'agent-needs-terminal retire settle claim',
    'conversation-unknown retire settle claim',
    'program-missing retire',
    'conversation-newest-in-use retire settle claim',
    'conversation-in-use retire settle claim',
    'agents-beside retire settle claim',
    'inside-owner retire',
    'conversation-would-be-left retire settle claim',
  ])
  expect(rows.map(({ name }) => name)).toEqual(preflight.map(({ name }) => name))
})

test('each stage is asked once, the look before the owner is ended and again before the claim', async () => {
  const one = await ownedCase()
  const { asked, refused } = watched()
  await expect(start(one.world, one.request)).resolves.toMatchObject({ kind: 'running', retired: [{ kind: 'ended' }] })
  const at = (...moments: string[]): string[] => preflight.filter(({ when }) => when.some((one) => moments.includes(one))).map(({ name }) => name)
  const prepared = at('request', 'caller', 'command', 'session', 'place')
  expect(asked).toEqual([...prepared, ...at('step'), ...at('retire'), ...at('step'), ...at('claim')])
  expect(refused).toEqual([])
  expect(one.sim.sent.length).toBeGreaterThan(0)
})

/** The id of the problem, where that is not the name of the check. */
const IDS: Readonly<Record<string, string>> = {
  'dir-empty': 'option-value-missing',
  'processes-hidden': 'pid-namespace-foreign',
  'prompt-without-agent': 'prompt-unsupported',
  'prompt-unfit': 'prompt-not-text',
  'budget-uncounted': 'budget-unsupported',
  'conversation-of-other-session': 'conversation-owned',
  'conversations-named': 'conversation-owned',
  'current-directory-gone': 'directory-missing',
  'directory-unusable': 'directory-missing',
  'agents-beside': 'directory-in-use',
  'inside-owner': 'owner-around-caller',
  'conversation-unknown': 'takeover-without-conversation',
}

for (const { name, set } of rows)
  verifies('one-owner', `${name} refuses, and the live owner is left alone in spite of --takeover`, async () => {
    const one = await ownedCase()
    await set(one)
    const before = await traces(one)
    const { refused } = watched()
    expect(await tried(one)).toMatchObject({ id: IDS[name] ?? name })
    expect(refused).toEqual([name])
    expect(await traces(one)).toEqual(before)
    expect(before).toMatchObject({ sent: 0, fenced: false, worktrees: [] })
  })

const areApart = (one: Row, other: Row): boolean => !one.touches.split(' ').some((word) => other.touches.split(' ').includes(word))
/** Each row with the next one that can be joined with it, and with the last such one. */
const pairs = rows.flatMap((first, index) => {
  const later = rows.slice(index + 1).filter((row) => areApart(first, row))
  return [...new Set([later[0], later.at(-1)])].flatMap((second) => (second === undefined ? [] : [[first, second] as const]))
})

test.each(pairs.map(([first, second]) => [first.name, second.name, first, second] as const))(
  '%s is told before %s',
  async (name, _, first, second) => {
    const one = await ownedCase()
    await second.set(one)
    await first.set(one)
    const before = await traces(one)
    const { refused } = watched()
    expect(await tried(one)).toBeInstanceOf(Problem)
    expect(refused).toEqual([name])
    expect(await traces(one)).toEqual(before)
  },
)

test('the transaction of the claim answers in the words of the checks that it asks again', () => {
  expect(preflight.flatMap(({ again }) => again ?? [])).toEqual(['name', 'parent', 'native'])
  expect(Object.keys(lostBecause)).toEqual(expect.arrayContaining(['name', 'parent', 'native', 'adopted']))
})

verifies('one-owner', 'a worktree is made after all checks, and before the owner is ended', async () => {
  const one = await ownedCase()
  ask(one, { dir: one.repository, worktree: 'topic' })
  const sentAtMaking: number[] = []
  const { add } = one.world.worktrees
  vi.spyOn(one.world.worktrees, 'add').mockImplementation(async (request) => {
    sentAtMaking.push(one.sim.sent.length)
    return add(request)
  })
  const started = await start(one.world, one.request)
  expect(started).toMatchObject({ kind: 'running', run: { dir: one.worktrees[0] }, retired: [{ kind: 'ended' }] })
  expect(sentAtMaking).toEqual([0])
})

verifies('one-owner', 'no worktree is made while a live owner refuses the start', async () => {
  const one = await ownedCase()
  ask(one, { dir: one.repository, worktree: 'topic', onLive: 'refuse' })
  expect(await tried(one)).toMatchObject({ kind: 'held' })
  expect(one.worktrees).toEqual([])
})

verifies('one-owner', 'where git makes no worktree, no owner is ended', async () => {
  const one = await ownedCase()
  ask(one, { dir: one.repository, worktree: 'topic' })
  vi.spyOn(one.world.worktrees, 'add').mockResolvedValue('the branch is checked out elsewhere')
  const before = await traces(one)
  expect(await tried(one)).toMatchObject({ message: expect.stringContaining('the branch is checked out elsewhere') })
  const { locks: _, ...after } = await traces(one)
  expect(before).toMatchObject(after)
})

verifies('one-owner', 'processes that an earlier run left are not ended for a start that is refused', async () => {
  const one = await ownedCase()
  const { keeper, id, marker, cookie } = one.owner
  const agent = one.sim.harnesses.get(id)
  one.sim.remove(agent?.pid ?? 0)
  one.sim.remove(keeper?.pid ?? 0)
  one.sim.exits.set(id, { exit: { code: 0, signal: null }, told: null, at: one.sim.clock.now() })
  const left = one.sim.add({ pid: 5000, marker, cookie })
  const stranger = one.stranger(['claude'], one.dir)
  const { refused } = watched()
  expect(await tried(one)).toMatchObject({ kind: 'held' })
  expect(refused).toEqual(['agents-beside'])
  expect(one.sim.sent).toEqual([])
  // Without the stranger they are.
  one.sim.remove(stranger.pid)
  expect(await tried(one)).toBeNull()
  expect(one.sim.sent).toContainEqual({ pid: left.pid, signal: 'SIGTERM' })
})

verifies('bounded', 'the caller is proven once for a start', async () => {
  const lab = await starting()
  const marker = markerFrom(7, 'run')
  lab.sim.add({ pid: process.ppid })
  lab.env['HOLDFAST_FRONT'] = `${process.ppid} ${marker} ${randomUUID()} - 0`
  vi.spyOn(lab.world.processes, 'marker').mockReturnValue(marker)
  const reads = vi.spyOn(lab.sim.store.runs, 'withMarker')
  await expect(start(lab.world, aRequest(lab))).resolves.toMatchObject({ kind: 'running' })
  expect(reads.mock.calls).toEqual([[marker]])
})

verifies('one-owner', 'an owner that is about to be replaced is not in the way of the newest conversation', async () => {
  const lab = await starting()
  lab.program('claude')
  const request = aRequest(lab, { harness: 'claude', argv: [], prompt: { file: lab.file('say hello') } })
  await start(lab.world, request)
  const { refused } = watched()
  const started = await start(lab.world, { ...request, argv: ['--continue'], onLive: 'takeover' })
  expect(started).toMatchObject({ kind: 'running', retired: [{ kind: 'ended' }] })
  expect(refused).toEqual([])
})

const fills: Readonly<Record<string, readonly string[]>> = { kimi: ['--model', 'm'], droid: ['--auto', 'low'] }
test.each([
  ['claude', true, true, null],
  ['grok', true, true, null],
  ['goose', true, true, null],
  ['kimi', true, true, null],
  ['droid', true, true, null],
  ['opencode', true, true, null],
  ['cline', true, true, 'budget-unsupported'],
  ['cn', true, true, 'budget-unsupported'],
  // With a terminal, nobody can tell for certain which conversation it carries.
  ['goose', false, false, 'budget-conversation-unknown'],
  ['kimi', false, false, 'budget-conversation-unknown'],
  ['opencode', false, false, 'budget-conversation-unknown'],
] as const)('--budget of %s with a prompt file %s, detached %s: %s', async (name, withPrompt, detach, refused) => {
  const lab = await starting()
  lab.program(name)
  const request = aRequest(lab, {
    harness: name,
    argv: fills[name] ?? [],
    budget: 1000,
    detach,
    ...(withPrompt ? { prompt: { file: lab.file('say hello') } } : { tmux: true }),
  })
  const answer = await start(lab.world, request).then(
    () => null,
    (error: unknown) => (error as Problem).id,
  )
  expect(answer).toBe(refused)
})

test.each([
  ['goose', null],
  ['kilo', null],
  ['opencode', null],
  ['pi', null],
  // Its cost is known only when a turn is over.
  ['claude', 'budget-unsupported'],
  ['codex', 'budget-unsupported'],
  ['kimi', 'budget-unsupported'],
  ['droid', 'budget-unsupported'],
  ['cline', 'budget-unsupported'],
] as const)('--budget of %s in dollars: %s', async (name, refused) => {
  const lab = await starting()
  lab.program(name)
  const prompt = { file: lab.file('say hello') }
  const request = aRequest(lab, { harness: name, argv: fills[name] ?? [], budgetCost: 2, detach: true, prompt })
  const answer = await start(lab.world, request).then(
    () => null,
    (error: unknown) => error as Problem,
  )
  expect(answer?.id ?? null).toBe(refused)
  const runs = lab.sim.runRecords.list()
  expect(runs).toHaveLength(refused === null ? 1 : 0)
  for (const run of runs) expect(lab.sim.runRecords.read(run)).toMatchObject({ budget: null, budgetCost: 2 })
})

test('a budget in dollars is refused in one sentence, with the way out', async () => {
  const lab = await starting()
  lab.program('codex')
  const request = aRequest(lab, { harness: 'codex', argv: [], budgetCost: 2, detach: true, prompt: { file: lab.file('say hello') } })
  await expect(start(lab.world, request)).rejects.toMatchObject({
    message: '--budget in dollars needs an agent that writes down its cost while it works; Codex does not',
    hint: 'a number of tokens limits it too: --budget 500k',
  })
})
