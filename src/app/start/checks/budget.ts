import { isHeadless } from '../../../decide/index.ts'
import { argumentsOf } from '../../../harness/index.ts'
import { Problem } from '../../../model/index.ts'
import { hooksStatus } from '../../hooks/install-hooks.ts'
import type { World } from '../../world/world.ts'
import type { AgentCommand } from '../plan.ts'
import type { StartRequest } from '../request.ts'

/** A limit that nobody can see to is none: what it burns must be written somewhere, and it must be known where. */
export function uncounted(world: World, request: StartRequest, spoken: AgentCommand): Problem | null {
  const { harness } = spoken
  if (
    harness?.usage != null &&
    !isFindable(request, spoken) &&
    !hooksStatus(world).some((one) => one.harness === harness.name && one.state === 'installed')
  )
    return new Problem('budget-conversation-unknown', `--budget needs to know which session ${harness.title} carries, and it does not tell`, {
      hint: `holdfast hooks install ${harness.name} lets it report that; --timeout limits its time`,
    })
  if (harness?.usage != null) return null
  return new Problem(
    'budget-unsupported',
    `--budget needs an agent that writes down what it burns; ${harness === null ? 'this command is none that Holdfast knows' : `${harness.title} does not`}`,
    {
      hint: '--timeout limits its time',
    },
  )
}

/** Can its conversation be told without hooks? */
const isFindable = ({ detach, promptFile }: StartRequest, { harness, native, argv }: AgentCommand): boolean =>
  native !== null ||
  (harness !== null &&
    (harness.registry !== null ||
      harness.capture.some(({ from }) => from === 'open-file' || from === 'variable' || (from === 'output' && detach)) ||
      (harness.capture.some(({ from }) => from === 'database') && (promptFile !== undefined || isHeadless(harness, argumentsOf(argv, harness))))))
