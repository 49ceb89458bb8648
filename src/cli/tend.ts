import { type Change, type Cleared, clearAnchors, examine, type Litter, prune, reconcile, resolveGone, type World } from '../app/index.ts'
import { exitCode, isLive, Problem } from '../model/index.ts'
import { anchorsFixedText, changeText, findingsText, litterText } from '../show/index.ts'
import { noWords, oneWord, type Parsed } from './options.ts'
import { paintFor, print, printJson } from './out.ts'

export async function reconcileVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'reconcile')
  const changes = await reconcile(world)
  if (parsed.flags.has('json')) printJson(changes)
  else print(changes.length === 0 ? ['nothing to do'] : changes.flatMap(changeText))
  return changes.some(({ survivors }) => survivors.length > 0) ? exitCode.survivors : exitCode.done
}

export async function pruneVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'prune')
  const dryRun = parsed.flags.has('dry-run')
  const found = await prune(world, dryRun)
  if (parsed.flags.has('json')) printJson(found)
  else print(litterText(found, dryRun))
  return exitCode.done
}

export async function resolveVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'resolve')
  if (!parsed.flags.has('gone'))
    throw new Problem('option-missing', 'resolve needs your word: --gone', { hint: `holdfast status ${reference} says what could not be proven` })
  const run = await resolveGone(world, reference)
  if (parsed.flags.has('json')) printJson({ session: run.session, run: run.id, state: run.state, reason: isLive(run) ? null : run.reason })
  else print([`${run.session} ${run.state}${isLive(run) ? '' : `: ${run.reason}`}`])
  return exitCode.done
}

/** With --fix it also does what can be done without anybody's word. */
export async function doctorVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'doctor')
  const json = parsed.flags.has('json')
  const fixed = parsed.flags.has('fix') ? await fix(world) : null
  const findings = await examine(world)
  if (json)
    printJson(
      fixed === null ? { findings } : { findings, changes: fixed.changes, removed: [...fixed.litter, ...fixed.anchors.map(({ litter }) => litter)] },
    )
  else {
    if (fixed !== null) print(fixedText(fixed))
    print(findingsText(findings, paintFor(1)))
  }
  const troubles = findings.filter(({ level }) => level === 'trouble').map(({ what }) => what)
  if (troubles.some((what) => what.startsWith('survivor'))) return exitCode.survivors
  return troubles.length > 0 ? exitCode.unproven : exitCode.done
}

type Fixed = { readonly changes: readonly Change[]; readonly litter: readonly Litter[]; readonly anchors: readonly Cleared[] }

const fix = async (world: World): Promise<Fixed> => ({
  changes: await reconcile(world),
  litter: await prune(world, false),
  anchors: clearAnchors(world),
})

/** What lives is counted only. */
function fixedText({ changes, litter, anchors }: Fixed): string[] {
  const told = anchors.filter(({ before }) => before !== 'alive').map(({ litter: one }) => one)
  const removed = told.filter(({ keep }) => !keep).length
  const counted = anchorsFixedText(
    anchors.map(({ before }) => before),
    removed,
  )
  return [...changes.flatMap(changeText), ...litterText([...litter, ...told], false), ...counted]
}
