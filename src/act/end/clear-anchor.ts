import type { Anchor, AnchorFile, AnchorVerdict, ForeignFiles } from '../../model/index.ts'

/** What may be asked about an anchor, each time anew, and done to its files. */
export type AnchorPorts = {
  readonly read: (anchor: Anchor) => Anchor | null
  readonly judge: (anchor: Anchor) => AnchorVerdict
  /** What a file is, to be told from whatever may come in its place; null: it is not there. */
  readonly stampOf: (path: string) => string | null
  readonly files: ForeignFiles
}

/**
 * Removes the files of a dead process's anchor, and nothing that has come in their place meanwhile. Answers why it stays, if it does; null: it is
 * gone. Each file is read and judged again right before. Then it is taken aside in one step, so that what is looked at last is what will go.
 */
export function clearAnchor(anchor: Anchor, hands: AnchorPorts): string | null {
  if (anchor.files.length === 0) return 'it is the session itself, which its harness sees to'
  for (const file of anchor.files) {
    const now = hands.read(anchor)
    if (now === null) return GONE
    const verdict = hands.judge(now)
    if (verdict.kind !== 'dead') return verdict.why
    if (!now.files.some(({ path, stamp }) => path === file.path && stamp === file.stamp)) return CHANGED
    const stays = removeJudged(file, now, hands)
    if (stays !== null) return stays
  }
  return null
}

function removeJudged({ path, stamp }: AnchorFile, judged: Anchor, { judge, stampOf, files }: AnchorPorts): string | null {
  const aside = files.aside(path)
  const trouble = files.rename(path, aside)
  if (trouble !== null) return trouble === 'ENOENT' ? GONE : `it could not be removed (${trouble})`
  if (stampOf(aside) === stamp && judge(judged).kind === 'dead') {
    const stuck = files.remove(aside)
    return stuck === null ? null : `it was taken aside as ${aside}, and could not be removed (${stuck})`
  }
  const back = files.link(aside, path)
  if (back !== null && back !== 'EEXIST') return `${CHANGED}, and lies at ${aside} now (${back})`
  // Where there is another by its name already, that is the newer one of whoever writes there.
  files.remove(aside)
  return CHANGED
}

const GONE = 'somebody else removed it'
const CHANGED = 'it changed while we looked'
