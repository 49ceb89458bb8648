import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inHostedLab } from '../real/hosted.ts'
import { verifies } from '../requirements.ts'

verifies('unknown', 'a tmux server that is frozen holds up nobody, and nobody is ended for a run that it could not host', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', 'cat'))
    const server = lab.server() ?? expect.unreachable('there is a server')
    process.kill(server, 'SIGSTOP')
    try {
      const began = performance.now()
      const all = [
        ['logs', 's'],
        [...lab.hosted('s', 'cat').slice(0, -2), '--takeover', '--', 'cat'],
      ]
      for (const { code, stderr } of await Promise.all(all.map((args) => lab.hf(args))))
        expect([code, stderr]).toEqual([69, expect.stringMatching(/does not answer|did not answer within 5 s/)])
      expect(performance.now() - began).toBeLessThan(60_000)
      expect(await lab.status('s')).toMatchObject({ state: 'running' })
      expect(await lab.ok(['stop', 's'])).toMatch(/^s stopped/)
    } finally {
      process.kill(server, 'SIGCONT')
    }
  }),
)

test('a tmux.conf that makes hosting impossible is no bug of ours, and is named', () =>
  inHostedLab(async (lab) => {
    mkdirSync(lab.home, { mode: 0o700 })
    writeFileSync(join(lab.home, 'tmux.conf'), 'kill-server\n')
    const { code, stderr } = await lab.hf(lab.hosted('s', 'cat'))
    expect([code, stderr]).toEqual([69, expect.stringMatching(/tmux could not host it: .+\n.+\/tmux\.conf/)])
  }))

test('without tmux on PATH that is what is said, at once, and doctor knows; also of a notify command that is not there', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', 'cat'))
    const bin = lab.newDir()
    for (const name of ['node', 'sh', 'prlimit', 'mkfifo', 'readlink', 'sed'])
      symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(bin, name))
    writeFileSync(join(lab.home, 'config.toml'), '[notify]\ncommand = ["no-such-program-here"]\n')
    const env = { PATH: bin }
    for (const args of [['logs', 's'], ['send', 's', 'x'], lab.hosted('t', 'cat')])
      expect(await lab.hf(args, { env })).toMatchObject({ code: 69, stderr: expect.stringContaining('there is no tmux program on PATH') })
    const { stdout } = await lab.hf(['doctor'], { env })
    expect(stdout).toMatch(/tmux: run --tmux is not possible: there is no tmux program on PATH/)
    expect(stdout).toMatch(/notifications: there is no program no-such-program-here/)
    writeFileSync(join(bin, 'tmux'), '#!/bin/sh\necho tmux 3.1c\n', { mode: 0o755 })
    expect(await lab.hf(lab.hosted('t', 'cat'), { env })).toMatchObject({ code: 69, stderr: expect.stringContaining('tmux 3.1c is too old: 3.2') })
    expect((await lab.hf(['doctor'], { env })).stdout).toMatch(/tmux: run --tmux is not possible: tmux 3.1c is too old/)
    expect((await lab.hf(['doctor', '--verbose'])).stdout).toMatch(/tmux: runs can be hosted in panes \(tmux .+\)/)
  }))
