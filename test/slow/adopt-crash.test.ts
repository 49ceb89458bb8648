import { expect } from 'vitest'
import { cgroupContainers, runFiles } from '../../src/keep/index.ts'
import { amongTheLiving, settled, startVictims, strike, type Victims } from '../real/adopt.ts'
import { startDaemon, withStore } from '../real/daemon-hand.ts'
import { inLab, type Lab } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const LIVE = 100
/** Methods of a port that only look. Each other method, also one that is added later, is a step at which the daemon is killed. */
const READS: Readonly<Record<string, RegExp>> = {
  runRecords: /^(read|isUnreadable|list|stamp|seen|isGone|path|litter)$/,
  evidence: /^(keeper|harness|exit|notStarted|cgroup|server|timer|journal)$/,
  fences: /^(isRetired|intent|path)$/,
  agentState: /^(natives|refused|activity|prompted)$/,
  usageFiles: /^(counted|baseline)$/,
  agentInbox: /^told$/,
  runLogs: /^(read|tail|size|outputAt)$/,
  containers: /^$/,
  'store.claims': /^$/,
  'store.runs': /./,
  'store.sessions': /^(find|snapshot|aliases|formerIds)$/,
  'store.conversations': /^owner$/,
  'store.locks': /^(workplaces|all|strays)$/,
  'store.messages': /^(said|unread)$/,
  'store.events': /^(list|newest|has)$/,
  'store.requests': /^(get|list|ofSource|ofRun|story|newestClaim)$/,
  'store.outbox': /^(due|state)$/,
  'store.feedback': /^(list|get)$/,
  'store.retention': /^(remains|forgettable)$/,
  store: /^(isReplaced|close)$/,
}

async function steps(lab: Lab): Promise<string[]> {
  const store = await withStore(lab, async (opened) => opened)
  const ports = { ...runFiles(lab.home), containers: cgroupContainers, store }
  return [...Object.entries(ports).flatMap(([name, port]) => writesOf(name, port)), 'processes.send']
}

/** A port may be a group of ports. */
const writesOf = (name: string, port: object): string[] =>
  Object.entries(port).flatMap(([method, value]) =>
    typeof value === 'object' ? writesOf(`${name}.${method}`, value as object) : isRead(name, method) ? [] : [`${name}.${method}`],
  )

function isRead(port: string, method: string): boolean {
  const reads = READS[port]
  if (reads === undefined) throw new Error(`say which methods of ${port} only look`)
  return reads.test(method)
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
)
