import type { Store } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import type { HookHelp } from './hook-help.ts'

/** What a hook may touch. Each part is opened when it is first needed: a prompt waits for all of them. */
export type HookWorld = Pick<
  World,
  'env' | 'policy' | 'clock' | 'processes' | 'directories' | 'own' | 'evidence' | 'fences' | 'agentState' | 'agentInbox'
> & {
  readonly store: () => Promise<Store>
  readonly help: () => HookHelp
  readonly closeLook: () => HookHelp
  readonly close: () => void
}
