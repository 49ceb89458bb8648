import { type Change, type Cleared, clearAnchors, examine, type Litter, prune, reconcile, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { anchorsFixedText, changeText, findingsText, litterText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed } from '../options.ts'
import { pageFor, paintFor, print, printJson } from '../out.ts'

export const doctor: Command = {
  name: 'doctor',
  group: 'maintenance',
  summary: 'tell what is wrong here, and what to do about it',
  arguments: [],
  options: [
    flag('fix', 'reconcile and prune first, and remove stale files of agents that are proven dead'),
    flag('verbose', 'tell everything that was looked at, with the next step for each', 'v'),
  ],
  handlesConfigTrouble: true,
  more: () => ({
    description: [
      'Tells which agents are here, whether they report to Holdfast, and what to do about each trouble. Trouble comes first.',
      'With --verbose it also tells which proofs are missing, and which files of agents about their own processes are stale.',
      'Processes that only look related to a session are shown by tree S --suspects, and by nothing else.',
      'With --fix the command first does everything that is safe without your word, and tells why the rest stayed.',
    ],
    examples: [
      ['doctor', 'Findings are listed with the next step for each.'],
      ['doctor --fix', 'Ends are recorded and leftovers removed before the findings are listed.'],
    ],
    exits: { done: 'nothing is wrong', unproven: 'something is wrong that needs a person', survivors: 'processes survive that should have ended' },
  }),
  run: doctorVerb,
}

async function doctorVerb(world: World, parsed: Parsed): Promise<number> {
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
    print(findingsText(findings, paintFor(1), pageFor(1), parsed.flags.has('verbose')))
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
