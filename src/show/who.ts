import type { Agent, LiveRun, SelfProof, Session } from '../model/index.ts'
import { plain } from './paint.ts'
import { iso } from './time.ts'

/** Who the caller is, and what proves it. */
export type WhoSight =
  | { readonly kind: 'session'; readonly session: Session; readonly run: LiveRun; readonly how: SelfProof; readonly why: string }
  | { readonly kind: 'agent'; readonly agent: Agent; readonly why: string }
  | { readonly kind: 'nobody'; readonly why: string }

export function whoText(self: WhoSight): string[] {
  if (self.kind === 'nobody') return [`you are in no session: ${self.why}`]
  if (self.kind === 'agent') return [`you are in no session, but in ${self.agent.harness} (pid ${self.agent.row.pid}): ${self.why}`]
  const { session, run, how, why } = self
  const names = [session.name, session.native].filter((name) => name !== null && name !== session.id)
  return [
    `${session.id}${names.length === 0 ? '' : ` (${names.join(', ')})`}: run ${run.id}, epoch ${run.epoch}, in ${plain(run.dir)}`,
    `proof: ${how}; ${why}`,
  ]
}

/** The stable object of `whoami --json`. */
export function whoJson(self: WhoSight): Record<string, unknown> {
  const session = self.kind === 'session' ? self : null
  return {
    session: session?.session.id ?? null,
    name: session?.session.name ?? null,
    run: session?.run.id ?? null,
    epoch: session?.run.epoch ?? null,
    parent: session?.run.parent ?? null,
    dir: session?.run.dir ?? (self.kind === 'agent' ? self.agent.cwd : null),
    harness: session?.session.harness ?? (self.kind === 'agent' ? self.agent.harness : null),
    nativeId: session?.session.native ?? (self.kind === 'agent' ? self.agent.nativeId : null),
    since: session === null ? null : iso(session.run.startedAt),
    how: session?.how ?? null,
    why: self.why,
  }
}
