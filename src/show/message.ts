import type { Inbox, Message, Sender, Sent } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { age, iso } from './time.ts'

export function senderText({ session, agent, user, host }: Sender): string {
  if (session !== null) return session
  if (agent === null) return `${user}@${host}, outside every session`
  return `${agent.harness}, an agent ${agent.inside === null ? 'outside every session' : `inside session ${agent.inside}`}`
}

/** `inbox`: who, when, and what it says, which may have several lines. */
export function messageText({ messages, left }: Inbox, now: number, paint: Paint): string[] {
  if (messages.length === 0) return [paint.dim('no messages')]
  const lines = messages.flatMap(({ from, at, to, text, sentTo }) => [
    `${paint.bold(plain(senderText(from)))} ${paint.dim(`${age(now - at)} ago${to === 'session' ? '' : `, to ${to === 'all' ? 'all' : 'all here'}`}${earlierText(sentTo, now)}`)}`,
    ...text.split('\n').map((line) => `  ${plain(line)}`),
  ])
  return left === 0 ? lines : [...lines, paint.dim(moreText(left))]
}

/** For whom it was, where that run has read nothing any more. */
const earlierText = (sentTo: Message['sentTo'], now: number): string =>
  sentTo === undefined
    ? ''
    : `, to the run before (${sentTo.run}${sentTo.endedAt === null ? '' : `, ended ${age(now - sentTo.endedAt)} ago`}), which did not read it`

export const moreText = (left: number): string => `${left} more ${left === 1 ? 'waits' : 'wait'}: holdfast inbox`

/** An entry of `inbox --json`. */
export const messageJson = ({ seq, at, expiresAt, from, to, text, sentTo }: Message): Record<string, unknown> => ({
  message: seq,
  at: iso(at),
  expiresAt: iso(expiresAt),
  from: { ...from },
  to,
  text,
  sentTo: sentTo === undefined ? null : { run: sentTo.run, endedAt: iso(sentTo.endedAt) },
})

export const sentText = ({ reached, notes }: Sent & { readonly notes: readonly string[] }): string[] => [
  reached.length === 0 ? 'nobody else is there: it was sent to nobody' : `sent to ${reached.join(', ')}`,
  ...notes,
]
