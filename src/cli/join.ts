import { isatty } from 'node:tty'
import { joinPane, type World } from '../app/index.ts'
import { type Pane, Problem, type RunBase } from '../model/index.ts'
import { say } from './out.ts'

export const onTerminal = (): boolean => isatty(0) && isatty(1)

export const isHosted = <T extends RunBase>(run: T): run is T & { readonly tmux: Pane } => run.tmux !== null

/** The shell that waits for us becomes a client of its pane; leaving it does not touch the run. */
export async function join(world: World, run: Parameters<typeof joinPane>[1]): Promise<number> {
  if (!onTerminal())
    throw new Problem('usage', `session ${run.session} is in a tmux pane, and joining it needs a terminal`, {
      hint: `holdfast send ${run.session} TEXT types to it; holdfast logs ${run.session} shows its screen`,
    })
  if ((await joinPane(world, run)) === 'here') say(`you are in session ${run.session}`)
  return 0
}
