import type { SourceItem, SourceSettings } from '../../model/index.ts'

/** Whether an item of a list may become a request now. */
export type Intake = { readonly item: SourceItem; readonly repo: string } | { readonly item: SourceItem; readonly skipped: SkipReason }
type SkipReason = 'closed' | 'known' | 'label' | 'repository' | 'blocked' | 'full'

/** The items of a list by priority and age, each with its place or the reason why it is left. `known`: keys that were taken before. `room`: so many more. */
export function intake(
  items: readonly SourceItem[],
  settings: SourceSettings,
  known: (key: string) => 'open' | 'done' | 'over' | null,
  room: number,
): Intake[] {
  const listed = new Set(items.filter(({ closed }) => closed === null).map(({ id }) => id))
  // A blocker counts as long as the source lists it, or we have not done it.
  const isOpen = (key: string): boolean => listed.has(key) || known(key) === 'open'
  let left = room
  return items.toSorted(byPriority).map((item): Intake => {
    if (item.closed !== null) return { item, skipped: 'closed' }
    if (known(item.id) !== null) return { item, skipped: 'known' }
    if (settings.labels.length > 0 && !settings.labels.some((label) => item.labels.includes(label))) return { item, skipped: 'label' }
    const repo = item.repository === null ? settings.repo : (settings.repositories[item.repository] ?? null)
    if (repo === null) return { item, skipped: 'repository' }
    if (item.blockedBy.some(isOpen)) return { item, skipped: 'blocked' }
    if (left <= 0) return { item, skipped: 'full' }
    left--
    return { item, repo }
  })
}

const byPriority = (a: SourceItem, b: SourceItem): number =>
  (a.priority ?? Number.MAX_SAFE_INTEGER) - (b.priority ?? Number.MAX_SAFE_INTEGER) || (a.createdAt ?? 0) - (b.createdAt ?? 0)
