import type { DuplicateOwners, NativeClaim } from '../model/index.ts'

/** Who else owns a session's native id. */
export type OwnerView = Pick<NativeClaim, 'session' | 'pid' | 'how'>

export const ownerJson = ({ session, pid, how }: OwnerView): Record<string, unknown> => ({ session, pid, how })

/** `claude session X has two live owners: …`, with how each of them is known. */
export function duplicateText({ harness, nativeId, owners, certain }: DuplicateOwners): string {
  const count = COUNTS[owners.length] ?? String(owners.length)
  const told = `${harness} session ${nativeId} ${certain ? 'has' : 'seems to have'} ${count} live owners: ${owners.map(ownerText).join(' and ')}`
  return `${told}; ${harm(owners.length, certain)}`
}
const COUNTS = ['no', 'one', 'two', 'three']
const harm = (count: number, certain: boolean): string =>
  `${count > 2 ? 'all of them' : 'both'} ${certain ? '' : 'would '}write to the same transcript`

/** How the others are told of on the line of one of them. */
export function alsoOwnedText(others: readonly OwnerView[]): string {
  const certain = others.some(({ how }) => how !== 'named')
  return `${certain ? '' : 'perhaps '}also owned by ${others.map(ownerText).join(' and ')}: ${harm(others.length + 1, certain)}`
}

const ownerText = ({ pid, session, how }: OwnerView): string => `pid ${pid} (${session === null ? 'not managed' : `session ${session}`}, ${HOW[how]})`

const HOW: Readonly<Record<NativeClaim['how'], string>> = {
  proven: 'says its harness',
  recorded: 'on record',
  named: 'by its command line',
}

/** What ends one of them and leaves the other. */
export function duplicateAdvice({ owners }: DuplicateOwners): string {
  const alone = owners.filter(({ session }) => session !== null && owners.filter((other) => other.session === session).length === 1)
  const byHand = owners.filter((owner) => !alone.includes(owner))
  const ways = [
    ...alone.map(({ session }) => `holdfast stop ${session}`),
    ...(byHand.length === 0 ? [] : [`end pid ${byHand.map(({ pid }) => pid).join(' or ')} yourself`]),
  ]
  return `end ${owners.length > 2 ? 'all but one' : 'one'} of them: ${ways.join(', or ')}`
}
