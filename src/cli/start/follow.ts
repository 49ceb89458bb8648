import { endOf, logs, type World } from '../../app/index.ts'
import { pass, say } from '../out.ts'

/** Follows a detached run's output until it ends or the reader leaves; leaving does not touch the run. */
export async function follow(world: World, session: string, run: string): Promise<number> {
  say(`following ${session}; Ctrl-C leaves it running`)
  await pass(logs(world, session, { follow: true, lines: 100 }))
  const ended = await endOf(world, run)
  say(ended === null ? `${session} is not over, but its output is` : `${session} ${ended.state}: ${ended.reason}`)
  return 0
}
