import { expect } from 'vitest'
import { isAlive } from '../real/lab.ts'
import { answers, expectNothingOf, ofRun, scenario, serve, serverAt } from './lab.ts'

scenario('the dev server that its tool call started is in the tree with its port, and a stop leaves nothing', async (lab) => {
  const file = lab.file('web')
  await lab.begin('s', `alpha ${serve(file)} [[hang]]`)
  const server = await serverAt(file)
  await lab.asked('alpha', 1)
  expect(await answers(server.port)).toBe(true)

  const members = await lab.tree('s')
  expect(members).toContainEqual(expect.objectContaining({ pid: server.pid, ports: [server.port] }))
  const { run, pid } = await lab.status('s')
  expect(members.map((member) => member.pid)).toContain(pid)
  expect(ofRun(lab.home, run)).toEqual(expect.arrayContaining(members.map((member) => member.pid)))

  const stopped = await lab.hf(['stop', 's', '--json'])
  expect(stopped.code, stopped.stderr).toBe(0)
  expect(members.filter((member) => isAlive(member.pid))).toEqual([])
  await expectNothingOf(lab, run, [server])
  expect(await lab.status('s')).toMatchObject({ state: 'stopped' })
})

scenario('when it ends by itself, the dev server it left goes too, and its exit code is kept', async (lab) => {
  const file = lab.file('web')
  await lab.begin('s', `alpha ${serve(file)} [[say: done]]`)
  const server = await serverAt(file)
  expect((await lab.hf(['wait', 's', '--timeout', '60s'])).code).toBe(0)
  const { run, state } = await lab.status('s')
  expect(state).toBe('completed')
  await expectNothingOf(lab, run, [server])
})
