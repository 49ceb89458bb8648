import { spawn, spawnSync } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram, openFile, readKernel, replaceFile } from '../../lib/index.ts'
import type { Containment, GatedKeeper, Keepers, Launch, ProcessId, RunRecords } from '../../model/index.ts'
import { bytesOf, policy } from '../../model/index.ts'
import { cgroupContainers } from '../cgroup/containers.ts'
import { ask } from '../harness/ask-harness.ts'
import { scopeCommand, scopeTrouble } from './scope.ts'
import { isShellName, quote } from './shell.ts'
import { runApart, runOutside } from './spawn-helper.ts'

/** The descriptor on which bin/holdfast waits for the path of its plan, or for what it shall become instead. */
export const PLAN_FD = 9

/** `assets`: the folder with the keeper's scripts and the bundled command. `birth`: who a child of ours is, read at once. */
export type KeeperSetup = { readonly assets: string; readonly runRecords: RunRecords; readonly birth: (pid: number) => ProcessId | null }

export function shellKeepers(setup: KeeperSetup): Keepers {
  return {
    markerTrouble,
    handOver: (launch) => void writeSync(PLAN_FD, writePlan(launch, setup)),
    outside: (args, env, marker, cgroup) => runOutside([process.execPath, join(setup.assets, 'cli.cjs'), ...args], env, marker, cgroup),
    apart: (args, how) => runApart([process.execPath, join(setup.assets, 'cli.cjs'), ...args], how),
    scopeTrouble,
    ask,
    spawn: (launch) => spawnGated(launch, setup),
    mark,
  }
}

/** Whoever waits for it can do nothing else meanwhile. */
const mark: Keepers['mark'] = (pid, marker) =>
  spawnSync('prlimit', ['--pid', String(pid), `--rttime=${marker ?? 'unlimited'}:`], {
    stdio: 'ignore',
    timeout: policy.markMs,
    killSignal: 'SIGKILL',
  }).status === 0

/** The marker is the soft limit; it needs the program and a hard limit that leaves room. */
function markerTrouble(): string | null {
  const hard = /^Max realtime timeout\s+\S+\s+(\S+)/m.exec(readKernel('/proc/self/limits', 'latin1') ?? '')?.[1]
  if (hard !== 'unlimited') return `the hard limit of RLIMIT_RTTIME is ${hard ?? 'unknown'}`
  return findProgram('prlimit', '.', process.env['PATH']) === null ? 'there is no prlimit program' : null
}

/** What tells the stub where to go: a cgroup to enter, or where to find the one that it was put into. */
const cgroupWord = (containment: Containment, mount: string | null): string =>
  containment.level === 'cgroup' ? containment.path : containment.level === 'scope' ? `:${containment.unit}:${mount ?? ''}` : ''

/** What a shell sources to become this run's keeper. */
export function writePlan(
  { run, stripped, added, helperMarker, timeoutSeconds, follow, stdin, umask, defaultSignals, cgroupMount }: Launch,
  { assets, runRecords }: Pick<KeeperSetup, 'assets' | 'runRecords'>,
): string {
  const unset = stripped.filter(isShellName)
  const lines = [
    `hf_run=${quote(run.id)} hf_dir=${quote(runRecords.path(run.id))} hf_keep=${quote(assets)}`,
    `hf_node=${quote(process.execPath)} hf_cli=${quote(join(assets, 'cli.cjs'))} hf_cd=${quote(run.dir)}`,
    `hf_umask=${umask.toString(8).padStart(4, '0')} hf_signals=${quote(defaultSignals.join(','))}`,
    `hf_cgroup=${quote(cgroupWord(run.containment, cgroupMount))} hf_systemd=${quote(run.containment.level === 'scope' ? scopeCommand(run.containment.unit).map(quote).join(' ') : '')}`,
    `hf_marker=${quote(run.marker === null ? '' : String(run.marker))} hf_helper=${quote(helperMarker === null ? '' : String(helperMarker))} hf_timeout=${quote(timeoutSeconds === null ? '' : String(timeoutSeconds))} hf_until=${run.until}`,
    `hf_follow=${quote(follow ?? '')} hf_stdin=${quote(stdin ?? '')}`,
    ...(unset.length > 0 ? [`unset ${unset.join(' ')}`] : []),
    ...Object.entries(added)
      .filter(([name]) => isShellName(name))
      .map(([name, value]) => `export ${name}=${quote(value)}`),
    `set -- ${run.argv.map(quote).join(' ')}`,
  ]
  const path = join(runRecords.path(run.id), 'plan')
  replaceFile(path, bytesOf(`${lines.join('\n')}\n`))
  return path
}

async function spawnGated(launch: Launch, setup: KeeperSetup): Promise<GatedKeeper> {
  const { run } = launch
  const plan = writePlan(launch, setup)
  const log = openFile(join(setup.runRecords.path(run.id), 'log'), 'append')
  const shell = ['/bin/sh', join(setup.assets, 'gate.sh'), plan]
  const [program, ...argv] = run.marker === null ? shell : ['prlimit', `--rttime=${run.marker}:`, ...shell]
  try {
    const child = spawn(program ?? '', argv, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log, 'pipe'],
      env: { ...launch.environment, ...launch.added },
    })
    // One that could not be started, for want of descriptors say, has no gate.
    if (child.pid === undefined) throw await failure(child)
    // Our own unreaped child: this pid cannot be anybody else's yet.
    const keeper = setup.birth(child.pid)
    const gate = child.stdio[3] as NodeJS.WritableStream & { destroy(): void }
    gate.on('error', () => {})
    if (keeper === null) throw await failure(child)
    if (launch.keeperCgroup !== null) cgroupContainers.admit(launch.keeperCgroup, keeper.pid)
    child.on('error', () => {})
    child.unref()
    ;(gate as unknown as { unref(): void }).unref()
    return {
      keeper,
      open: () => void gate.end('go\n'),
      close: () => gate.destroy(),
    }
  } finally {
    closeSync(log)
  }
}

const failure = (child: NodeJS.EventEmitter): Promise<Error> =>
  new Promise((resolve) => {
    child.once('error', resolve)
    child.once('exit', (code) => resolve(new Error(`the keeper ended at once (${code})`)))
  })
