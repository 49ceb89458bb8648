import { logs, type World } from '../app/index.ts'
import { say, write } from './out.ts'

/** Follows a detached run's output until it ends or the reader leaves; leaving does not touch the run. */
export async function follow(world: World, session: string): Promise<number> {
  say(`following ${session}; Ctrl-C leaves it running`)
  for await (const chunk of logs(world, session, { follow: true, lines: 100 })) write(1, chunk)
  say(`${session} has ended`)
  return 0
}
