import type { ManagerKind, UnitState } from '../../model/index.ts'

/** Who runs services here, and the one that is this home's daemon. */
export type Manager = {
  readonly kind: ManagerKind
  readonly name: string
  /** Where it reads about it, and what that shall say. */
  readonly path: string
  readonly text: string
  /** Why it cannot be asked; null: it can. */
  trouble(): Promise<string | null>
  state(): Promise<UnitState>
  /** Has it read again what lies there. */
  reload(): Promise<void>
  /** Has it run now and at every login; `anew`: also if it runs already. */
  start(anew: boolean): Promise<void>
  /** Ends it, and has it run at no login any more. */
  stop(): Promise<void>
  /** What the user should know. */
  notes(): Promise<readonly string[]>
  /** How a person looks what became of it. */
  readonly look: string
}
