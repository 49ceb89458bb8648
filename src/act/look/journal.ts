import { nextJournal } from '../../decide/index.ts'
import type { Member, Policy } from '../../model/index.ts'
import type { Lookable, LookPorts } from '../ports.ts'

type Writer = LookPorts & { readonly policy: Policy }

/** The same members, with where they listen. */
export function withPorts(members: readonly Member[], { processes, policy }: Writer): Member[] {
  const ports = processes.ports(members.slice(0, policy.portsAsked).map(({ row }) => row.pid))
  return members.map((member) => ({ ...member, ports: ports.get(member.row.pid) ?? [] }))
}

/** Writes down who was seen, so that one who loses every other proof is still known. Nothing new costs nothing. */
export function remember(run: Lookable, members: readonly Member[], { evidence, policy }: Writer): void {
  const next = nextJournal(evidence.journal(run.id), members, policy.journalSize)
  if (next !== null) evidence.recordJournal(run.id, next)
}
