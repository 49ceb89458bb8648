import * as z from 'zod'
import { explainRequest, finishRequest, ownRequest, seeRequest, type World } from '../app/index.ts'
import { policy } from '../model/index.ts'
import { explainedJson, finishedJson, requestStoryJson } from '../show/index.ts'
import { requestName, resultText } from './schemas.ts'
import { type Tool, tool } from './tool.ts'

const named = (world: World, request: string | undefined): Promise<string> => (request === undefined ? ownRequest(world) : Promise.resolve(request))

const show = tool(
  'work_show',
  {
    description: 'A request for work: its text, state, branch, feedback and story. Left out, it is the request that you work on.',
    input: z.strictObject({ request: requestName.optional() }),
    effect: 'none',
  },
  ({ use }, { request }) =>
    use(async (world) => {
      const { story, ...view } = await seeRequest(world, await named(world, request))
      return requestStoryJson({ ...view, story: story.slice(-policy.mcpEvents) })
    }),
)

const explain = tool(
  'work_explain',
  {
    description:
      'Why a request runs, waits, does not start or is over, and the command that comes next. Left out, it is the request that you work on.',
    input: z.strictObject({ request: requestName.optional() }),
    effect: 'none',
  },
  ({ use }, { request }) => use(async (world) => explainedJson(await explainRequest(world, await named(world, request)))),
)

const finish = tool(
  'work_finish',
  {
    description: 'Reports the result of the request that you work on, in a sentence or two. Commit your work before, and end your work after it.',
    input: z.strictObject({ summary: resultText }),
    effect: 'own',
  },
  ({ use }, { summary }) => use(async (world) => finishedJson(await finishRequest(world, { request: await ownRequest(world), summary }))),
)

export const WORKING: readonly Tool[] = [show, explain, finish]
