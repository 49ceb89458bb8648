import type { ProcessId } from '../identity.ts'
import type { Pane } from '../pane.ts'
import type { GatedKeeper, Launch } from './keepers.ts'

/**
 * A pane as its server shows it; its process is `pid`. Others can be opened beside it, and a new server counts its ids from the start again,
 * so what is done to it is done only while both are still the same. `inMode`: what is typed goes to tmux's own copy mode, and not to the agent.
 */
export type PaneView = { readonly id: string; readonly pid: number; readonly inMode: boolean }

/** What a server of ours is started with, if none runs: its marker, and the cgroup that it belongs to. */
export type ServerSetup = { readonly marker: number | null; readonly cgroup: string | null }

/** Each kind of namespace of a process, beside our own; unknown: they may not be compared. */
export type Namespaces = Readonly<Record<string, 'same' | 'other' | 'unknown'>>

/** A keeper that is the process of a pane, and the server that hosts it. */
export type HostedKeeper = GatedKeeper & { readonly server: ProcessId | null; readonly namespaces: Namespaces }

/** Why nothing can be hosted here, and what to do about it. */
export type PaneTrouble = { readonly why: string; readonly hint: string }

/** The tmux server of a home. What it says is never the truth about a run: that is its processes. */
export interface Panes {
  /** Where the server of this home listens, in a private folder that is made if need be. */
  socket(): string
  trouble(): PaneTrouble | null
  /** What a server that is gone has left of its place: its socket, or the folder that was made for it outside of the home; null: nothing, or it is not ours, or somebody listens there, or may be about to. */
  leftover(now: number): Promise<string | null>
  /** Answers why it stays, if it does. */
  removeLeftover(now: number): Promise<string | null>
  /** What tmux calls itself; null: there is none, or it does not say. */
  version(): Promise<string | null>
  /** Those of the server, which all that it hosts is in; null: none runs. One that does not answer is a fault. */
  namespaces(): Promise<Namespaces | null>
  /** Is there no socket any more, or not yet? Cleaners sweep away what is old. */
  isSwept(pane: Pane): boolean
  /** Has its server, if that is what this living process is, make its socket anew; false: it did not. */
  restore(pane: Pane, server: ProcessId): Promise<boolean>
  spawn(launch: Launch, pane: Pane, setup: ServerSetup): Promise<HostedKeeper>
  /** The pane that a keeper is; null: there is no such pane, or its server does not answer. */
  look(pane: Pane, keeper: number): Promise<PaneView | null>
  /** Is its session there, with whatever is in it? */
  isOpen(pane: Pane): Promise<boolean>
  /** The last lines of its screen and of what has left it at the top; null: it cannot be told. */
  capture(pane: Pane, sight: PaneView, lines: number): Promise<string | null>
  /** All of it at once, as a person pastes it; false: it could not be, or that pane is another by now, or in copy mode. */
  paste(pane: Pane, sight: PaneView, text: string): Promise<boolean>
  press(pane: Pane, sight: PaneView, key: 'Enter'): Promise<boolean>
  leaveMode(pane: Pane, sight: PaneView): Promise<boolean>
  /** Ends that very session, if it is still there; false: it still is. */
  close(pane: Pane): Promise<boolean>
  /** In the foreground: tells the command that waits for us to have a client of it, and then to say what has become of the run. */
  join(pane: Pane, run: string): void
  /** Whoever looks at `from` looks at `to` from now on; false: nobody does. */
  switch(from: Pane, to: Pane): Promise<boolean>
  /** One at a time for each key; null: others were at it for all of that time. */
  alone<T>(key: string, ms: number, body: () => Promise<T>): Promise<T | null>
}
