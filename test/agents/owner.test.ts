import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { isAlive, readOr, until } from '../real/lab.ts'
import { AGENT_MS, endUnmanaged, expectNothingOf, scenario, serve, serverAt } from './lab.ts'

/** Looks, before the agent's first instruction, whether anything of the old owner lives. */
const CHECK = 'for p in $OLD; do grep -q "^State:.[^ZX]" /proc/$p/status 2>/dev/null && echo $p >>"$SEEN.overlap"; done; : >"$SEEN"; exec "$@"'

scenario('a second owner is refused; a takeover ends the first with all it started before the second begins', async (lab) => {
  const file = lab.file('web')
  const id = await lab.begin('s', `alpha ${serve(file)} [[hang]]`)
  const server = await serverAt(file)
  await lab.asked('alpha', 1)
  const first = await lab.status('s')
  const old = (await lab.tree('s')).map(({ pid }) => pid)

  const again = ['run', '--session', 's', '--dir', lab.dir, '--detach']
  const refused = await lab.hf([...again, '--', lab.path, ...lab.launch.resume(id, 'beta [[hang]]')])
  expect(refused.code).toBe(75)
  expect(refused.stderr).toContain(`pid ${first.pid}`)
  expect(lab.model.requests.filter(({ prompt }) => prompt.includes('beta'))).toEqual([])

  const seen = lab.file('seen')
  const second = lab.launch.resume(id, 'gamma [[hang]]')
  const taken = await lab.hf([...again, '--takeover', '--', 'sh', '-c', CHECK, 'sh', lab.path, ...second], {
    env: { OLD: old.join(' '), SEEN: seen },
  })
  const before = lab.model.requests.length
  expect(taken.code, taken.stderr).toBe(0)
  await until('the second to look', () => existsSync(seen), AGENT_MS)
  expect(readOr(`${seen}.overlap`)).toBe('')
  expect(old.filter(isAlive)).toEqual([])
  await expectNothingOf(lab, first.run, [server])

  await lab.asked('gamma')
  expect(lab.model.requests.slice(before).filter(({ prompt }) => prompt.includes('alpha'))).toEqual([])
  expect(await lab.status('s')).toMatchObject({ state: 'running' })
  await lab.ok(['stop', 's'])
})

scenario('what the agent itself does about a second owner is what we believe', async (lab) => {
  const id = await lab.begin('s', `alpha [[run: true]] [[hang]]`)
  await lab.asked('alpha', 1)
  const second = lab.unmanaged(lab.launch.resume(id, 'beta [[hang]]'))
  if (lab.launch.allowsTwo) await lab.asked('beta')
  else expect(await until('it to refuse', () => second.exitCode, AGENT_MS)).not.toBe(0)
  expect(lab.model.requests.some(({ prompt }) => prompt.includes('beta'))).toBe(lab.launch.allowsTwo)
  expect(await lab.status('s')).toMatchObject({ state: 'running' })
  await endUnmanaged(second)
})
