import type { SiblingSight } from '../show/index.ts'
import { findSession, seeAll } from './see.ts'
import { whoAmI } from './self.ts'
import type { World } from './world.ts'

/** `session`: for whom it is asked; left out: for the caller. `here`: only those in its repository or directory tree. */
export type SiblingsRequest = { readonly session?: string | undefined; readonly here: boolean }

/** `self`: for whom it was asked; null: nobody in particular. */
export type Siblings = { readonly self: string | null; readonly siblings: readonly SiblingSight[] }

/** Every other live session of this store, from process truth at the moment of asking. */
export async function siblings(world: World, { session }: SiblingsRequest): Promise<Siblings> {
  const store = await world.store('reader')
  const self = session === undefined ? await whoAmI(world) : { kind: 'session' as const, ...(await findSession(store, session)) }
  const own = self.kind === 'session' ? self.session.id : null
  const { sights } = await seeAll(world, 'live')
  return { self: own, siblings: sights.filter(({ session: { id } }) => id !== own).map((sight) => ({ sight })) }
}
