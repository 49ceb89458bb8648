import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { learnNative } from '../../src/app/conversation/conversation.ts'
import { resumptionOf } from '../../src/app/start/resume.ts'
import { start } from '../../src/app/start/start.ts'
import { isLive } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aRequest, outside, type Starting, starting } from '../sim/starting.ts'

/** A session of Kimi Code as it lies on disk, begun so long (in milliseconds) after the start of the simulated world. */
function begun({ env, sim }: Starting, id: string, dir: string, after: number): void {
  const home = join(env['HOME'] ?? '', '.kimi-code')
  const sessionDir = join(home, 'sessions', id)
  mkdirSync(join(sessionDir, 'agents', 'main'), { recursive: true })
  writeFileSync(join(sessionDir, 'agents', 'main', 'wire.jsonl'), `${JSON.stringify({ created_at: sim.clock.now() + after })}\n`)
  appendFileSync(join(home, 'session_index.jsonl'), `${JSON.stringify({ sessionId: id, sessionDir, workDir: dir })}\n`)
}

async function inTerminal(): Promise<Starting> {
  const lab = await starting()
  lab.program('kimi')
  await start(lab.world, aRequest(lab, { session: 'tui', harness: 'kimi', argv: [], tmux: true }), undefined, outside)
  return lab
}

/** What a start of a conversation, by its own id and in another directory, answers: the id of the refusal, or how it began. */
async function elsewhere(lab: Starting, id: string, more: Parameters<typeof aRequest>[1] = {}): Promise<string> {
  const dir = join(lab.dir, '..', 'elsewhere')
  mkdirSync(dir, { recursive: true })
  const request = aRequest(lab, { session: 'second', harness: 'kimi', argv: ['--session', id], tmux: true, dir, share: true, ...more })
  return start(lab.world, request, undefined, outside).then(
    ({ kind }) => kind,
    (error: { id?: string }) => error.id ?? String(error),
  )
}

async function nativeOf({ world, sim }: Starting, id: string): Promise<string | null> {
  const found = await sim.store.sessions.find(id, 'exact')
  if (found.kind !== 'found' || found.view.run === null || !isLive(found.view.run)) throw new Error(`${id} does not live`)
  await learnNative(world, sim.store, found.view.run, found.view.session)
  const after = await sim.store.sessions.find(id, 'exact')
  return after.kind === 'found' ? after.view.session.native : null
}

verifies(
  'one-owner',
  'a terminal interface that tells nobody its conversation: the one that was begun where it works, since, is its own',
  async () => {
    const lab = await inTerminal()
    begun(lab, 'session_old', lab.dir, -1000)
    expect(await nativeOf(lab, 'tui')).toBeNull()
    begun(lab, 'session_new', lab.dir, 1000)
    expect(await nativeOf(lab, 'tui')).toBe('session_new')
    expect(await elsewhere(lab, 'session_new')).toBe('conversation-owned')
    expect((await resumptionOf(lab.world, 'tui', null, { dir: undefined, ends: true })).resume?.native).toBe('session_new')
  },
)

verifies('unknown', 'of two that were begun there it is not told which is its own, nor while another one of its kind works there', async () => {
  const lab = await inTerminal()
  const other = lab.stranger(['kimi'], lab.dir)
  begun(lab, 'session_one', lab.dir, 1000)
  expect(await nativeOf(lab, 'tui')).toBeNull()
  lab.sim.remove(other.pid)
  begun(lab, 'session_two', lab.dir, 1000)
  expect(await nativeOf(lab, 'tui')).toBeNull()
  for (const id of ['session_one', 'session_two']) expect(await elsewhere(lab, id)).toBe('conversation-unproven')
})

verifies(
  'one-owner',
  'while a live agent tells no conversation, a start of one that lies where it works is refused, wherever it would work',
  async () => {
    const lab = await inTerminal()
    begun(lab, 'session_old', lab.dir, -1000)
    begun(lab, 'session_there', join(lab.dir, '..', 'there'), -1000)
    expect(await elsewhere(lab, 'session_old')).toBe('conversation-unproven')
    expect(await elsewhere(lab, 'session_old', { allowUnmanaged: true })).toBe('conversation-unproven')
    expect(await elsewhere(lab, 'session_there'), 'it lies elsewhere').toBe('running')
    expect(await elsewhere(lab, 'session_old', { session: 'third', force: true }), 'a person says that it has another one').toBe('running')
  },
)

verifies('one-owner', 'so it is beside one that Holdfast did not start, unless a person says that it is none', async () => {
  const lab = await starting()
  lab.program('kimi')
  begun(lab, 'session_old', lab.dir, -1000)
  lab.stranger(['kimi'], lab.dir)
  expect(await elsewhere(lab, 'session_old')).toBe('conversation-unproven')
  expect(await elsewhere(lab, 'session_old', { allowUnmanaged: true })).toBe('running')
})

test('a run that was given its prompt has a new conversation: none that was there before is kept from anybody', async () => {
  const lab = await starting()
  lab.program('kimi')
  begun(lab, 'session_old', lab.dir, -1000)
  await start(lab.world, aRequest(lab, { session: 'plain', harness: 'kimi', argv: ['--prompt', 'x'] }), undefined, outside)
  expect(await elsewhere(lab, 'session_old')).toBe('running')
})
