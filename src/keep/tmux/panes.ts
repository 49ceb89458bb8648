import { existsSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { findProgram, sha256 } from '../../lib/index.ts'
import type {
  Environment,
  HostedKeeper,
  Launch,
  Pane,
  Panes,
  PaneTrouble,
  PaneView,
  Processes,
  ProcessId,
  RunRecords,
  ServerSetup,
} from '../../model/index.ts'
import { Problem, policy } from '../../model/index.ts'
import { PLAN_FD, writePlan } from '../keeper/keepers.ts'
import { quote } from '../keeper/shell.ts'
import { BECOME } from '../keeper/spawn-helper.ts'
import { appendIfPossible } from '../run-files/atomic.ts'
import { giveLimits, namespacesOf } from './pane-caller.ts'
import { makeGate, type PaneGate, SERVER_VARIABLES } from './pane-gate.ts'
import { run, type Said, tmux } from './tmux.ts'
import { leftoverAt, makePrivate, placeTrouble, removeLeftover, socketOf } from './tmux-place.ts'

export type PaneSetup = {
  readonly home: string
  readonly assets: string
  readonly runRecords: RunRecords
  readonly env: Environment
  readonly birth: (pid: number) => ProcessId | null
  readonly arguments: Processes['arguments']
  readonly send: Processes['send']
}

/** The tmux server of a home: started by whoever comes first, gone with its last pane. */
export function tmuxPanes(setup: PaneSetup): Panes {
  const uid = process.geteuid?.() ?? 0
  const ask = (pane: Pane, ...args: string[]): Promise<Said> => tmux(pane.socket, args, setup.env)
  const done = async (answer: Promise<Said>): Promise<boolean> => {
    const { code, stdout } = await answer
    return code === 0 && stdout !== OTHER
  }
  const isOpen = (pane: Pane): Promise<boolean> => done(ask(pane, 'has-session', '-t', `=${pane.name}`))
  return {
    socket: () => socketOf(setup.home, uid),
    trouble: () => troubleWith(socketOf(setup.home, uid), uid, setup.env),
    leftover: (now) => leftoverAt(socketOf(setup.home, uid), uid, now),
    removeLeftover: (now) => removeLeftover(socketOf(setup.home, uid), uid, now),
    version: async () => {
      const { code, stdout } = await run(['tmux', '-V'], setup.env)
      return code === 0 ? stdout.trim() : null
    },
    namespaces: async () => {
      const socket = socketOf(setup.home, uid)
      const { code, stdout, stderr, late } = await tmux(socket, ['display-message', '-p', '#{pid}'], setup.env)
      if (late || (code === 0 && !/^\d+$/m.test(stdout))) throw cannotHost(stderr || 'tmux does not say its pid', setup.home)
      const pid = Number(stdout)
      // A number is that of its own pid namespace.
      return code === 0 ? namespacesOf(setup.arguments(pid).includes(socket) ? pid : null) : null
    },
    isSwept: ({ socket }) => !existsSync(socket),
    restore: async (pane, server) => {
      makePrivate(pane.socket, uid)
      if (!setup.arguments(server.pid).includes(pane.socket) || setup.send(server, 'SIGUSR1') !== 'sent') return false
      for (const until = performance.now() + policy.tmuxMs; !existsSync(pane.socket); ) {
        if (performance.now() >= until) return false
        await new Promise((next) => setTimeout(next, policy.pollMinMs))
      }
      return true
    },
    spawn: async (launch, pane, server) => {
      makePrivate(pane.socket, uid)
      return spawnHosted(launch, pane, server, setup)
    },
    look: async (pane, keeper) =>
      sightsIn(await ask(pane, 'list-panes', '-a', '-F', FORMAT)).find(({ pid, isDead }) => pid === keeper && !isDead) ?? null,
    isOpen,
    capture: async (pane, { id, pid }, lines) => {
      const { code, stdout } = await ask(pane, ...ifStill(id, `#{==:#{pane_pid},${pid}}`, `capture-pane -p -S -${lines} -t ${id}`))
      return code === 0 && stdout !== OTHER ? stdout.replace(/\n+$/, '\n') : null
    },
    paste: (pane, sight, text) => {
      const buffer = `holdfast-${pane.name}`
      const both = ['load-buffer', '-b', buffer, '-', ';', ...typing(sight, `paste-buffer -p -d -b ${buffer} -t ${sight.id}`)]
      return done(tmux(pane.socket, both, setup.env, text))
    },
    press: (pane, sight, key) => done(ask(pane, ...typing(sight, `send-keys -t ${sight.id} ${key}`))),
    leaveMode: (pane, { id, pid }) => done(ask(pane, ...ifStill(id, `#{==:#{pane_pid},${pid}}`, `send-keys -t ${id} -X cancel`))),
    close: async (pane) => {
      await ask(pane, 'kill-session', '-t', `=${pane.name}`)
      return !(await isOpen(pane))
    },
    join: ({ socket, name }, run) => {
      const said = { hf_socket: socket, hf_name: name, hf_run: run, hf_home: setup.home }
      const lines = Object.entries(said).map(([variable, value]) => `${variable}=${quote(value)}`)
      writeSync(PLAN_FD, [...lines, `. ${quote(join(setup.assets, 'join.sh'))}`].join('\n'))
    },
    switch: (from, to) => switchClient(from, to, setup.env),
    alone,
  }
}

function troubleWith(socket: string, uid: number, env: Environment): PaneTrouble | null {
  const missing = ['tmux', 'mkfifo'].find((name) => findProgram(name, '.', env['PATH']) === null)
  if (missing !== undefined) return { why: `there is no ${missing} program on PATH`, hint: `install ${missing}, or leave --tmux out` }
  const why = placeTrouble(socket, uid)
  return why === null ? null : { why, hint: 'see who made that folder, or leave --tmux out' }
}

const WIDE = ['-x', '200', '-y', '50']
const FORMAT = '#{pane_id} #{pane_pid} #{pane_in_mode} #{?pane_dead,1,0} #{pid}'

/** Looked at and done in one, by the server itself: nothing comes in between. */
const OTHER = 'another\n'
const ifStill = (id: string, condition: string, command: string): string[] => [
  'if-shell',
  '-F',
  '-t',
  id,
  condition,
  command,
  `display-message -p ${OTHER.trim()}`,
]
const typing = ({ id, pid }: PaneView, command: string): string[] =>
  ifStill(id, `#{&&:#{==:#{pane_pid},${pid}},#{==:#{pane_in_mode}#{?pane_dead,1,0},00}}`, command)

async function spawnHosted(launch: Launch, pane: Pane, server: ServerSetup, setup: PaneSetup): Promise<HostedKeeper> {
  const plan = writePlan(launch, setup)
  const gate = makeGate(setup.runRecords.path(launch.run.id), setup.env)
  try {
    const shell = ['/bin/sh', join(setup.assets, 'pane.sh'), plan, gate.path, pane.socket]
    const marked = (marker: number | null, command: readonly string[]) => (marker === null ? command : ['prlimit', `--rttime=${marker}:`, ...command])
    const config = join(setup.assets, 'tmux.conf')
    const named = ['-P', '-F', FORMAT, '-s', pane.name, '-n', launch.run.session, ...WIDE]
    const client = ['tmux', '-u', '-S', pane.socket, '-f', config, 'new-session', '-d', ...named, ...marked(launch.run.marker, shell)]
    // It leaves the cgroup that it was born in before it becomes the client which may become the server.
    const command = ['/bin/sh', '-c', BECOME, 'sh', server.cgroup ?? '', ...marked(server.marker, client)]
    const hosted = await host(command, pane, setup)
    const keeper = await atGate(gate, hosted.pid, plan, setup)
    const lost = giveLimits(keeper.pid, setup.env)
    if (lost.length > 0) appendIfPossible(join(setup.runRecords.path(launch.run.id), 'log'), `${lessThanAsked(lost)}\n`)
    return {
      keeper,
      server: setup.birth(hosted.server),
      namespaces: namespacesOf(keeper.pid),
      open: () => gate.open(launch.environment),
      close: gate.close,
    }
  } catch (error) {
    gate.close()
    await tmux(pane.socket, ['kill-session', '-t', `=${pane.name}`], setup.env)
    throw error
  }
}

const lessThanAsked = (lost: readonly string[]): string =>
  `holdfast: its tmux server was started with less than its caller has, so it could not be given: ${lost.join(', ')}`

function cannotHost(why: string, home: string): Problem {
  const config = join(home, 'tmux.conf')
  return new Problem('pane-not-made', `tmux could not host it: ${why}`, {
    hint: existsSync(config)
      ? `its server reads ${config}: see whether that is why; or leave --tmux out`
      : 'see what its server is at, or leave --tmux out',
  })
}

/** A server that was just about to leave, with its last pane, may take a newcomer down with it: then the next one is asked. One that does not answer is not asked again. */
async function host(command: readonly string[], pane: Pane, setup: PaneSetup): Promise<Seen> {
  const env = Object.fromEntries([...SERVER_VARIABLES.map((name) => [name, setup.env[name]]), ['HOLDFAST_HOME', setup.home]]) as Environment
  for (let attempt = 1, until = performance.now() + policy.tmuxMs; ; attempt++) {
    const said = await run(command, env)
    if (said.late) throw cannotHost(said.stderr.replace(/^\S+/, 'its server'), setup.home)
    const shown = said.code === 0 ? said : await tmux(pane.socket, ['display-message', '-p', '-t', `=${pane.name}:`, FORMAT], setup.env)
    const [sight] = sightsIn(shown)
    if (sight !== undefined) return sight
    if (attempt === ATTEMPTS || performance.now() >= until) throw cannotHost(said.stderr || `exit ${said.code}`, setup.home)
    await new Promise((next) => setTimeout(next, policy.pollMaxMs * attempt))
  }
}
const ATTEMPTS = 5

/** The pane's process, once it holds the gate: looked at by its command line, between two looks at its birth. */
async function atGate(gate: PaneGate, pid: number, plan: string, { birth, arguments: argumentsOf, home }: PaneSetup): Promise<ProcessId> {
  const until = performance.now() + policy.launchMs
  for (let keeper = birth(pid); keeper !== null && performance.now() < until; ) {
    if (gate.isTaken()) {
      const isKeeper = argumentsOf(pid).includes(plan) && birth(pid)?.ticks === keeper.ticks
      if (isKeeper) return keeper
      break
    }
    await new Promise((next) => setTimeout(next, policy.pollMinMs))
    if (birth(pid)?.ticks !== keeper.ticks) keeper = null
  }
  throw cannotHost('the process of its pane did not come to the gate', home)
}

type Seen = PaneView & { readonly isDead: boolean; readonly server: number }

const sightsIn = ({ code, stdout }: Said): Seen[] =>
  code !== 0
    ? []
    : [...stdout.matchAll(/^(%\d+) (\d+) (\d+) ([01]) (\d+)$/gm)].map(([, id = '', pid, mode, dead, server]) => ({
        id,
        pid: Number(pid),
        inMode: mode !== '0',
        isDead: dead === '1',
        server: Number(server),
      }))

/** The client that was used last of those at `from` goes to `to`. */
async function switchClient(from: Pane, to: Pane, env: Environment): Promise<boolean> {
  const { stdout } = await tmux(from.socket, ['list-clients', '-t', `=${from.name}`, '-F', '#{client_activity} #{client_name}'], env)
  const newest = stdout.split('\n').filter(Boolean).toSorted().at(-1)
  const client = newest?.slice(newest.indexOf(' ') + 1)
  return client !== undefined && (await tmux(to.socket, ['switch-client', '-E', '-c', client, '-t', `=${to.name}`], env)).code === 0
}

/** A name that only one process can have at a time: the kernel frees it with its holder, however that ends. */
async function alone<T>(key: string, ms: number, body: () => Promise<T>): Promise<T | null> {
  const name = `\0holdfast-${sha256(key)}`
  const until = performance.now() + ms
  for (;;) {
    const held = await hold(name)
    if (held !== null) return body().finally(held)
    if (performance.now() >= until) return null
    await new Promise((next) => setTimeout(next, policy.pollMaxMs))
  }
}

const hold = (name: string): Promise<(() => void) | null> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(null) : reject(error)))
    server.listen(name, () => resolve(() => void server.close()))
  })
