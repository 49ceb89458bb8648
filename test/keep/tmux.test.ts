import { expect, test } from 'vitest'
import { run } from '../../src/keep/tmux/tmux.ts'
import { policy } from '../../src/model/index.ts'

const env = { PATH: process.env['PATH'] }

test('a command is waited for, and not what it left behind; one that does not end is ended', async () => {
  const began = performance.now()
  const left = await run(['sh', '-c', 'sleep 60 & echo $!; echo said >&2; exit 3'], env)
  expect(performance.now() - began).toBeLessThan(policy.tmuxMs)
  expect(left).toMatchObject({ code: 3, stderr: 'said' })
  process.kill(Number(left.stdout), 'SIGKILL')
  expect(await run(['sh', '-c', 'exec sleep 60'], env, '', 200)).toEqual({
    code: null,
    stdout: '',
    stderr: 'sh did not answer within 0.2 s',
    late: true,
  })
  expect(await run(['hf-no-such-program'], env)).toMatchObject({ code: null, stderr: expect.stringContaining('ENOENT') as string })
  expect((await run(['cat'], env, 'x'.repeat(300_000))).stdout).toHaveLength(300_000)
})
