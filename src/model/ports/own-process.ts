import type { Environment } from '../environment.ts'

/** Facts about this very process. */
export interface OwnProcess {
  readonly pid: number
  /** The program that runs it. */
  readonly executable: string
  /** The operating system, as Node calls it. */
  readonly platform: string
  parent(): number
  /** The effective user id. */
  uid(): number
  umask(): number
  /** The first word of its command line. */
  verb(): string
  /** Throws where the working directory was removed. */
  workingDirectory(): string
  /** The terminal that it was started on; null: none. */
  terminal(): string | null
  /** The signals that its parent ignores, by number. */
  parentIgnores(): ReadonlySet<number>
  /** Variables that are no UTF-8, byte for byte. */
  unreadVariables(environment: Environment): Record<string, string>
  /** It was started to work for a run, and belongs to none. */
  isHelper(): boolean
}
