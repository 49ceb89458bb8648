import { deliver, newNotifications, nothingHeard, nothingSeen, notifyWays, watchActivities } from '../app/index.ts'
import { NOTIFY_WAYS, type Notification, type NotifyWay, policy } from '../model/index.ts'
import type { Daemon } from './index.ts'
import type { Part } from './loop.ts'

/** What agents are at; what of all that happens a person is told; and each way to tell it, which may fail by itself. */
export function notifyParts(daemon: Daemon): Part[] {
  const ways = NOTIFY_WAYS.map((way) => wayPart(daemon, way))
  return [activityPart(daemon), notifyPart(daemon, ways), ...ways.map(({ part }) => part)]
}

function activityPart({ worlds, wake }: Daemon): Part {
  const seen = nothingSeen()
  return {
    name: 'activity',
    everyMs: policy.activityPaceMs,
    round: async () => {
      const counts = await worlds.use((world) => watchActivities(world, seen))
      if ((counts['changes'] ?? 0) > 0) wake('notify')
      return counts
    },
  }
}

function notifyPart({ worlds, wake }: Daemon, ways: readonly Way[]): Part {
  const heard = nothingHeard()
  return {
    name: 'notify',
    everyMs: policy.activityPaceMs,
    round: () =>
      worlds.use(async (world) => {
        const news = await newNotifications(world, heard)
        const open = news.length === 0 ? [] : notifyWays(world).filter(({ why }) => why === null)
        for (const { way, part, queue } of ways) {
          if (!open.some((one) => one.way === way)) continue
          queue.push(...news.map((notification) => ({ notification, tries: 0 })))
          queue.splice(0, queue.length - policy.notifyQueue)
          wake(part.name)
        }
        return { told: news.length, held: heard.history.held }
      }),
  }
}

type Way = { readonly way: NotifyWay; readonly part: Part; readonly queue: Waiting[] }
type Waiting = { readonly notification: Notification; tries: number }

/** One that fails is tried again, some times; then the next one has its turn. */
function wayPart({ worlds }: Daemon, way: NotifyWay): Way {
  const queue: Waiting[] = []
  const part: Part = {
    name: `notify-${way}`,
    everyMs: policy.notifyAgeMs,
    round: async () => {
      let told = 0
      for (let left = queue.length; left > 0; left--) {
        const [first] = queue
        if (first === undefined) break
        if (++first.tries === policy.notifyTries) queue.shift()
        await worlds.use((world) => deliver(world, way, first.notification))
        if (queue[0] === first) queue.shift()
        told++
      }
      return { told }
    },
  }
  return { way, part, queue }
}
