import { clientChain, type World } from '../app/index.ts'
import { isDead, policy, sameProcess } from '../model/index.ts'

/**
 * Resolved when one of those we were started from is gone, up to the client: another process may hold our pipes open, and then the end of
 * input never comes. Who cannot be looked at is taken to be there.
 */
export function clientGone(world: World): Promise<string> {
  const { processes } = world
  const chain = clientChain(world)
  // What bin/holdfast saw first; whatever we start shall not believe it of itself.
  const first = process.env['HOLDFAST_CLIENT']
  delete process.env['HOLDFAST_CLIENT']
  if (first !== undefined && Number(first) !== process.ppid) return Promise.resolve(`the client was gone before we came (pid ${first})`)
  return new Promise((gone) => {
    if (chain.length === 0) return
    const timer = setInterval(() => {
      for (const one of chain) {
        const seen = processes.sample(one.pid)
        if (seen.kind === 'hidden' || (seen.kind === 'seen' && sameProcess(seen.row, one) && !isDead(seen.row.state))) continue
        clearInterval(timer)
        return gone(`the client is gone (pid ${one.pid})`)
      }
    }, policy.mcpClientMs)
    timer.unref()
  })
}
