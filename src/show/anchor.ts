import type { Anchor, AnchorVerdict } from '../model/index.ts'
import type { Finding } from './doctor.ts'

/** An anchor, and what is true of it. */
export type JudgedAnchor = { readonly anchor: Anchor; readonly verdict: AnchorVerdict }

/** `/x/sessions/12.json (pid 12, claude session ID)` */
export function anchorText({ harness, nativeId, path, says }: Anchor): string {
  const whose = nativeId === null ? harness : `${harness} session ${nativeId}`
  return `${path} (${says.kind === 'process' ? `pid ${says.pid}, ` : ''}${whose})`
}

/** The living in one line; each of the others by itself, up to a bound, with why it is what it is and what can be done. */
export function anchorFindings(judged: readonly JudgedAnchor[], cut: readonly string[], most: number): Finding[] {
  const of = (kind: AnchorVerdict['kind']): JudgedAnchor[] => judged.filter(({ verdict }) => verdict.kind === kind)
  return [
    ...wellText(of('alive'), of('free')),
    ...each(of('dead'), most, 'dead processes left', ({ files }) =>
      files.length > 0 ? 'holdfast doctor --fix removes it' : 'it stays: it is the session itself, which its harness sees to',
    ),
    ...each(of('unknown'), most, 'cannot be judged', () => 'it stays; look from where it was written'),
    ...each(of('malformed'), most, 'make no sense', () => 'nobody is looked for because of it, and it stays; look at it yourself'),
    ...cut.map((harness) => note(`there are more of ${harness} than were looked at`, null)),
  ]
}

function wellText(alive: readonly JudgedAnchor[], free: readonly JudgedAnchor[]): Finding[] {
  const said = [
    ...(alive.length === 0 ? [] : [`${alive.length} ${alive.length === 1 ? 'anchor is' : 'anchors are'} of living agents (${countsText(alive)})`]),
    ...(free.length === 0
      ? []
      : [`${free.length} lock ${free.length === 1 ? 'file' : 'files'} that nobody holds, as ${harnessesOf(free)} leaves them`]),
  ]
  return said.length === 0 ? [] : [{ topic: TOPIC, level: 'fine', what: said.join('; '), next: null }]
}

function each(judged: readonly JudgedAnchor[], most: number, what: string, next: (anchor: Anchor) => string): Finding[] {
  const named = judged.slice(0, most).map(({ anchor, verdict }) => note(`${anchorText(anchor)}: ${verdict.why}`, next(anchor)))
  const more = judged.length - named.length
  return more > 0 ? [...named, note(`and ${more} more that ${what}`, null)] : named
}

/** What `doctor --fix` did about them, in one line; nothing, if there are none. */
export function anchorsFixedText(judged: readonly AnchorVerdict['kind'][], removed: number): string[] {
  const kinds = ['alive', 'dead', 'unknown', 'malformed'] as const
  const stayed = kinds.flatMap((kind) => {
    const count = judged.filter((one) => one === kind).length - (kind === 'dead' ? removed : 0)
    return count > 0 ? [`${count} ${kind}`] : []
  })
  if (removed === 0 && stayed.length === 0) return []
  return [`anchors of agents: ${removed} removed${stayed.length === 0 ? '' : `; stayed: ${stayed.join(', ')}`}`]
}

const TOPIC = 'anchors'
const note = (what: string, next: string | null): Finding => ({ topic: TOPIC, level: 'note', what, next })
const harnessesOf = (judged: readonly JudgedAnchor[]): string => [...new Set(judged.map(({ anchor }) => anchor.harness))].join(', ')

function countsText(judged: readonly JudgedAnchor[]): string {
  const names = judged.map(({ anchor }) => anchor.harness)
  return [...new Set(names)].map((name) => `${names.filter((one) => one === name).length} ${name}`).join(', ')
}
