import type { ProblemTable } from '../exit-code.ts'

/** Problems of tmux panes. */
export const PANE_PROBLEMS = {
  'tmux-unavailable': { kind: 'unavailable', means: 'Holdfast cannot use tmux here.' },
  'tmux-server-elsewhere': { kind: 'unavailable', means: 'The tmux server of the home is in other namespaces.' },
  'pane-not-made': { kind: 'unavailable', means: 'Tmux could not make a pane for the run.' },
  'pane-silent': { kind: 'unavailable', means: 'The session is alive, but its pane does not answer.' },
  'pane-busy': { kind: 'held', means: 'Other senders are typing into the pane.' },
  'pane-not-followable': { kind: 'badCommand', means: 'The log of a pane cannot be followed.' },
  'session-without-pane': { kind: 'badCommand', means: 'The session is not in a pane, so nothing can be typed into it.' },
  'text-not-typable': { kind: 'badCommand', means: 'The text cannot be typed into a pane.' },
} as const satisfies ProblemTable

/** Problems of worktrees. */
export const WORKTREE_PROBLEMS = {
  'repository-missing': { kind: 'badCommand', means: 'The directory is in no git repository.' },
  'branch-invalid': { kind: 'badCommand', means: 'The text is not the plain name of a branch.' },
  'worktree-not-made': { kind: 'badCommand', means: 'Git could not make the worktree.' },
  'worktree-unfinished': { kind: 'held', means: 'Another command is still making the worktree.' },
  'worktree-has-work': { kind: 'held', means: 'The worktree of the session has work that is nowhere else.' },
  'worktree-none': { kind: 'notFound', means: 'The session has no worktree of Holdfast, or that is gone.' },
  'worktree-in-use': { kind: 'held', means: 'A session or a process works in the worktree, or where it would be merged.' },
  'worktree-unsaved': { kind: 'held', means: 'The worktree, or the place where it would be merged, has changes that nobody committed.' },
  'worktree-kept': { kind: 'held', means: 'The worktree cannot be removed without losing something.' },
  'merge-refused': { kind: 'held', means: 'The branch cannot be merged by itself.' },
  'worktree-names-used-up': { kind: 'unavailable', means: 'Too many worktrees have this name.' },
} as const satisfies ProblemTable

/** Problems of hooks in the settings of agents. */
export const HOOK_PROBLEMS = {
  'hooks-unsupported': { kind: 'badCommand', means: 'Holdfast knows no hooks of this agent.' },
  'settings-invalid': { kind: 'badCommand', means: 'The settings file of the agent cannot be changed safely.' },
  'settings-unreadable': { kind: 'unavailable', means: 'The settings file of the agent cannot be read.' },
  'settings-unwritable': { kind: 'unavailable', means: 'The settings file of the agent cannot be written, or another program keeps writing it.' },
} as const satisfies ProblemTable
