import type { LiveRun } from '../../model/index.ts'
import type { TaskView } from '../../show/index.ts'
import { liveNested, liveTask } from '../conversation/nested.ts'
import { nativesOfNested, tokensOfNested } from '../usage/count-nested.ts'
import type { Effort } from '../usage/count-tokens.ts'
import type { World } from '../world/world.ts'

/** The agents that live inside a run, each as a task of it, with what it has burned itself. */
export const nestedTasks = (world: World, run: LiveRun, effort: Effort): TaskView[] =>
  liveNested(world, run).map((agent) => {
    const cpu = world.processes.cpu(agent.process)
    return {
      run: liveTask(run, agent),
      usage: { cpuMs: cpu === null ? 0 : cpu.ownMs + cpu.childrenMs, whole: false, tokens: tokensOfNested(world, run.id, agent, effort) },
      nested: {
        harness: agent.harness,
        nativeId: nativesOfNested(world, run.id, agent).at(-1)?.id ?? null,
        pid: agent.process.pid,
        startedBy: agent.startedBy,
      },
    }
  })
