import { test } from 'vitest'

/** Every promise of the design (§2), as data. `later` names what of it comes with a later part, and is no excuse for the rest. */
export type Requirement = { readonly promise: string; readonly from: string; readonly due: boolean; readonly later?: string }

const design = 'design §2'
export const requirements = {
  'one-owner': {
    promise:
      'At any instant at most one live process tree carries a session; a second start attaches, waits, refuses naming the holder, or retires the first with proof.',
    from: `${design}; seed 000; failures A01–A12, E04`,
    due: true,
  },
  gate: {
    promise: 'No instruction of the harness runs before a durable row names its epoch, its marker and its keeper.',
    from: `${design}; failures E10, E11`,
    due: true,
  },
  epoch: {
    promise: "A session's epoch only grows; every write carries it in one conditional statement; zero rows changed means lost.",
    from: `${design}; seed 002; failures G15`,
    due: true,
  },
  final: {
    promise: 'A terminal state is final. Starting again makes a new run. A late writer changes nothing.',
    from: `${design}; seed 002.1; failures E02, E05, E06`,
    due: true,
  },
  unknown: {
    promise: 'What could not be proven is unknown, and unknown never kills, frees, finishes or hides anything.',
    from: `${design}; failures B06, B07, B14`,
    due: true,
  },
  identity: {
    promise: 'A process is pid, raw start ticks, boot, namespaces, machine and marker; it is looked at again right before every signal.',
    from: `${design}; seed 002.6; failures B01–B11`,
    due: true,
  },
  'stop-proof': {
    promise: 'Stop reports success only after the whole tree was seen gone; otherwise it lists the survivors.',
    from: `${design}; failures D17`,
    due: true,
  },
  evidence: {
    promise: 'An exit code or signal comes from evidence. No evidence: lost, with the reason.',
    from: `${design}; seed 002.2; failures E03, E07`,
    due: true,
  },
  'lock-life': {
    promise: 'A directory lock lasts exactly as long as the process tree (or named process) that holds it, and depends on no session bookkeeping.',
    from: `${design}; failures C01–C12, C14`,
    due: true,
  },
  'clean-env': {
    promise: "A child gets no other agent's identity.",
    from: `${design}; seed 002.4; failures H02, H03`,
    due: true,
    later: 'adapters add their own variables',
  },
  self: {
    promise: 'A session is never its own sibling, and a rebind leaves no old row.',
    from: `${design}; seed 004; failures H01`,
    due: true,
  },
  visible: {
    promise: 'A failure is seen: health with cause and next retry, non-zero exit, an event with its reason.',
    from: `${design}; failures E14`,
    due: true,
  },
  bounded: { promise: 'Every loop, wait, retry, queue, log and captured output has a named bound.', from: `${design}; failures F10`, due: true },
  private: {
    promise:
      'State is 0700/0600 from creation, sockets lie in a private folder, HTTP is loopback with a token and checks Host and Origin, ids are checked against a strict grammar, no secret goes into argv or logs.',
    from: `${design}; failures J01–J07`,
    due: true,
  },
  named: {
    promise: 'A command that names a conversation, session, question or request acts on exactly that one, or refuses.',
    from: design,
    due: true,
  },
  'one-end': {
    promise: 'Every request reaches exactly one terminal state with a typed reason. Its pending feedback ends in the same transaction.',
    from: `${design}; failures E12, E13, I01`,
    due: true,
  },
  innocent: { promise: 'Nothing that the session did not start is ever signalled.', from: `${design}; failures D07, D11, D12, D14`, due: true },
} as const satisfies Record<string, Requirement>

export type RequirementId = keyof typeof requirements

/** A test that cites the promise it proves. */
export function verifies(id: RequirementId, what: string, body: () => void | Promise<void>, timeoutMs?: number): void {
  test(`[${id}] ${what}`, body, timeoutMs)
}
