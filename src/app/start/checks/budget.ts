import { isHeadless } from '../../../decide/index.ts'
import { argumentsOf } from '../../../harness/index.ts'
import { type Harness, Problem } from '../../../model/index.ts'
import { hooksStatus } from '../../hooks/install-hooks.ts'
import type { World } from '../../world/world.ts'
import type { AgentCommand } from '../plan.ts'
import type { StartRequest } from '../request.ts'

export const asksForBudget = ({ budget, budgetCost }: StartRequest): boolean => budget !== undefined || budgetCost !== undefined

/** A limit that nobody can see to is none: what it burns must be written somewhere, and it must be known where. */
export function uncounted(world: World, request: StartRequest, spoken: AgentCommand): Problem | null {
  const { harness } = spoken
  const never = neverCounted(harness)
  if (never !== null) return never
  if (request.budgetCost !== undefined && harness !== null && !tellsCost(harness))
    return new Problem(
      'budget-unsupported',
      `--budget in dollars needs an agent that writes down its cost while it works; ${harness.title} does not`,
      {
        hint: 'a number of tokens limits it too: --budget 500k',
      },
    )
  if (
    harness?.usage != null &&
    !isFindable(request, spoken) &&
    !hooksStatus(world).some((one) => one.harness === harness.name && one.state === 'installed')
  )
    return new Problem('budget-conversation-unknown', `--budget needs to know which session ${harness.title} carries, and it does not tell`, {
      hint: [
        ...(harness.hooks === null ? [] : [`holdfast hooks install ${harness.name} lets it report that`]),
        ...(harness.capture.some(({ from }) => from === 'begun') ? ['give it its prompt with --prompt'] : []),
        '--timeout limits its time',
      ].join('; '),
    })
  return null
}

const tellsCost = ({ usage }: Harness): boolean => usage !== null && usage.kind !== 'document' && usage.tellsCost === true

/** Its tokens are never known in time, however it is started. */
export function neverCounted(harness: Harness | null): Problem | null {
  const hint = '--timeout limits its time'
  if (harness?.usage?.kind === 'document' && harness.usage.atTurnEnd === true)
    return new Problem('budget-unsupported', `--budget cannot hold for ${harness.title}: it writes down its tokens only when a turn is over`, {
      hint,
    })
  if (harness?.usage != null) return null
  const who = harness === null ? 'this command is none that Holdfast knows' : `${harness.title} does not`
  return new Problem('budget-unsupported', `--budget needs an agent that writes down what it burns; ${who}`, { hint })
}

/** Can its conversation be told for certain while it works, without hooks? A variable is seen only of a tool call that lasts. */
const isFindable = ({ detach, prompt }: StartRequest, { harness, native, argv }: AgentCommand): boolean =>
  native !== null ||
  (harness !== null &&
    (harness.registry !== null ||
      harness.capture.some(({ from }) => from === 'open-file') ||
      (detach && printsId(harness, argv)) ||
      (harness.capture.some(({ from }) => from === 'begun') && (prompt !== undefined || isHeadless(harness, argumentsOf(argv, harness))))))

/** Where one captures ids from its output, that is JSON only if it was told so. */
const printsId = ({ capture }: Harness, argv: readonly string[]): boolean =>
  capture.some(({ from }) => from === 'banner') || (capture.some(({ from }) => from === 'output') && argv.some((word) => /json/.test(word)))
