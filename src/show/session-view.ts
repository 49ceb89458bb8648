import type { Activity, Member, Pane, Run, RunBase, Said, Session, Spared, Suspect, Tokens, UnwatchedTime, Usage } from '../model/index.ts'
import { isLive } from '../model/index.ts'
import type { OwnerView } from './conversation-owners.ts'
import { attachCommand } from './holder.ts'
import { iso } from './time.ts'
import { tokensJson } from './usage.ts'

/** A session as it was just seen: its newest run, converged, with what could be told about its processes. */
export type SessionView = {
  readonly session: Session
  readonly run: Run
  readonly liveness: 'alive' | 'dead' | 'unknown'
  readonly pid: number | null
  /** What its agent is at; null or left out: nobody can tell. */
  readonly activity?: Activity | null
  /** The first words of its conversation, where they were looked for; null: nobody knows them. */
  readonly about?: string | null
  /** What could not be told, or what is under way. */
  readonly note: string | null
  /** The runs that were started in it, where they were asked for. */
  readonly tasks: readonly TaskView[]
  readonly usage?: Usage | null
  /** What its agent says it has burned: in this run, in all of its runs, and since nobody watches it. */
  readonly tokens?: {
    readonly run: Tokens | null
    readonly session: Tokens | null
    /** Whether all that was written of it has been read. */
    readonly whole: boolean
    readonly unwatched: { readonly since: number; readonly tokens: Tokens } | null
  }
  /** What it says of its own work, and how many messages wait for it, where they were asked for. */
  readonly said?: Said
  readonly unread?: number
  /** How many of them were sent to a run that is over. */
  readonly unreadEarlier?: number
  /** Whether its agent is really in the cgroup that was made for it, where that was looked at. */
  readonly entered?: boolean
  /** The worktree of ours that it works in. */
  readonly worktree?: WorktreeView | null
  /** Those it works beside on purpose, and those in other worktrees of its repository, where they were asked for. */
  readonly sharedWith?: readonly string[]
  readonly neighbours?: readonly string[]
  /** Other live owners of its native id, where they were looked for. */
  readonly duplicateOf?: readonly OwnerView[]
}

/** `gone`: it was removed; resume makes it again, if its repository and branch are known. */
export type WorktreeView = { readonly path: string; readonly branch: string | null; readonly repository: string | null; readonly gone?: true }

/** A task, or a run that was started inside. `nested`: an agent that lives inside the session, and is on no record yet. */
export type TaskView = { readonly run: Run; readonly usage: Usage | null; readonly nested?: NestedView }

export type NestedView = {
  readonly harness: string
  readonly nativeId: string | null
  readonly pid: number
  /** The process that started it; null: that was gone when it was first seen. */
  readonly startedBy: { readonly pid: number; readonly name: string } | null
  /** It has burned since then, while nobody watched its session; left out: it has not. */
  readonly unwatched?: UnwatchedTime
}

const nestedJson = ({ unwatched, ...nested }: NestedView): Record<string, unknown> => ({
  ...nested,
  unwatched: unwatched === undefined ? null : { since: iso(unwatched.since), why: unwatched.why },
})

export const taskJson = ({ run, usage, nested }: TaskView): Record<string, unknown> => ({
  session: run.session,
  run: run.id,
  state: run.state,
  onRetire: run.task,
  argv: run.argv,
  startedAt: iso(run.startedAt),
  endedAt: iso(isLive(run) ? null : run.endedAt),
  exit: isLive(run) ? null : run.exit,
  reason: isLive(run) ? null : run.reason,
  usage: usageJson(usage),
  ...(nested === undefined ? {} : { nested: nestedJson(nested) }),
})

/** The stable object of each entry of `task ls --json`. `parent`: the session that it is a task of. */
export const ownedTaskJson = (task: TaskView & { readonly parent: string }): Record<string, unknown> => ({ ...taskJson(task), parent: task.parent })

/** The stable object of `task start --json`. */
export const startedTaskJson = ({ id, session, epoch, parent, task }: RunBase, pid: number): Record<string, unknown> => ({
  session,
  run: id,
  epoch,
  pid,
  parent,
  onRetire: task,
})

const orNull = (tokens: Tokens | null | undefined): Record<string, unknown> | null => (tokens == null ? null : tokensJson(tokens))

/** What was burned: by the machine's count, and by what the agent says. */
export function usageJson(usage: Usage | null, tokens?: SessionView['tokens']): Record<string, unknown> | null {
  const said = tokens?.run ?? usage?.tokens ?? null
  if (usage === null && said === null && (tokens?.session ?? null) === null) return null
  return {
    cpuMs: usage?.cpuMs ?? null,
    whole: usage?.whole ?? false,
    tokens: orNull(said),
    ...(tokens === undefined ? {} : { sessionTokens: orNull(tokens.session), tokensWhole: tokens.whole, unwatched: unwatchedJson(tokens) }),
  }
}

const unwatchedJson = ({ unwatched }: NonNullable<SessionView['tokens']>): Record<string, unknown> | null =>
  unwatched === null ? null : { since: iso(unwatched.since), tokens: tokensJson(unwatched.tokens) }

/** Its tmux session, by the name that it has on that socket. */
export const paneJson = ({ socket, name }: Pane): Record<string, unknown> => ({ socket, session: name })

/** What came of typing to a session. */
export const sentIntoText = ({ session, taken, why }: { session: string; taken: 'yes' | 'typed' | 'unknown' | 'no'; why: string }): string =>
  `${session} ${{ yes: 'has taken it', typed: 'was typed to', unknown: 'may have taken it', no: 'has not taken it' }[taken]}: ${why}`
export const activityJson = (activity: Activity | null): Record<string, unknown> | null =>
  activity === null ? null : { state: activity.state, since: iso(activity.since), how: activity.how }

/** The stable object of `status --json` and of each entry of `ls --json`. */
export function sightJson(sight: SessionView): Record<string, unknown> {
  const { session, run, liveness, pid, note, tasks, usage = null, entered } = sight
  const ended = isLive(run) ? null : run
  return {
    session: session.id,
    name: session.name,
    run: run.id,
    epoch: run.epoch,
    state: run.state,
    liveness,
    pid,
    keeper: run.keeper?.pid ?? null,
    dir: run.dir,
    harness: session.harness,
    nativeId: session.native,
    argv: run.argv,
    detached: run.detached,
    tmux: run.tmux && paneJson(run.tmux),
    startedAt: iso(run.startedAt),
    endedAt: iso(ended?.endedAt ?? null),
    exit: ended?.exit ?? (run.state === 'stopping' ? run.exit : null),
    reason: ended?.reason ?? (run.state === 'stopping' ? (run.intent?.reason ?? null) : null),
    evidence: ended?.evidence ?? [],
    endedBy: ended?.by ?? null,
    activity: activityJson(sight.activity ?? null),
    note,
    survivors: run.state === 'stopping' ? run.survivors : [],
    owner:
      ended === null
        ? {
            host: run.host,
            user: run.user,
            pid: pid ?? run.keeper?.pid ?? run.launcher.pid,
            since: iso(run.startedAt),
            tty: run.tty,
            attach: attachCommand(run),
          }
        : null,
    parent: run.parent,
    tasks: tasks.map(taskJson),
    usage: usageJson(usage ?? ended?.usage ?? null, sight.tokens),
    budget: run.budget,
    budgetCost: run.budgetCost,
    containment: entered === undefined ? run.containment : { ...run.containment, entered },
    adopted: run.adopted,
    worktree: sight.worktree ?? null,
    ...(sight.said === undefined ? {} : { said: saidJson(sight.said) }),
    ...(sight.unread === undefined ? {} : { unread: sight.unread }),
    ...(sight.unreadEarlier === undefined ? {} : { unreadEarlier: sight.unreadEarlier }),
    ...(sight.sharedWith === undefined ? {} : { sharedWith: sight.sharedWith }),
    ...(sight.neighbours === undefined ? {} : { neighbours: sight.neighbours }),
  }
}

export const saidJson = ({ plan, result }: Said): Record<string, unknown> => ({
  plan: plan === null ? null : { text: plan.text, at: iso(plan.at) },
  result: result === null ? null : { text: result.text, at: iso(result.at) },
})

export const suspectJson = ({ row, pro, contra }: Suspect): Record<string, unknown> => ({ pid: row.pid, name: row.name, uid: row.uid, pro, contra })
export const sparedJson = ({ row, why }: Spared): Record<string, unknown> => ({ pid: row.pid, name: row.name, why })

export const memberJson = ({ row, proof, ports }: Member): Record<string, unknown> => ({
  pid: row.pid,
  parent: row.parent,
  group: row.group,
  session: row.session,
  uid: row.uid,
  state: row.state,
  name: row.name,
  proof,
  ports: ports ?? [],
})
