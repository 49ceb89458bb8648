import { expect } from 'vitest'
import { cgroupContainers, runFiles } from '../../src/keep/index.ts'
import { amongTheLiving, settled, startVictims, strike, type Victims } from '../real/adopt.ts'
import { startDaemon, withStore } from '../real/daemon-hand.ts'
import { inLab, type Lab } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const LIVE = 100
/** What a port has that only looks; whatever else it has, and may get, is a step at which the daemon is killed. */
const READS = {
  files:
    /^(activity|harness|timer|cgroup|journal|natives|usage|begun|aware|exit|notStarted|isRetired|intent|read|isUnreadable|list|litter|fence|path|readLog|tailOfLog|logSize)$/,
  containers: /^$/,
  store:
    /^(formerIds|said|unread|nativeOwner|find|locks|snapshot|workplaces|liveRuns|strayLocks|run|runs|spent|children|startedIn|tasks|remains|live|ended|markers|runWithMarker|runByMarker|isEmpty|events|forgettable|close)$/,
} as const

async function steps(lab: Lab): Promise<string[]> {
  const ports = { files: runFiles(lab.home), containers: cgroupContainers, store: await withStore(lab, async (store) => store) }
  const written = Object.entries(ports).flatMap(([name, port]) =>
    Object.keys(port)
      .filter((method) => !READS[name as keyof typeof READS].test(method))
      .map((method) => `${name}.${method}`),
  )
  return [...written, 'processes.send']
}

/** Kills one after each step that it is known to make, and has the next one go on. */
async function killAtEachStep(lab: Lab, makeVictims: (index: number) => Promise<Victims>): Promise<{ made: string[]; reached: string[] }> {
  const first = await makeVictims(0)
  await strike(lab, first)
  const traced = startDaemon(lab, { failpoints: (await steps(lab)).map((step) => `after:${step}=say`).join(',') })
  await settled(lab, first)
  await traced.kill()
  const made = [...new Set([...traced.text().matchAll(/^failpoint (\S+)$/gm)].map((match) => match[1] ?? ''))]
  const reached: string[] = []
  let index = 1
  for (const step of made) {
    const victims = await makeVictims(index++)
    await strike(lab, victims)
    const dying = startDaemon(lab, { failpoints: `after:${step}=kill` })
    const moment = (): Promise<false> => new Promise((over) => setTimeout(() => over(false), 1000))
    const died = await Promise.race([dying.exited.then(() => true), settled(lab, victims).then(moment, moment)])
    if (died) reached.push(step)
    else await dying.kill()
    const next = startDaemon(lab)
    await settled(lab, victims)
    await next.kill()
  }
  return { made, reached }
}

verifies(
  'evidence',
  'a daemon that is killed after each of its durable steps, among 100 live runs, loses nothing: the next one adopts what lives and finishes what ended',
  () =>
    inLab((lab) =>
      amongTheLiving(lab, LIVE, async () => {
        const started = new Map<number, Promise<Victims>>()
        // The next ones are started while these are seen to.
        const victims = (index: number): Promise<Victims> => {
          for (const one of [index, index + 1, index + 2]) if (!started.has(one)) started.set(one, startVictims(lab, one))
          return started.get(index) as Promise<Victims>
        }
        const { made, reached } = await killAtEachStep(lab, victims)
        await Promise.all(started.values())
        for (const step of [
          'store.claims.recordEnded',
          'store.claims.recordExited',
          'store.claims.recordAsked',
          'fences.retire',
          'containers.remove',
          'processes.send',
        ])
          expect(reached).toContain(step)
        return made.length + 1
      }),
    ),
  300_000,
)
