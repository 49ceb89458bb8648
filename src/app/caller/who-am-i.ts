import { decideSelf, mayBeOthers, provenAround } from '../../decide/index.ts'
import { isLive, Problem, type Run, type Self } from '../../model/index.ts'
import type { Front } from '../world/front.ts'
import type { World } from '../world/world.ts'
import { lineageOf, parentIn, provenFront } from './caller.ts'
import { type Seen, selfFacts } from './who-am-i-facts.ts'

/** Who the caller is. */
export type WhoAmI = Self

/** From proof, at the moment of asking: never from what was believed before. `seen`: all live sessions, if somebody has just looked. */
export async function whoAmI(world: World, seen?: readonly Seen[]): Promise<WhoAmI> {
  const unknown = world.actingFor?.unknown ?? null
  if (unknown !== null) return { kind: 'nobody', why: unknown }
  if (world.processes.here().pidNamespace === '')
    return { kind: 'nobody', why: '/proc shows another pid namespace than ours, or none: nothing can be proven from here' }
  const self = decideSelf(await selfFacts(world, 'reader', { seen }))
  const fence = self.kind === 'session' && self.note === null ? world.fences.intent(self.run.id) : null
  return self.kind === 'session' && fence !== null ? { ...self, note: `it was fenced off: ${fence.reason}` } : self
}

/** The run that this command was started in: ours, or else the one whose marker we have. `front`: as it was just proven. */
export async function runAround(world: World, as: 'writer' | 'reader', front?: Front | null): Promise<Run | null> {
  const proven = front === undefined ? await provenFront(world, as) : front
  const facts = await selfFacts(world, as, { front: proven })
  const self = decideSelf(facts)
  if (self.kind === 'session') return self.run
  return mayBeOthers(facts) ? null : parentIn(provenAround(facts), facts.named?.run ?? null, lineageOf(world, proven))
}

/** For what only a session can do, and only as long as it may. */
export async function mySession(world: World, what: string): Promise<Extract<WhoAmI, { kind: 'session' }>> {
  const self = await whoMayAct(world)
  if (self.kind === 'session') return self
  throw new Problem('caller-outside-session', `only a session can ${what}, and you are in none: ${self.why}`, {
    hint: 'holdfast whoami tells who you are; holdfast run starts a session',
  })
}

/** Who the caller is, for what anybody may do but a retired agent: that acts for nobody any more, neither for its session nor by itself. */
export async function whoMayAct(world: World): Promise<WhoAmI> {
  const self = await whoAmI(world)
  const { fences, actingFor } = world
  // It might be a retired agent as well as anybody.
  if (actingFor != null && actingFor.unknown !== null)
    throw new Problem('caller-unknown', `refused: cannot identify the caller (${actingFor.unknown})`, {
      hint: 'what only looks is answered; over stdio (holdfast mcp) an agent is known by who started the server',
    })
  if (self.kind === 'session' && fences.isRetired(self.run.id))
    throw retired(self.session.id, fences.intent(self.run.id)?.reason ?? 'its fence is closed')
  const run = self.kind === 'nobody' ? await markedRun(world) : null
  if (run !== null && (!isLive(run) || fences.isRetired(run.id))) throw retired(run.session, self.why)
  return self
}

const retired = (session: string, why: string): Problem =>
  new Problem('caller-retired', `session ${session}, which this agent worked for, was retired: ${why}`, {
    hint: `stop working, and tell the user; holdfast status ${session} says what became of it`,
  })

/** The run whose marker we carry, live or over. */
async function markedRun(world: Pick<World, 'processes' | 'store'>): Promise<Run | null> {
  const marker = world.processes.marker(world.processes.self().pid)
  return typeof marker === 'number' ? (await world.store('reader')).runs.withMarker(marker) : null
}
