import type { SpareRule } from '../model/index.ts'

/** Names are cut off at 15 bytes by the kernel. */
const NAME_LENGTH = 15

/** Why this process is left alone although it was born in a run, or null. The command line is read only where the name fits. */
export function spareReason(name: string, argv: () => readonly string[], rules: readonly SpareRule[]): string | null {
  const named = rules.filter((rule) => rule.named.some((candidate) => candidate.slice(0, NAME_LENGTH) === name))
  if (named.length === 0) return null
  const line = argv().join(' ')
  const says = (word: string): boolean => line.includes(word)
  return named.find(({ saying = [], unless = [] }) => saying.every(says) && !unless.some(says))?.what ?? null
}
