import { judgeService } from '../../decide/index.ts'
import { readServiceFile, removeServiceFile, writeServiceFile } from '../../keep/index.ts'
import { sha256 } from '../../lib/index.ts'
import type { HomesDaemon, ServiceFile, ServiceInstalled, ServiceRemoved, ServiceStatus } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { authorOf } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { type ServiceDaemon, serviceDaemon } from './service-daemon.ts'
import { type Systemd, userSystemd } from './service-systemd.ts'

const WITHOUT = 'holdfast daemon start runs the daemon without a service'

/** Has the daemon run at every login, and again when it fails. Nothing is written where nobody would read it. */
export async function installService(world: World, force: boolean, daemon: ServiceDaemon = serviceDaemon(world)): Promise<ServiceInstalled> {
  const systemd = userSystemd(world)
  await refuseUnreachable(systemd)
  const { name, path, text } = systemd
  const before = readServiceFile(path)
  refuseOthers(before, path, force, 'written over')
  const did = before === null ? 'installed' : before === text ? 'nothing' : 'updated'
  const { pid: managed } = await systemd.state()
  const running = seen(daemon)
  if (did !== 'nothing') writeServiceFile(path, text)
  await systemd.reload()
  // One home has one daemon: who was started by hand makes room for the service's. The sessions do not notice.
  const byHand = running !== null && running.process.pid !== managed ? running.process.pid : null
  if (byHand !== null) await daemon.stop()
  await orSayWhoWasStopped(byHand, () => systemd.start(did === 'updated' || (byHand !== null && managed !== null)))
  const pid = await untilHeld(world, systemd, daemon, byHand)
  return { name, path, did, replaced: byHand, pid, notes: await systemd.notes() }
}

/** Ends the service's daemon, and takes the file away. One that was started by hand goes on, and so do all sessions. */
export async function uninstallService(world: World, force: boolean, daemon: ServiceDaemon = serviceDaemon(world)): Promise<ServiceRemoved> {
  const systemd = userSystemd(world)
  const { name, path } = systemd
  const before = readServiceFile(path)
  const trouble = await systemd.trouble()
  if (trouble !== null && before === null) return { name, path, did: 'nothing', notes: [] }
  if (trouble !== null) throw unreachable(trouble, `when it can be, or remove ${path} by hand`)
  refuseOthers(before, path, force, 'removed')
  const { enabled, active } = await systemd.state()
  if (before !== null || enabled || active) await systemd.stop()
  removeServiceFile(path)
  if (before !== null) await systemd.reload()
  const left = daemon.look()
  const notes = typeof left === 'object' && left !== null ? [`the daemon that was started by hand goes on (pid ${left.process.pid})`] : []
  return { name, path, did: before === null && !enabled && !active ? 'nothing' : 'removed', notes }
}

export async function serviceStatus(world: World, daemon: ServiceDaemon = serviceDaemon(world)): Promise<ServiceStatus> {
  const systemd = userSystemd(world)
  const { name, path } = systemd
  const text = readServiceFile(path)
  const trouble = await systemd.trouble()
  const facts = { file: fileOf(text), unit: trouble === null ? await systemd.state() : null, daemon: daemon.look() }
  return { name, path, current: text === systemd.text, unreachable: trouble, ...facts, ...judgeService(facts) }
}

const fileOf = (text: string | null): ServiceFile => (text === null ? 'absent' : authorOf(text, sha256))

async function refuseUnreachable(systemd: Systemd): Promise<void> {
  const trouble = await systemd.trouble()
  if (trouble !== null) throw unreachable(trouble, WITHOUT)
}

const unreachable = (why: string, hint: string): Problem => new Problem('service-manager-unreachable', `nothing was changed: ${why}`, { hint })

function refuseOthers(text: string | null, path: string, force: boolean, done: string): void {
  const file = fileOf(text)
  if (force || file === 'absent' || file === 'ours') return
  const whose = file === 'edited' ? 'was edited since Holdfast wrote it' : 'was not written by Holdfast'
  throw new Problem('service-file-foreign', `${path} ${whose}, and was not ${done}`, {
    hint: '--force does it all the same; settings of your own belong in a drop-in',
  })
}

/** What cannot be told is not ended, and nothing is started beside it. */
function seen(daemon: ServiceDaemon): HomesDaemon | null {
  const found = daemon.look()
  if (typeof found !== 'string') return found
  throw new Problem('daemon-unproven', `nothing was changed: whether a daemon holds this home cannot be told: ${found}`, {
    hint: 'holdfast daemon status',
  })
}

/** The pid under which both know it: systemd runs it, and it holds the home. */
async function untilHeld(
  { clock, policy }: Pick<World, 'clock' | 'policy'>,
  systemd: Systemd,
  daemon: ServiceDaemon,
  byHand: number | null,
): Promise<number> {
  const until = clock.elapsed() + policy.settleMs
  for (;;) {
    const [{ pid, trouble, state }, holder] = [await systemd.state(), daemon.look()]
    if (pid !== null && typeof holder === 'object' && holder?.process.pid === pid) return pid
    if (trouble !== null || clock.elapsed() >= until)
      throw new Problem('service-not-up', `${systemd.name} was installed, but its daemon did not come up: ${trouble ?? state}${stopped(byHand)}`, {
        hint: `${systemd.look} says why${byHand === null ? '' : `; ${AS_BEFORE}`}`,
      })
    await clock.sleep(policy.pollMaxMs * 4)
  }
}

async function orSayWhoWasStopped(byHand: number | null, start: () => Promise<void>): Promise<void> {
  try {
    await start()
  } catch (error) {
    if (byHand === null || !(error instanceof Problem)) throw error
    throw new Problem(error.id, `${error.message}${stopped(byHand)}`, { hint: `${error.hint ?? ''}; ${AS_BEFORE}`, cause: error })
  }
}

const AS_BEFORE = 'holdfast service uninstall, then holdfast daemon start, is as it was before'
const stopped = (byHand: number | null): string => (byHand === null ? '' : `; the daemon that was started by hand (pid ${byHand}) was stopped for it`)
