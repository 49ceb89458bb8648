import { deliver, newNotifications, nothingHeard, nothingSeen, notifyWays, watchActivities } from '../../app/index.ts'
import { waitingToBeTold } from '../../decide/index.ts'
import { NOTIFY_WAYS, type Notification, type NotifyWay, policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

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
        for (const { way, part, take } of ways) {
          if (!open.some((one) => one.way === way)) continue
          take(news)
          wake(part.name)
        }
        return { told: news.length, held: heard.notified === null ? 0 : waitingToBeTold(heard.notified.history) }
      }),
  }
}

type Way = { readonly way: NotifyWay; readonly part: Part; take(news: readonly Notification[]): void }
type Waiting = { readonly notification: Notification; tries: number }

/** One that fails is tried again, some times; then it is dropped and the next one has its turn. The way is well again when one came through. */
function wayPart({ worlds, wake }: Daemon, way: NotifyWay): Way {
  const name = `notify-${way}`
  const queue: Waiting[] = []
  let trouble: string | null = null
  let dropped = 0

  async function tellFirst(first: Waiting): Promise<void> {
    first.tries++
    let isOver = true
    try {
      await worlds.use((world) => deliver(world, way, first.notification))
      trouble = null
    } catch (error) {
      trouble = error instanceof Error ? error.message : String(error)
      isOver = first.tries >= policy.notifyTries
      if (isOver) dropped++
      throw error
    } finally {
      // It may have lost its place to newer ones meanwhile.
      if (isOver && queue[0] === first) queue.shift()
    }
  }

  const part: Part = {
    name,
    everyMs: policy.notifyAgeMs,
    round: async () => {
      const [first] = queue
      if (first !== undefined) await tellFirst(first)
      // One in a round: each may take long, and a round that lasts is taken for one that hangs.
      if (queue.length > 0) wake(name)
      // Who has turned it off waits for nothing of it.
      if (trouble !== null && (await worlds.use(async (world) => notifyWays(world).some((one) => one.way === way && one.why !== null))))
        trouble = null
      return { told: first === undefined ? 0 : 1, dropped }
    },
    trouble: () => trouble,
  }
  return {
    way,
    part,
    take(news) {
      queue.push(...news.map((notification) => ({ notification, tries: 0 })))
      dropped += queue.splice(0, queue.length - policy.notifyQueue).length
    },
  }
}
