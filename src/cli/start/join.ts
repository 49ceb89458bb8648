import { isatty } from 'node:tty'
import { type AfterJoin, codeOf, joinPane, type World } from '../../app/index.ts'
import { type Pane, Problem, type RunBase } from '../../model/index.ts'
import { afterJoinText } from '../../show/index.ts'
import { say } from '../out.ts'

export const onTerminal = (): boolean => isatty(0) && isatty(1)

export const isHosted = <T extends RunBase>(run: T): run is T & { readonly tmux: Pane } => run.tmux !== null

/** The shell that waits for us has a client of its pane; leaving it does not touch the run. */
export async function join(world: World, run: Parameters<typeof joinPane>[1]): Promise<number> {
  if (!onTerminal())
    throw new Problem('terminal-missing', `session ${run.session} is in a tmux pane, and joining it needs a terminal`, {
      hint: `holdfast send ${run.session} TEXT types to it; holdfast logs ${run.session} shows its screen`,
    })
  const attached = await joinPane(world, run)
  if (attached.kind === 'over') return tell(attached)
  if (attached.kind === 'here') say(`you are in session ${run.session}`)
  return 0
}

/** The exit code is the agent's if it ended meanwhile, and otherwise its client's. */
export function tell({ name, ended, shown }: AfterJoin, code = 0): number {
  say(afterJoinText(name, ended, shown))
  return ended === null ? code : codeOf(ended)
}
