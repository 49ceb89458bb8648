/** A tmux session of a run's own, on the server of its home. `name` is exact, and no other run's. */
export type Pane = { readonly socket: string; readonly name: string }
