import type { WorkerPresence } from '../../decide/index.ts'
import { isDead } from '../../model/index.ts'
import { daemonStatus } from '../daemon/control.ts'
import type { World } from '../world/world.ts'

/** The part of the daemon that works on requests. */
const PART = 'work'

/** Is there anybody who works on requests of this home? It is only told to people: nothing rests on it. */
export async function workerPresence(world: World): Promise<WorkerPresence> {
  const { presence, health } = await daemonStatus(world)
  const foreground = foregroundWorker(world)
  const part = health?.parts.find(({ name }) => name === PART)
  if (presence.kind === 'alive' && part !== undefined && world.work().daemon)
    return { kind: 'runs', what: `the daemon (pid ${presence.process.pid})`, trouble: part.failures === 0 ? null : part.lastError }
  if (foreground !== null) return { kind: 'runs', what: `holdfast worker run (pid ${foreground})`, trouble: null }
  if (presence.kind !== 'alive') return { kind: 'none', why: 'there is neither a daemon nor a holdfast worker run' }
  return {
    kind: 'none',
    why: world.work().daemon
      ? 'the daemon that runs does not work on requests'
      : 'config.toml says that the daemon does not work on requests ([work] daemon)',
  }
}

/** The pid of a `holdfast worker run` of this home, by its own words. */
function foregroundWorker({
  processes,
  directories,
  home,
  env,
  own,
}: Pick<World, 'processes' | 'directories' | 'home' | 'env' | 'own'>): number | null {
  const { rows } = processes.table({ since: Number.POSITIVE_INFINITY, cookies: false })
  const found = rows.find(({ pid, state, uid }) => {
    if (isDead(state) || uid !== own.uid()) return false
    const words = processes.arguments(pid) ?? []
    const verb = words.indexOf('worker')
    if (verb < 1 || words[verb + 1] !== 'run' || !words.some((word) => /(?:^|\/)(?:cli\.cjs|holdfast)$/.test(word))) return false
    const named = words[words.indexOf('--home') + 1]
    const its = words.includes('--home') && named !== undefined ? named : processes.environment(pid)['HOLDFAST_HOME']
    return its === undefined ? env['HOLDFAST_HOME'] === undefined : directories.realPath(its) === directories.realPath(home)
  })
  return found?.pid ?? null
}
