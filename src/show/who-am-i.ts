import type { Self } from '../model/index.ts'
import { plain } from './paint.ts'
import { iso } from './time.ts'

/** Who the caller is, and what proves it. */
export type WhoView = Self

export function whoText(self: WhoView): string[] {
  if (self.kind === 'nobody') return [`you are in no session: ${plain(self.why)}`]
  if (self.kind === 'agent') return [`you are in no session, but in ${plain(self.agent.harness)} (pid ${self.agent.row.pid}): ${plain(self.why)}`]
  const { session, run, how, why, note } = self
  const names = [session.name, session.native].filter((name) => name !== null && name !== session.id)
  return [
    `${session.id}${names.length === 0 ? '' : ` (${plain(names.join(', '))})`}: run ${run.id}, epoch ${run.epoch}, in ${plain(run.dir)}`,
    `proof: ${how}; ${plain(why)}`,
    ...(note === null ? [] : [`note: ${plain(note)}`]),
  ]
}

/** The stable object of `whoami --json`. */
export function whoJson(self: WhoView): Record<string, unknown> {
  const session = self.kind === 'session' ? self : null
  const agent = self.kind === 'agent' ? self.agent : null
  return {
    kind: self.kind,
    session: session?.session.id ?? null,
    name: session?.session.name ?? null,
    run: session?.run.id ?? null,
    epoch: session?.run.epoch ?? null,
    parent: session?.run.parent ?? null,
    task: session?.run.task ?? null,
    dir: session?.run.dir ?? agent?.cwd ?? null,
    harness: session?.session.harness ?? agent?.harness ?? null,
    nativeId: session?.session.native ?? agent?.nativeId ?? null,
    /** An agent that Holdfast did not start: which one, and the session in which somebody else did. */
    agentPid: agent?.row.pid ?? null,
    inside: self.kind === 'agent' ? self.inside : null,
    since: session === null ? null : iso(session.run.startedAt),
    how: session?.how ?? null,
    why: self.why,
    note: session?.note ?? null,
  }
}
