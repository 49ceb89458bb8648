/**
 * What recognises a long-lived thing of the user's that happened to be born in a run. `named`: its process name is one of these;
 * `saying`: all of these stand in its command line; `unless`: any of these makes it a tool of the agent after all.
 */
export type SpareRule = {
  readonly what: string
  readonly named: readonly string[]
  readonly saying?: readonly string[]
  readonly unless?: readonly string[]
}
