import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AGENT, type Lab, readOr, until } from './lab.ts'

/** Many starters at once, each with a folder of its own to show whether its agent ran even one line. */
export async function race(lab: Lab, starters: number, args: readonly string[] = []): Promise<{ codes: number[]; agents: () => number[] }> {
  const folder = lab.newDir()
  const codes = await Promise.all(
    Array.from({ length: starters }, async (_, index) => {
      mkdirSync(join(folder, String(index)))
      const result = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--detach', ...args, '--', AGENT, 'idle'], {
        env: { FA_DIR: join(folder, String(index)) },
      })
      return result.code ?? -1
    }),
  )
  const spoken = (): number[] =>
    readdirSync(folder).flatMap((name) => {
      const pid = Number(readOr(join(folder, name, 'main.pid')))
      return pid > 0 ? [pid] : []
    })
  // A start comes back when the agent is on record, which may be before its first line.
  if (codes.includes(0)) await until('the winner to speak', () => spoken().length > 0)
  return { codes, agents: spoken }
}
