import type { Launch, RunRecord } from '../../model/index.ts'
import { beginUsage, beginUsageNew, recordPlaces } from '../usage/usage-baseline.ts'
import type { Plan } from './plan.ts'

/** The run's directory, with what its agent will read, the conversation that it is known to carry, and what that has burned so far. */
export function equip({ world, spoken }: Plan, run: RunRecord): Pick<Launch, 'follow' | 'stdin'> {
  const { runRecords, agentState } = world
  const { harness, native, prompt } = spoken
  runRecords.create(run)
  const stdin = prompt === null ? null : agentState.recordPrompt(run.id, prompt)
  if (harness === null) return { follow: null, stdin }
  recordPlaces(world, run.id, world.env)
  if (native !== null) {
    if (spoken.resumes) beginUsage(world, run.id, harness, native)
    else beginUsageNew(world, run, harness, native)
    agentState.recordNative(run.id, { harness: harness.name, id: native })
  }
  const follow = run.budget !== null || run.budgetCost !== null ? 'budget' : native === null && harness.name !== 'generic' ? 'id' : null
  return { follow, stdin }
}
