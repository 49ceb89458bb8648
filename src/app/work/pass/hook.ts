import { describeExit, isLive, Problem, type Workflow, type WorkflowHook, type WorkRequest } from '../../../model/index.ts'
import { waitForEnd } from '../../end/wait.ts'
import { start } from '../../start/start.ts'
import type { Pass } from './worker.ts'

const NAMES: Readonly<Record<WorkflowHook, string>> = {
  afterCreate: 'after-create',
  beforeRun: 'before-run',
  afterRun: 'after-run',
  beforeRemove: 'before-remove',
}

/**
 * Runs a script of the repository in the worktree, as a session of its own: with a log, a time limit, and an end of its whole tree. `fresh`: the
 * worktree is new, or the hook is for each run; otherwise a hook that has ended well is not repeated.
 */
export async function runHook(
  { world, store }: Pass,
  request: WorkRequest,
  hook: WorkflowHook,
  workflow: Workflow,
  dir: string,
  fresh: boolean,
): Promise<void> {
  const script = workflow.hooks[hook]
  if (script === null) return
  const session = `${request.session}.${NAMES[hook]}`
  const before = await store.sessions.find(session, 'exact')
  if (!fresh && before.kind === 'found' && before.view.run?.state === 'completed') return
  if (before.kind === 'found' && before.view.run !== null && isLive(before.view.run)) await waitForEnd(world, session, workflow.hooks.timeoutMs)
  await start(world, {
    session,
    harness: 'generic',
    argv: ['/bin/sh', '-c', script],
    dir,
    detach: true,
    onLive: 'refuse',
    timeoutMs: workflow.hooks.timeoutMs,
  })
  const ended = await waitForEnd(world, session, workflow.hooks.timeoutMs + world.policy.graceMs + world.policy.settleMs)
  if (ended?.state === 'completed') return
  const how = ended === null ? 'it has not ended' : ended.exit === null ? ended.reason : describeExit(ended.exit)
  throw new Problem('hook-failed', `the hook ${NAMES[hook]} of ${request.order.repo} failed: ${how}`, { hint: `look: holdfast logs ${session}` })
}
