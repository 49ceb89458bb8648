import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, inLab, inNamespace, isAlive, unable, until } from './lab.ts'

const isRoot = process.getuid?.() === 0

verifies('one-owner', 'a store that was deleted is made again from the run directories: live runs are still owners', () =>
  inLab(async (lab) => {
    await lab.hf(['run', '--session', 'old', '--dir', lab.dir, '--', 'sh', '-c', 'exit 5'])
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    for (const name of readdirSync(lab.home)) if (name.startsWith('holdfast.db')) rmSync(join(lab.home, name))
    expect((await lab.hf(['run', '--session', 's', '--dir', lab.newDir(), '--detach', '--', AGENT, 'idle'])).code).toBe(75)
    expect((await lab.hf(lab.detached('t', AGENT, 'idle'))).code).toBe(75)
    expect(await lab.status('s')).toMatchObject({ state: 'running', epoch: 2, pid })
    expect(await lab.status('old')).toMatchObject({ state: 'failed', exit: { code: 5 } })
    await lab.ok(['stop', 's'])
    expect(isAlive(pid)).toBe(false)
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    expect((await lab.status('s')).epoch).toBe(3)
  }),
)

verifies('identity', 'a machine without an id works all the same', () =>
  inLab(async (lab) => {
    const script = `
      : >${lab.dir}/empty; mount --bind ${lab.dir}/empty /etc/machine-id; [ ! -e /var/lib/dbus/machine-id ] || mount --bind ${lab.dir}/empty /var/lib/dbus/machine-id
      hf=${COMMAND}; $hf run --session m --dir ${lab.dir} -- true; $hf status m | head -1
      $hf run --session m --dir ${lab.dir} --detach -- sleep 1000 >/dev/null; $hf stop m`
    const result = spawnSync('unshare', [...(isRoot ? [] : ['-Ur']), '-m', 'bash', '-euc', script], { env: lab.env, encoding: 'utf8' })
    expect(result.status, result.stderr).toBe(0)
    expect(result.stdout).toMatch(/^m completed\nm stopped: ended 1 process/)
  }),
)

verifies('unknown', '--force from another time namespace ends what it can see by its marker, and names it', () =>
  inLab(async (lab) => {
    if (!isRoot) return unable('a time namespace needs root')
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const script = `hf=${COMMAND}; $hf run --session s --dir ${lab.dir} --takeover --detach -- true; echo plain=$?; $hf run --session s --dir ${lab.dir} --force --grace 2s -- true; echo force=$?`
    const result = spawnSync('unshare', ['--time', '--boottime', '1000000', '--fork', 'bash', '-uc', script], { env: lab.env, encoding: 'utf8' })
    expect(result.stdout).toBe('plain=76\nforce=0\n')
    expect(result.stderr).toMatch(new RegExp(`ended 1 process, seen gone: .*pid ${pid}`))
    await until('the old agent to be gone', () => !isAlive(pid))
  }),
)

verifies('visible', 'a read-only disk is told with 69 and crashes nothing', () =>
  inLab(async (lab) => {
    const script = `
      T=$(mktemp -d); mount -t tmpfs -o size=8m none $T; export HOLDFAST_HOME=$T/home; hf=${COMMAND}
      $hf run --session t --dir ${lab.dir} -- true; until mount -o remount,ro $T 2>/dev/null; do sleep 0.05; done; set +e
      for verb in 'ls' 'ls --all --json' 'status t' 'run --session u --dir ${lab.dir} -- true' 'stop t' 'reconcile'; do $hf $verb >/dev/null; echo "$verb: $?"; done
      umount $T; rmdir $T`
    const result = inNamespace(script, lab.env)
    expect(result.stdout.match(/: \d+$/gm)).toEqual(Array(6).fill(': 69'))
    expect(result.stderr).toMatch(/cannot be used: it cannot be opened/)
    expect(result.stderr).not.toMatch(/a bug/)
  }),
)
