/** The name of the file in which a repository says how its work is done. */
export const WORKFLOW_FILE = 'WORKFLOW.md'

/** Where Holdfast puts the result of a request by itself. */
export const PUBLISH_WAYS = ['none', 'branch', 'pull-request'] as const
export type PublishWay = (typeof PUBLISH_WAYS)[number]

/** Scripts of the repository. Each runs in the worktree, as a run with a log and a tree that ends. */
export type WorkflowHook = 'afterCreate' | 'beforeRun' | 'afterRun' | 'beforeRemove'

/** What a repository says about its work. */
export type Workflow = {
  /** A strict Liquid template; empty: the default prompt. */
  readonly prompt: string
  readonly hooks: Readonly<Record<WorkflowHook, string | null>> & { readonly timeoutMs: number }
  /** The agent and its own arguments; null: the one of the request, or the default. */
  readonly agent: readonly string[] | null
  readonly publish: PublishWay | null
  readonly limits: WorkflowLimits
  readonly states: { readonly active: readonly string[]; readonly terminal: readonly string[] }
  /** Keys that the file has and Holdfast does not use, with the reason. */
  readonly unused: readonly UnusedKey[]
}

export type UnusedKey = { readonly key: string; readonly why: string }

/** Null: no limit, or that of the worker. */
export type WorkflowLimits = {
  readonly atOnce: number | null
  readonly wallMs: number | null
  readonly idleMs: number | null
  readonly noProgressMs: number | null
  readonly noProgressTokens: number | null
  readonly rework: number
  readonly attempts: number
  readonly backoffMaxMs: number
  readonly budget: string | null
}

/** The convention's own numbers where it has some (`docs/reference/workflow.md`). */
export const WORKFLOW_DEFAULT: Workflow = {
  prompt: '',
  hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
  agent: null,
  publish: null,
  limits: {
    atOnce: null,
    wallMs: 6 * 3_600_000,
    idleMs: 1_800_000,
    noProgressMs: 5_400_000,
    noProgressTokens: null,
    rework: 3,
    attempts: 3,
    backoffMaxMs: 300_000,
    budget: null,
  },
  states: { active: ['Todo', 'In Progress'], terminal: ['Closed', 'Cancelled', 'Canceled', 'Duplicate', 'Done'] },
  unused: [],
}

/** The file as a commit of the default branch has it. */
export type WorkflowSource =
  | { readonly kind: 'none'; readonly branch: string; readonly commit: string }
  | { readonly kind: 'found'; readonly branch: string; readonly commit: string; readonly text: string; readonly sha256: string }
  /** A failed look is no proof that there is no file. */
  | { readonly kind: 'unknown'; readonly why: string }

/** The content of a file that a person has allowed to decide what runs here. */
export type WorkflowTrust = {
  readonly repository: string
  readonly sha256: string
  readonly commit: string
  readonly at: number
  readonly by: string
}

/** The words that a template may use. */
export type TemplateValues = Readonly<Record<string, unknown>>

export interface Workflows {
  /** Runs nothing of the repository. */
  read(repository: string): Promise<WorkflowSource>
  /** The front matter as plain data, and the rest. Throws with a sentence. */
  parse(text: string): { readonly settings: unknown; readonly prompt: string }
  /** Throws with a sentence when the template has an unknown variable or filter. */
  render(template: string, values: TemplateValues): string
  trusted(repository: string): WorkflowTrust | null
  trust(entry: WorkflowTrust): void
  /** A person has seen that the file is gone. */
  forget(repository: string): void
}
