import { type Asker, chooseSiblings, type Families, type Kinship } from '../../decide/index.ts'
import type { Lock, Run, Store } from '../../model/index.ts'
import type { SessionView, SiblingView } from '../../show/index.ts'
import { whoAmI } from '../caller/who-am-i.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { findSeen } from '../see/find-seen.ts'
import { seeAll } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'
import { nearTo } from './same-place.ts'
import { portsOf } from './sibling-ports.ts'

/** `session`: for whom it is asked; left out: for the caller. `here`: only those in its repository or directory tree. */
export type SiblingsRequest = { readonly session?: string | undefined; readonly here: boolean }

/** `self`: for whom it was asked; null: nobody in particular. `unreadable`: runs on record that make no sense: whether they are siblings cannot be told. */
export type Siblings = {
  readonly self: string | null
  readonly here: boolean
  readonly siblings: readonly SiblingView[]
  readonly unreadable: readonly string[]
}

/** Every other live session of this store, from process truth at the moment of asking, with all that is to be known of each. */
export async function siblings(world: World, request: SiblingsRequest): Promise<Siblings> {
  const { here } = request
  const store = await world.store('reader')
  const { self, chosen, locks, unreadable } = await chosenSiblings(world, store, request)
  const runs = chosen.map(({ sight }) => sight.run)
  const said = await store.messages.said(runs.map(({ id }) => id))
  const ports = await portsOf(world, runs)
  const branchOf = world.directories.branchFinder()
  const held = await heldByHand(world, locks)
  return {
    self,
    here,
    unreadable,
    siblings: chosen.map(({ sight, relation }) => ({
      sight,
      relation,
      branch: branchOf(sight.run.dir),
      said: said.get(sight.run.id) ?? null,
      locks: held.filter((lock) => lock.session === sight.session.id).map(({ directory }) => directory.path),
      ports: ports.get(sight.run.id) ?? null,
      ...(here ? { here: true } : {}),
    })),
  }
}

/** Only who they are: what it takes to show each is not asked. */
export async function chosenSiblings(world: World, store: Store, { session, here }: SiblingsRequest): Promise<Chosen> {
  const { sights, locks, unreadable } = await seeAll(world, 'live')
  const asker = await askerOf(world, session, sights)
  const isNear = here ? nearTo(world, asker, locks) : () => null
  const peers = sights.map((sight) => ({ ...sight, sight, near: isNear(sight) }))
  const choices = chooseSiblings(peers, asker, await familiesOf(store, [...sights.map(({ run }) => run), ...(asker?.run ? [asker.run] : [])]))
  return {
    self: asker?.ids.at(-1) ?? null,
    chosen: choices.flatMap(({ peer, choice }) => (choice.kind === 'sibling' ? [{ sight: peer.sight, relation: choice.relation }] : [])),
    locks,
    unreadable,
  }
}

/** `locks`: all that were seen on the way. */
type Chosen = {
  readonly self: string | null
  readonly chosen: readonly { readonly sight: SessionView; readonly relation: Kinship | null }[]
  readonly unreadable: readonly string[]
  readonly locks: readonly Lock[]
}

type Known = Asker & { readonly dir: string }

async function askerOf(world: World, reference: string | undefined, sights: readonly SessionView[]): Promise<Known | null> {
  const self = reference === undefined ? await whoAmI(world, sights) : { kind: 'session' as const, ...(await findSeen(world, reference)) }
  if (self.kind !== 'session') return null
  const { session, run } = self
  // Its row may have moved to another id since the others were seen: then it was seen by the one before.
  const before = sights.filter((seen) => seen.run.id === run?.id).map((seen) => seen.session.id)
  return { ids: [...new Set([...before, session.id])], run, dir: session.dir }
}

/** The runs that these were started in, as far up as any is on record. */
async function familiesOf(store: Store, runs: readonly Run[]): Promise<Families> {
  const families = new Map<string, { readonly session: string; readonly parent: string | null }>(runs.map((run) => [run.id, run]))
  const wanted = runs.flatMap(({ parent }) => parent ?? [])
  for (let id = wanted.pop(); id !== undefined; id = wanted.pop()) {
    const run = families.has(id) ? null : await store.runs.get(id)
    if (run === null) continue
    families.set(id, run)
    if (run.parent !== null) wanted.push(run.parent)
  }
  return families
}

/** Directories that are held besides those that runs work in. */
async function heldByHand(world: World, locks: readonly Lock[]): Promise<Lock[]> {
  const byHand = locks.filter(({ holder, session }) => holder.kind !== 'run' && session !== null)
  const judged = await judgeLocks(world, byHand)
  return byHand.filter((lock) => judged.get(lock.seq)?.kind !== 'free')
}
