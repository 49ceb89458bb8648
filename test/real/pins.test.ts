import { expect, test } from 'vitest'
import { NOBODY, UNMANAGED, WHO } from '../pins/caller-examples.ts'
import { DAEMON, NO_DAEMON } from '../pins/daemon-examples.ts'
import * as example from '../pins/examples.ts'
import { each, either, pinned } from '../pins/matcher.ts'
import { inHostedLab } from './hosted.ts'
import { AGENT, inLab, until } from './lab.ts'
import { obedient } from './obedient.ts'
import { pins, refuses } from './pin-lab.ts'
import { program, stranger } from './strangers.ts'

test('sessions: run -d, ls, status, siblings, tree, stop, wait, events', () =>
  inHostedLab(async (lab) => {
    const started = { session: 's', run: '<run>', epoch: 1, pid: '<pid>', dir: lab.dir, notes: [], retired: [] }
    const start = ['run', '-d', '--session', 's', '--name', 'web', '--dir', lab.dir]
    await pins(lab, 0, [...start, '--', AGENT, 'idle'], started)
    const dir = lab.newDir()
    const tmux = { socket: lab.socket, session: '<run>' }
    await pins(lab, 0, ['run', '-d', '--tmux', '--session', 't', '--dir', dir, '--', AGENT, 'idle'], { ...started, session: 't', dir, tmux })
    await lab.pid('main')
    await until(
      'both agents to be what they become',
      async () => (await lab.ok(['tree', 's'])).includes('sleep') && (await lab.ok(['tree', 't'])).includes('sleep'),
    )
    await pins(lab, 0, ['ls'], [example.HOSTED, example.LISTED])
    await pins(lab, 0, ['status', 's'], example.STATUS)
    await pins(lab, 0, ['siblings', '--session', 't'], [example.SIBLING])
    const member = { pid: '<pid>', parent: '<pid>', group: '<pid>', session: '<pid>', uid: '<count>', state: '<text>', name: 'sleep' }
    await pins(lab, 0, ['tree', 's'], {
      session: 's',
      run: '<run>',
      state: 'running',
      members: [{ ...member, proof: example.PROOF, ports: [] }],
      spared: [],
      suspects: [],
      tasks: [],
    })
    await pins(lab, 0, [...start, '--takeover', '--', AGENT, 'idle'], { ...started, epoch: 2, retired: [{ ...example.ENDED, state: 'superseded' }] })
    await pins(lab, 0, ['stop', 't'], [{ ...example.ENDED, session: 't' }])
    await pins(lab, 0, ['stop', 's'], [{ ...example.ENDED, ended: each({ pid: '<pid>', name: '<text>', proof: example.PROOF, ports: [] }) }])
    await pins(lab, 0, ['stop', 's'], [{ ...example.ENDED, result: 'not-running', ended: [] }])
    await pins(lab, 0, ['ls'], [])
    await pins(
      lab,
      0,
      ['ls', '--all'],
      [
        { ...example.STOPPED, epoch: 2 },
        { ...example.STOPPED, session: 't', name: null, tmux },
      ],
    )
    const exit = { code: 143, signal: 'SIGTERM' }
    await pins(lab, 143, ['wait', 's'], { session: 's', run: '<run>', state: 'stopped', exit, reason: 'stopped by <text>@<text>' })
    const event = { seq: '<count>', session: 's', run: '<run>', epoch: 1, at: '<iso>' }
    const claimed = { kind: 'claimed', detail: { pid: '<pid>', dir: lab.dir, argv: AGENT } }
    const running = { kind: 'running', detail: { keeper: '<pid>' } }
    const asked = (end: string) => ({ kind: 'asked', detail: { end, by: '<text>', reason: '<text>', graceMs: 10_000 } })
    const over = (state: string) => ({ kind: 'ended', detail: { state, exit, reason: '<text>', by: '<text>', pid: '<pid>' } })
    await pins(
      lab,
      0,
      ['events', 's'],
      [
        ...[claimed, running, asked('superseded'), over('superseded')].map((one) => ({ ...event, ...one })),
        ...[claimed, running, asked('stopped'), over('stopped')].map((one) => ({ ...event, epoch: 2, ...one })),
      ],
    )
  }))

test('locks: lock, lock --check, locks, unlock', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    await lab.pid('main')
    const free = lab.newDir()
    await pins(lab, 0, ['lock', free, '--ttl', '1h', '--reason', 'mine'], { ...example.HAND_HOLDER, dir: free, expiresAt: '<iso>' })
    await pins(
      lab,
      0,
      ['locks'],
      [
        { ...example.HAND_LOCK, dir: free, takenAs: free },
        { ...example.LOCK, dir: lab.dir, takenAs: lab.dir },
      ],
    )
    await pins(lab, 75, ['lock', '--check', lab.dir], {
      dir: lab.dir,
      state: 'held',
      own: false,
      why: '<text>',
      relation: 'same',
      worksIn: null,
      holder: example.LOCK_HOLDER,
    })
    await pins(lab, 0, ['unlock', free], [{ ...example.HAND_HOLDER, dir: free, broken: false }])
    await pins(lab, 0, ['lock', '--check', free], {
      dir: free,
      state: 'free',
      own: false,
      why: '<text>',
      relation: null,
      worksIn: null,
      holder: null,
    })
  }))

test('inside a session: whoami, task start, task ls, report, message, inbox', () =>
  inLab(async (lab) => {
    const agents = obedient(lab)
    await agents.begin('me', lab.dir)
    await agents.begin('you', lab.newDir())
    const says = async (words: readonly string[], wanted: unknown): Promise<void> => pinned(JSON.parse(await agents.inside('me', ...words)), wanted)
    await says(['whoami', '--json'], WHO)
    await pins(lab, 66, ['whoami'], NOBODY)
    await says(['task', 'start', '--json', '--', 'sleep', '1000'], {
      session: '<id>',
      run: '<run>',
      epoch: 1,
      pid: '<pid>',
      parent: '<run>',
      onRetire: 'cancel',
    })
    const task = {
      session: '<id>',
      run: '<run>',
      state: 'running',
      onRetire: 'cancel',
      argv: ['sleep', '1000'],
      startedAt: '<iso>',
      endedAt: null,
      exit: null,
      reason: null,
      usage: example.USAGE,
    }
    await pins(lab, 0, ['task', 'ls', 'me'], [{ ...task, parent: 'me' }])
    await says(['report', '--json', 'tests'], { session: 'me', text: 'tests' })
    await says(['message', '--json', 'you', 'hello'], { seq: '<count>', reached: ['you'], full: [], gone: [], notes: [] })
    const from = { session: 'me', run: '<run>', how: 'cookie', agent: null, user: '<text>', host: '<text>' }
    const message = { message: '<count>', at: '<iso>', expiresAt: '<iso>', from, to: 'session', text: 'hello', sentTo: null }
    await pins(lab, 0, ['inbox', '--peek', '--session', 'you'], [message])
  }))

test('ls --unmanaged: an agent that Holdfast did not start', () =>
  inLab(async (lab) => {
    const dir = lab.newDir()
    await stranger(dir, program(lab, 'claude'), ['1000'], async ({ pid }) => {
      // Other labs of this machine have agents too.
      const { stdout } = await lab.hf(['ls', '--unmanaged', '--json'])
      pinned(
        (JSON.parse(stdout) as { pid: number }[]).filter((one) => one.pid === pid),
        [{ ...UNMANAGED, dir }],
      )
      await refuses(lab, 75, ['run', '-d', '--session', 'u', '--dir', dir, '--', 'true'], {
        error: 'held',
        id: 'directory-in-use',
        unmanaged: [{ harness: 'claude', pid, nativeId: null, dir, since: '<iso>', launchers: [] }],
      })
    })
  }))

test('daemon start, status and stop', () =>
  inLab(async (lab) => {
    await pins(lab, 69, ['daemon', 'status'], NO_DAEMON)
    await pins(lab, 0, ['daemon', 'start'], { started: true, pid: '<pid>', version: '<version>', elsewhere: null, repaired: [] })
    await until('every part but prune to have had a round', async () => {
      const { parts } = JSON.parse(await lab.ok(['daemon', 'status', '--json'])) as { parts: { name: string; lastSuccess: string | null }[] }
      return parts.every(({ name, lastSuccess }) => name === 'prune' || lastSuccess !== null)
    })
    await pins(lab, 0, ['daemon', 'status'], DAEMON)
    await pins(lab, 0, ['daemon', 'start'], { started: false, pid: '<pid>', version: '<version>', elsewhere: null, repaired: [] })
    await pins(lab, 0, ['daemon', 'stop'], { stopped: true, pid: '<pid>', killed: false, repaired: [] })
    await pins(lab, 0, ['daemon', 'stop'], { stopped: false, pid: null, killed: false, repaired: [] })
    const event = { seq: '<count>', kind: 'daemon', session: '', run: '', epoch: 0, at: '<iso>' }
    await pins(
      lab,
      0,
      ['events'],
      [
        { ...event, detail: { what: 'started', pid: '<pid>', version: '<version>', by: 'start' } },
        { ...event, detail: { what: 'ended', pid: '<pid>', why: 'SIGTERM' } },
      ],
    )
  }))

test('version, doctor, reconcile and prune', () =>
  inLab(async (lab) => {
    await pins(lab, 0, ['version'], { version: '<version>', node: '<version>' })
    const { stdout, code } = await lab.hf(['doctor', '--json'])
    expect([0, 76]).toContain(code)
    const level = either('fine', 'note', 'trouble')
    pinned(JSON.parse(stdout), { findings: each({ topic: '<text>', level, what: '<text>', next: either(null, '<text>') }) })
    await pins(lab, 0, ['reconcile'], [])
    await pins(lab, 0, ['prune'], [])
  }))
