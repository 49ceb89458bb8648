import type { NotedActivity } from './activity.ts'
import type { Anchors } from './anchor.ts'
import type { Environment } from './environment.ts'
import type { Tokens } from './usage.ts'

/** Words of a command line. `{id}` stands for the session's native id, `{prompt}` for the prompt, `{args}` for what the caller adds. */
export type Words = readonly string[]

/** What we know of an agent CLI. Data first; what it cannot do is null. */
export type Harness = {
  /** What people say: `holdfast run NAME`. */
  readonly name: string
  readonly title: string
  /** Its executables, in the order in which they are looked for. */
  readonly commands: Words
  /** Whether the executable that was found by such a name is its own; absent where the name is proof enough. */
  readonly owns?: (executable: string) => boolean
  readonly program: ProgramRule
  readonly speech: Speech
  /** Where a resume must run: where the session was (`same`), or anywhere. */
  readonly resumeIn: 'same' | 'any'
  /** Variables by which it tells its children which session they are in: exact names, or families ending in `*`. */
  readonly sessionVariables: Words
  /** That of them that has the native id, in every process that the session itself starts. */
  readonly idVariable: string | null
  /** Where the native id is learnt from when nobody preset it, the most certain first. (Registries and hooks come before all.) */
  readonly capture: readonly Capture[]
  /** Where its sessions lie on disk. */
  readonly sessions: Sessions | null
  /** What it writes about its own live processes. */
  readonly registry: Registry | null
  /** Ways to end without a failure although somebody ended it: a signal after which its exit code is 0. */
  readonly zeroAfter: readonly ('SIGTERM' | 'SIGINT')[]
  readonly usage: UsageRule | null
  /** First arguments, or options, with which its session goes on in its shared daemon after the command has ended. */
  readonly daemonizes: Words
  readonly hooks: HookRule | null
}

/** How to tell its processes. Names are those of its executable, of argv[0], or of its script. */
export type ProgramRule = {
  readonly names: Words
  /** Executables that carry a version or a platform in their name. */
  readonly exe?: RegExp
  /** Folders that only its own scripts are in. */
  readonly packages?: Words
  /** First arguments with which it serves others, or only says something. */
  readonly idle?: Words
  /** First arguments that mean something else to it than to the others. */
  readonly works?: Words
  /** Options with a value that are given before those. */
  readonly valued?: Words
  /** Options that name the directory it works in, whatever its own is. */
  readonly dirOptions?: Words
  /** A word that others use too: believed of an executable, or of node and bun that go by it, but of no script. */
  readonly ambiguous?: true
}

/** How one talks to it on its command line. */
export type Speech = {
  /** Makes a new session take this id. */
  readonly preset: Words | null
  readonly resume: Words | null
  /** Options and first arguments that choose a session by themselves: with one of them nothing is preset. */
  readonly chooses: Words
  /** Those of them that go on with the newest session of the directory, whichever that is. */
  readonly continues?: Words
  /** Those of them that an id follows (`--resume ID`, `--resume=ID`, `resume ID`). */
  readonly idAfter: Words
  /** Those that make a new session of an old one: the id that is named is not the one it will have. */
  readonly forks: Words
  /** The option that keeps its session in its own processes, and out of a shared daemon. Said only where its version knows it. */
  readonly apart?: string
  /** Without a terminal, one prompt, then it ends. */
  readonly headless: HeadlessSpeech | null
  /** What its ids look like, so that a name or a number is not taken for one; absent: like those of most (`SESSION_ID`). */
  readonly id?: RegExp
  /** Options that a later run of the session keeps. */
  readonly keeps: Keeps
}

/** Options by all their names (`-m|--model`). */
export type Keeps = {
  readonly flags: Words
  readonly valued: Words
  /** Those of `valued` that may be said more than once: a later run adds to them. */
  readonly repeated?: Words
  /** With all the words up to the next option. They are said again one by one, `--x=a --x=b`, so that they eat no prompt. */
  readonly many?: Words
  /** Those of all these that only its interactive, or only its headless way of running understands. */
  readonly interactive?: Words
  readonly headless?: Words
  /** Options of which it takes only one: what a later run says, replaces what an earlier one said. */
  readonly either?: readonly Words[]
}

/** `prompt`: whether it is read from stdin, or given as `{prompt}`. `marks`: options and first arguments that make any command line a headless one. */
export type HeadlessSpeech = { readonly start: Words; readonly resume: Words | null; readonly prompt: 'stdin' | 'argument'; readonly marks: Words }

export type Capture =
  /** Its output has a line of JSON with the id in this field (`a.b` goes down). Only where its output is our log. */
  | { readonly from: 'output'; readonly field: string }
  /** Its output begins with a line like this; the first group is the id. */
  | { readonly from: 'banner'; readonly line: RegExp }
  /** The agent has such a file open; the first group is the id. */
  | { readonly from: 'open-file'; readonly path: RegExp }
  /** Its disk has exactly one session that was begun where the run works, since it began. Asked only of a run that begins one at once. */
  | { readonly from: 'begun'; readonly find: BegunSince }
  /** What it tells its tools (`idVariable`). */
  | { readonly from: 'variable' }

/** The ids of its sessions that were begun in this directory since this time, in milliseconds. */
export type BegunSince = (env: Environment, where: { readonly dir: string; readonly since: number }, read: ReadDatabase) => readonly string[]

/** A session as it lies on disk. */
export type OnDisk = { readonly id: string; readonly path: string; readonly dir: string | null }
export type Sessions = {
  readonly find: (env: Environment, id: string, read: ReadDatabase) => OnDisk | null
  /** The first words of its conversation, or its title. */
  readonly words: (env: Environment, id: string, read: ReadDatabase) => string | null
}

/** Reads another program's SQLite file, without writing to it; null: it cannot be read. */
export type ReadDatabase = (path: string, sql: string, values: readonly string[]) => readonly Readonly<Record<string, unknown>>[] | null

/** What a harness itself says about one of its live processes. Each entry is true only of the very process that it names. */
export type Registry = {
  readonly read: (env: Environment, mayBeThere: (pid: number) => boolean) => readonly RegistryEntry[]
  /** What this very process is at, by its own word; absent where the harness does not say. */
  readonly activity?: (env: Environment, process: { readonly pid: number; readonly ticks: number }) => NotedActivity | null
  /** All that it wrote of them, also of those that are gone. */
  readonly anchors: Anchors
}
export type RegistryEntry = {
  readonly process: { readonly pid: number; readonly ticks: number }
  readonly cwd: string | null
  readonly nativeId: string | null
  /** One that serves sessions, and is none. */
  readonly service: boolean
}

/** Where it writes what it burns. */
export type UsageRule =
  | LinesRule
  /**
   * Files of JSON with totals, or of what `text` makes of one. `atTurnEnd`: they are written only when a turn is over, so that a limit would never hold
   * while a headless agent works.
   */
  | {
      readonly kind: 'document'
      readonly files: UsageFiles
      readonly read: (document: unknown) => Tokens | null
      readonly text?: (path: string, text: string) => Tokens | null
      readonly atTurnEnd?: true
    }
  /** Rows with totals: those of the session and of what it started. `tellsCost`: with each answer, as the tokens. */
  | {
      readonly kind: 'database'
      readonly path: (env: Environment) => string
      readonly sql: string
      readonly tellsCost?: true
      readonly read: (row: Readonly<Record<string, unknown>>) => Tokens | null
    }

/** Files of JSON lines, each of which may add to what was burned. `tellsCost`: it writes what each answer has cost, so that a limit in dollars can hold. */
export type LinesRule = {
  readonly kind: 'lines'
  readonly tellsCost?: true
  readonly files: UsageFiles
  /** A line with none of these is not looked at. */
  readonly words: Words
  /** How many keys back a line may repeat one that was written before. It counts once, with the highest numbers it had. */
  readonly remembers: number
  readonly read: (line: unknown) => UsageLine | null
}
/** `at`: when it was written, in milliseconds; 0 if the line does not say. */
export type UsageLine =
  | { readonly kind: 'burned'; readonly key: string | null; readonly tokens: Tokens; readonly at: number }
  /** What the session has cost so far, in US dollars. */
  | { readonly kind: 'cost'; readonly total: number }
  /** What is told up to then was copied from another session, whatever time it says. */
  | { readonly kind: 'copied'; readonly until: number }

/** The files of this session, its own first, and of the agents it started where all are asked for; none: they are not there (yet). */
export type UsageFiles = (env: Environment, id: string, which: 'own' | 'all') => readonly string[]

/** How it lets others hear of its session, tell it something, and refuse its tool calls. */
export type HookRule = {
  readonly path: (env: Environment) => string
  /** What a person still has to do or to know. */
  readonly note: string | null
  /** Of these events, are the hooks in this file trusted by a person? Absent where the harness does not ask for that. */
  readonly trusts?: (env: Environment, path: string, events: readonly string[]) => boolean
} & (
  | /** A settings file in JSON with Claude's schema: `hooks.EVENT[] = {hooks: [{type: command, command}]}`. */
  { readonly kind: 'settings'; readonly events: HookEvents }
  /** A file of our own among others, with its signature in it. `content` gets the command of each event. */
  | { readonly kind: 'file'; readonly content: (command: (event: HookEvent) => string) => string }
)

/** `prompt`: somebody, a person or a caller, gives it a prompt. `turn-end`: it has answered. `waiting`: it needs a person to go on. */
export type HookEvent = 'session-start' | 'before-tool' | 'session-end' | 'prompt' | 'turn-end' | 'waiting'
/** What it calls them, and which of those are meant (`matcher`); null: it has none. */
export type HookEvents = { readonly [E in HookEvent]: string | Matched | null }
type Matched = { readonly event: string; readonly matcher: string }
