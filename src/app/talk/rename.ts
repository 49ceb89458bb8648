import { ID_GRAMMAR, isLive, isSessionId, Problem } from '../../model/index.ts'
import { recordMoved } from '../conversation/write-renamed-ids.ts'
import { findSession } from '../see/find-session.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'

/** `oldStays`: the old name finds it, too, since a live agent knows itself by it. */
export type Renamed = { readonly session: string; readonly from: string; readonly oldStays: boolean }

/** A session gets another name. The old one is free again once nothing that lives is called so. */
export async function rename(world: World, reference: string, to: string): Promise<Renamed> {
  if (!isSessionId(to)) throw new Problem('session-id-invalid', `${JSON.stringify(to)} cannot name a session`, { hint: `use ${ID_GRAMMAR}` })
  const store = await world.store('writer')
  for (let steps = 0; steps < world.policy.claimSteps; steps++) {
    const { session } = await findSession(store, reference, 'near')
    const { run, liveness } = await seeOne(world, session.id)
    const freeOld = !isLive(run) && liveness === 'dead'
    const at = world.clock.now()
    const answer = await store.sessions.rename({ session: session.id, epoch: session.epoch, to, freeOld, how: `${world.user()}@${world.host}`, at })
    if (answer.kind === 'lost') continue
    if (answer.kind === 'taken')
      throw new Problem('name-taken', `the name ${to} belongs to session ${answer.by.session.id}; nothing was changed`, {
        hint:
          answer.by.run !== null && isLive(answer.by.run)
            ? `holdfast status ${answer.by.session.id}`
            : `holdfast rm ${answer.by.session.id} forgets that one`,
      })
    await recordMoved(world, store, answer.moved)
    return { session: to, from: session.id, oldStays: !freeOld && session.id !== to }
  }
  throw new Problem('session-contended', `session ${reference} could not be renamed: others are at it`, { hint: 'try again' })
}
