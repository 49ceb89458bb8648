import * as z from 'zod'
import { checkLock, mySession, seeDetail, seeLocks, seeTasks, siblings, whoAmI } from '../app/index.ts'
import { policy } from '../model/index.ts'
import { checkJson, lockJson, ownedTaskJson, siblingJson, sightJson, whoJson } from '../show/index.ts'
import type { Answer } from './answer.ts'
import { directory, reference } from './schemas.ts'
import { type Tool, tool } from './tool.ts'

const whoami = tool(
  'whoami',
  { description: 'Which session you are, and what proves it. session is null if you are in none.', input: z.strictObject({}), effect: 'none' },
  ({ use }) => use(async (world) => whoJson(await whoAmI(world))),
)

const others = tool(
  'siblings',
  {
    description: 'Every other session that is alive right now: what it says it does, where, what it holds. Never yourself.',
    input: z.strictObject({ here: z.boolean().default(false).describe('only those in your repository or directory tree') }),
    effect: 'none',
  },
  ({ use }, { here }) =>
    use(async (world) => {
      const found = await siblings(world, { here })
      return { self: found.self, ...cut('siblings', found.siblings.map(siblingJson), policy.siblingsShown) }
    }),
)

const status = tool(
  'status',
  {
    description: 'Everything about one session, or about your own: state, processes, usage, tasks, why it ended.',
    input: z.strictObject({ session: reference.optional() }),
    effect: 'none',
  },
  ({ use }, { session }) =>
    use(async (world) => sightJson(await seeDetail(world, session ?? (await mySession(world, 'ask for its own status')).session.id))),
)

const locks = tool(
  'locks',
  { description: 'Every directory that is held, by whom, since when, and what proves it.', input: z.strictObject({}), effect: 'none' },
  ({ use }) => use(async (world) => cut('locks', (await seeLocks(world)).map(lockJson), policy.runsShown)),
)

const check = tool(
  'check_lock',
  {
    description: 'May you work in a directory? free, held (own: by yourself), or unknown if neither can be proven: then better do not.',
    input: z.strictObject({ dir: directory }),
    effect: 'none',
  },
  ({ use }, { dir }) => use(async (world) => checkJson(await checkLock(world, dir))),
)

const tasks = tool(
  'tasks',
  { description: 'The background tasks of your session, running and over.', input: z.strictObject({}), effect: 'none' },
  ({ use }) =>
    use(async (world) => {
      const { session } = await mySession(world, 'have tasks')
      return { session: session.id, tasks: (await seeTasks(world, session.id)).map(ownedTaskJson) }
    }),
)

/** Of many, so many and how many there are. */
const cut = (name: string, all: readonly Answer[], most: number): Answer => ({
  [name]: all.slice(0, most),
  shown: Math.min(most, all.length),
  total: all.length,
})

export const SEEING: readonly Tool[] = [whoami, others, status, locks, check, tasks]
