import type { DuplicateOwners, NativeClaim } from '../model/index.ts'

/** Native ids that more than one live process owns: all of them write to the same transcript. */
export function duplicateOwners(claims: readonly NativeClaim[]): DuplicateOwners[] {
  const owners = withoutEchoes(strongestOfEach(claims))
  const groups = new Map<string, NativeClaim[]>()
  for (const owner of owners) groups.set(keyOf(owner), [...(groups.get(keyOf(owner)) ?? []), owner])
  return [...groups.values()].flatMap((group): DuplicateOwners[] => {
    const [first] = group
    if (first === undefined || group.length < 2) return []
    const { harness, nativeId } = first
    const certain = group.filter(({ how }) => how !== 'named').length > 1
    return [{ harness, nativeId, owners: group.toSorted((a, b) => a.pid - b.pid), certain }]
  })
}

const keyOf = ({ harness, nativeId }: NativeClaim): string => `${harness} ${nativeId}`

/** An agent has one session at a time: what is known best of a process contradicts whatever else is said of it. */
export function strongestOfEach(claims: readonly NativeClaim[]): NativeClaim[] {
  const best = new Map<number, NativeClaim>()
  for (const claim of claims) {
    const known = best.get(claim.pid)
    if (known === undefined || STRENGTH[claim.how] > STRENGTH[known.how]) best.set(claim.pid, claim)
  }
  return [...best.values()]
}
const STRENGTH = { proven: 2, recorded: 1, named: 0 } as const

/** What is on record of a session is said of its agent, whichever of its processes that is: no second owner. */
const withoutEchoes = (claims: readonly NativeClaim[]): NativeClaim[] =>
  claims.filter((one) => one.how !== 'recorded' || !claims.some((other) => other.how !== 'recorded' && isSaidOfSame(one, other)))

const isSaidOfSame = (one: NativeClaim, other: NativeClaim): boolean => one.session === other.session && keyOf(one) === keyOf(other)
