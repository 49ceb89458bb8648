import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Environment, HostedKeeper, Launch, Pane, PaneSight, Panes, ProcessId, RunFiles, ServerSetup } from '../model/index.ts'
import { policy } from '../model/index.ts'
import { findProgram, PLAN_FD, writePlan } from './keepers.ts'
import { makeGate, type PaneGate, SERVER_VARIABLES } from './pane-gate.ts'
import { quote } from './shell.ts'
import { run, type Said, tmux } from './tmux.ts'
import { makePrivate, socketOf } from './tmux-place.ts'

export type PaneSetup = {
  readonly home: string
  readonly assets: string
  readonly files: RunFiles
  readonly env: Environment
  readonly birth: (pid: number) => ProcessId | null
  readonly arguments: (pid: number) => readonly string[]
}

/** The tmux server of a home: started by whoever comes first, gone with its last pane. */
export function tmuxPanes(setup: PaneSetup): Panes {
  const uid = process.geteuid?.() ?? 0
  const ask = (pane: Pane, ...args: string[]): Promise<Said> => tmux(pane.socket, args, setup.env)
  const done = async (answer: Promise<Said>): Promise<boolean> => (await answer).code === 0
  return {
    socket: () => socketOf(setup.home, uid),
    trouble: () =>
      findProgram('tmux') === null ? 'there is no tmux program on PATH' : findProgram('mkfifo') === null ? 'there is no mkfifo program' : null,
    spawn: async (launch, pane, server) => {
      makePrivate(pane.socket, uid)
      return spawnHosted(launch, pane, server, setup)
    },
    look: async (pane) => sightIn(await ask(pane, 'display-message', '-p', '-t', `=${pane.name}:`, '#{pane_id} #{pane_pid} #{pane_in_mode}')),
    capture: async (pane, lines) => {
      const { code, stdout } = await ask(pane, 'capture-pane', '-p', '-S', `-${lines}`, '-t', `=${pane.name}:`)
      return code === 0 ? stdout.replace(/\n+$/, '\n') : null
    },
    paste: (pane, id, text) => {
      const buffer = `holdfast-${pane.name}`
      return done(tmux(pane.socket, ['load-buffer', '-b', buffer, '-', ';', 'paste-buffer', '-p', '-d', '-b', buffer, '-t', id], setup.env, text))
    },
    press: (pane, id, key) => done(ask(pane, 'send-keys', '-t', id, key)),
    leaveMode: (pane, id) => done(ask(pane, 'send-keys', '-t', id, '-X', 'cancel')),
    close: async (pane) => {
      await ask(pane, 'kill-session', '-t', `=${pane.name}`)
      return sightIn(await ask(pane, 'display-message', '-p', '-t', `=${pane.name}:`, '#{pane_id} #{pane_pid} #{pane_in_mode}')) === null
    },
    join: ({ socket, name }) =>
      void writeSync(PLAN_FD, `unset TMUX TMUX_PANE; exec tmux -S ${quote(socket)} attach-session -E -t ${quote(`=${name}`)}`),
    switch: (from, to) => switchClient(from, to, setup.env),
    alone,
  }
}

const WIDE = ['-x', '200', '-y', '50']
const FORMAT = '#{pane_id} #{pane_pid} #{pane_in_mode} #{pid}'

/** The shell leaves the cgroup that it was born in before it becomes the client which may become the server. */
const OUTSIDE = '[ -z "$1" ] || echo 0 2>/dev/null >"$1/cgroup.procs"; shift; exec "$@"'

async function spawnHosted(launch: Launch, pane: Pane, server: ServerSetup, setup: PaneSetup): Promise<HostedKeeper> {
  const plan = writePlan(launch, setup)
  const gate = makeGate(setup.files.path(launch.run.id))
  try {
    const shell = ['/bin/sh', join(setup.assets, 'pane.sh'), plan, gate.path, pane.socket]
    const marked = (marker: number | null, command: readonly string[]) => (marker === null ? command : ['prlimit', `--rttime=${marker}:`, ...command])
    const config = join(setup.assets, 'tmux.conf')
    const named = ['-P', '-F', FORMAT, '-s', pane.name, '-n', launch.run.session, ...WIDE]
    const client = ['tmux', '-u', '-S', pane.socket, '-f', config, 'new-session', '-d', ...named, ...marked(launch.run.marker, shell)]
    const command = ['/bin/sh', '-c', OUTSIDE, 'sh', server.cgroup ?? '', ...marked(server.marker, client)]
    const hosted = await host(command, pane, setup)
    const keeper = await atGate(gate, hosted.pid, plan, setup)
    return {
      keeper,
      server: hosted.server === null ? null : setup.birth(hosted.server),
      open: () => gate.open(launch.environment),
      close: gate.close,
    }
  } catch (error) {
    gate.close()
    await tmux(pane.socket, ['kill-session', '-t', `=${pane.name}`], setup.env)
    throw error
  }
}

/** A server that was just about to leave, with its last pane, may take a newcomer down with it: then the next one is asked. */
async function host(command: readonly string[], pane: Pane, setup: PaneSetup): Promise<{ pid: number; server: number | null }> {
  const env = Object.fromEntries([...SERVER_VARIABLES.map((name) => [name, setup.env[name]]), ['HOLDFAST_HOME', setup.home]]) as Environment
  for (let attempt = 1; ; attempt++) {
    const said = await run(command, env)
    const shown = said.code === 0 ? said : await tmux(pane.socket, ['display-message', '-p', '-t', `=${pane.name}:`, FORMAT], setup.env)
    const sight = sightIn(shown)
    if (sight !== null) return { pid: sight.pid, server: Number(/ (\d+)\n$/.exec(shown.stdout)?.[1] ?? 0) || null }
    if (attempt === ATTEMPTS) throw new Error(`tmux could not host it: ${said.stderr || `exit ${said.code}`}`)
    await new Promise((next) => setTimeout(next, policy.pollMaxMs * attempt))
  }
}
const ATTEMPTS = 5

/** The pane's process, once it holds the gate: looked at by its command line, between two looks at its birth. */
async function atGate(gate: PaneGate, pid: number, plan: string, { birth, arguments: argumentsOf }: PaneSetup): Promise<ProcessId> {
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
  throw new Error('the process of its pane did not come to the gate')
}

function sightIn({ code, stdout }: Said): PaneSight | null {
  const match = /^(%\d+) (\d+) ([01])/.exec(stdout)
  return code === 0 && match !== null ? { id: match[1] ?? '', pid: Number(match[2]), inMode: match[3] === '1' } : null
}

/** The client that was used last of those at `from` goes to `to`. */
async function switchClient(from: Pane, to: Pane, env: Environment): Promise<boolean> {
  const { stdout } = await tmux(from.socket, ['list-clients', '-t', `=${from.name}`, '-F', '#{client_activity} #{client_name}'], env)
  const newest = stdout.split('\n').filter(Boolean).toSorted().at(-1)
  const client = newest?.slice(newest.indexOf(' ') + 1)
  return client !== undefined && (await tmux(to.socket, ['switch-client', '-E', '-c', client, '-t', `=${to.name}`], env)).code === 0
}

/** A name that only one process can have at a time: the kernel frees it with its holder, however that ends. */
async function alone<T>(key: string, ms: number, body: () => Promise<T>): Promise<T | null> {
  const name = `\0holdfast-${createHash('sha256').update(key).digest('hex')}`
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
