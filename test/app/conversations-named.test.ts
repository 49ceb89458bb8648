import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { resumptionOf } from '../../src/app/start/resume.ts'
import { start } from '../../src/app/start/start.ts'
import type { Ended, Exit } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aRequest, type Starting, starting } from '../sim/starting.ts'

const [A, B] = [`aaaaaaaa${randomUUID().slice(8)}`, `bbbbbbbb${randomUUID().slice(8)}`]
const EXIT: Exit = { code: 0, signal: null }

/** Session api has had conversation A, then B, and is over. */
async function twoConversations(): Promise<Starting> {
  const lab = await starting()
  lab.program('claude')
  for (const id of [A, B]) {
    lab.conversation(id)
    await start(lab.world, aRequest(lab, { session: 'api', harness: 'claude', argv: ['-p', '--session-id', id] }))
    await over(lab)
  }
  return lab
}

/** Its agent leaves, and its end goes on record. */
async function over({ sim }: Starting, tokens = 0): Promise<void> {
  const found = await sim.store.sessions.find('api', 'exact')
  const run = found.kind === 'found' ? found.view.run : null
  if (run === null || run.state !== 'running') throw new Error('api does not run')
  for (const { pid } of sim.processes.table({ since: 0, cookies: false }).rows) sim.remove(pid)
  const usage = { cpuMs: 0, members: 0, tokens: { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, cost: null } } as unknown as Ended['usage']
  const ending = { state: 'completed' as const, exit: EXIT, reason: 'it ended', evidence: [], by: 'keeper', usage: usage ?? null }
  expect(await sim.store.claims.recordEnded(run, ending, null, 1)).toBe(true)
}

const resumed = async ({ world }: Starting, reference: string) =>
  (await resumptionOf(world, reference, null, { dir: undefined, ends: false })).resume?.native

verifies('named', 'a session with two conversations: the beginning of the first one’s id goes on with the first one', async () => {
  const lab = await twoConversations()
  expect(await resumed(lab, A)).toBe(A)
  expect(await resumed(lab, A.slice(0, 8))).toBe(A)
  expect(await resumed(lab, B.slice(0, 8))).toBe(B)
  expect(await resumed(lab, 'api')).toBe(B)
})

verifies('named', 'a conversation that was named and is not there is refused: the last one does not take its place', async () => {
  const lab = await twoConversations()
  lab.forgetConversation(A)
  await expect(resumed(lab, A.slice(0, 8))).rejects.toMatchObject({ id: 'conversation-missing', message: expect.stringContaining(A) })
  lab.forgetConversation(B)
  // It was never given a prompt, as far as anything tells: it begins under its own id.
  expect(await resumed(lab, 'api')).toBe(B)
})

verifies('named', 'a conversation in which tokens were used, and that lies nowhere, is not begun anew', async () => {
  const lab = await starting()
  lab.program('claude')
  await start(lab.world, aRequest(lab, { session: 'api', harness: 'claude', argv: ['-p', '--session-id', A] }))
  await over(lab, 100)
  await expect(resumed(lab, 'api')).rejects.toMatchObject({ id: 'conversation-missing', hint: expect.stringContaining('--session api --new claude') })
})

verifies(
  'named',
  'run --session refuses to leave a conversation, unless it goes on with it, names another one, or is told to begin anew',
  async () => {
    const lab = await twoConversations()
    const request = aRequest(lab, { session: 'api', harness: 'claude', argv: ['-p', 'hi'] })
    const refused = { id: 'conversation-would-be-left', exitCode: 64, detail: { session: 'api', conversation: B, harness: 'claude' } }
    await expect(start(lab.world, request)).rejects.toMatchObject(refused)
    await expect(start(lab.world, aRequest(lab, { session: 'api' })), 'a command that is no agent').rejects.toMatchObject(refused)
    await expect(start(lab.world, { ...request, argv: ['-p', '--resume', B] })).resolves.toMatchObject({ kind: 'running', notes: [] })
    await over(lab)
    const told = [`the conversation ${B} of this session is left; holdfast resume ${B} goes on with it`]
    await expect(start(lab.world, { ...request, argv: ['-p', '--resume', A] })).resolves.toMatchObject({ kind: 'running', notes: told })
    await over(lab)
    await expect(start(lab.world, { ...request, newConversation: true })).resolves.toMatchObject({
      kind: 'running',
      notes: [expect.stringContaining(`conversation ${A}`)],
    })
    await over(lab)
    expect([await resumed(lab, A.slice(0, 8)), await resumed(lab, B.slice(0, 8))]).toEqual([A, B])
    // Nothing is lost of a conversation that never began: the new one has no file yet.
    await expect(start(lab.world, request)).resolves.toMatchObject({ kind: 'running', notes: [] })
  },
)

verifies('named', 'a person who is asked may begin a new conversation; one who leaves it has changed nothing', async () => {
  const lab = await twoConversations()
  const request = aRequest(lab, { session: 'api', harness: 'claude', argv: ['-p', 'hi'] })
  const asked: string[] = []
  const ask = (answer: { newConversation: true } | null) => (problem: { id: string }) => {
    asked.push(problem.id)
    return answer
  }
  await expect(start(lab.world, request, ask(null))).rejects.toMatchObject({ id: 'conversation-would-be-left' })
  expect(await resumed(lab, 'api')).toBe(B)
  await expect(start(lab.world, request, ask({ newConversation: true }))).resolves.toMatchObject({ kind: 'running' })
  expect(asked).toEqual(['conversation-would-be-left', 'conversation-would-be-left'])
})
