import { dirname } from 'node:path'
import { type AnchorPorts, clearAnchor } from '../../act/index.ts'
import { type AnchorFacts, anchorVerdict } from '../../decide/index.ts'
import { allAnchors, anchorNow, isProgramOf, stampOf } from '../../harness/index.ts'
import { foreignFiles } from '../../keep/index.ts'
import type { AnchorVerdict } from '../../model/index.ts'
import { INITIAL_TIME_NAMESPACE } from '../../model/index.ts'
import { anchorFindings, anchorText, type Finding, type JudgedAnchor } from '../../show/index.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import type { Litter } from './removable.ts'

type AnchorWorld = Pick<World, 'directories' | 'env' | 'processes' | 'toolPidFiles'>

/** What agents of this user wrote about their processes, and what is true of it. Changes nothing. */
export function aboutAnchors(world: AnchorWorld & Pick<World, 'policy'>): Finding[] {
  const { judged, cut } = judgedAnchors(world)
  return anchorFindings(judged, cut, world.policy.anchorsNamed)
}

/** What came of an anchor. `before`: what was found of it. */
export type Cleared = { readonly before: AnchorVerdict['kind']; readonly litter: Litter }

/** Removes those of proven dead processes, and says of each other one why it stays. A lock file that nobody holds is as it should be, and not told of. */
export function clearAnchors(world: AnchorWorld): Cleared[] {
  const hands = handsOf(world)
  return judgedAnchors(world)
    .judged.filter(({ verdict }) => verdict.kind !== 'free')
    .map(({ anchor, verdict }) => {
      const stays = verdict.kind === 'dead' ? clearAnchor(anchor, hands) : verdict.why
      const about = { kind: 'anchor', what: anchorText(anchor) } as const
      return { before: verdict.kind, litter: stays === null ? { ...about, why: verdict.why, keep: false } : { ...about, why: stays, keep: true } }
    })
}

/** The same at the start of a daemon or of an MCP server: answers what was removed. A living or doubtful process keeps its files, however old they are. */
export const sweepAnchors = (world: AnchorWorld): string[] => clearAnchors(world).flatMap(({ litter }) => (litter.keep ? [] : [litter.what]))

function judgedAnchors(world: AnchorWorld): {
  readonly judged: readonly JudgedAnchor[]
  readonly cut: readonly string[]
} {
  const { anchors, cut } = allAnchors(world.env, world.toolPidFiles())
  return { judged: anchors.map((anchor) => ({ anchor, verdict: anchorVerdict(anchor, eyesOf(world)) })), cut }
}

const handsOf = (world: AnchorWorld): AnchorPorts => ({
  read: (anchor) => anchorNow(anchor, world.toolPidFiles()),
  judge: (anchor) => anchorVerdict(anchor, eyesOf(world)),
  stampOf,
  files: foreignFiles,
})

function eyesOf({ directories, processes }: AnchorWorld): AnchorFacts {
  const place = processes.here()
  return {
    here: place,
    sample: processes.sample,
    ticksAreTrue: place.timeNamespace === '' || place.timeNamespace === INITIAL_TIME_NAMESPACE,
    isProgramOf: (row, harness) => {
      const candidate = candidateOf(processes, row)
      return candidate.exe === null ? null : isProgramOf(candidate, harness)
    },
    isNamespaceGone: processes.isNamespaceGone,
    namesakes: processes.namesakes,
    sharedBy: (path) => directories.sharedFileSystem(dirname(path)),
  }
}
