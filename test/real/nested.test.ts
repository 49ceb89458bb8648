import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, collect, gone, inLab, isAlive, type Lab, until } from './lab.ts'

/** An outer session whose agent starts an inner one; answers the pid of the inner agent. */
async function nest(lab: Lab, outer = 'exec sleep 1000'): Promise<number> {
  const script = `"${COMMAND}" run --session inner --dir ${lab.newDir()} --detach -- sleep 1000; ${outer}`
  await lab.ok(lab.detached('outer', 'sh', '-c', script))
  return until('the inner agent', async () => {
    const status = await lab.hf(['status', 'inner', '--json'])
    return status.code === 0 && (JSON.parse(status.stdout) as { pid: number | null }).pid
  })
}

verifies('stop-proof', 'a takeover ends the runs that were started inside too', () =>
  inLab(async (lab) => {
    const inner = await nest(lab)
    await lab.ok(['run', '--session', 'outer', '--dir', lab.dir, '--takeover', '--detach', '--', 'sleep', '1000'])
    expect(isAlive(inner)).toBe(false)
    expect(await lab.status('inner')).toMatchObject({ state: 'stopped', reason: expect.stringContaining('taken over') as string })
  }),
)

verifies('stop-proof', 'so does an agent that ends by itself, and one whose keeper and agent were both killed, at the next stop or reconcile', () =>
  inLab(async (lab) => {
    let inner = await nest(lab, 'exit 3')
    await gone(inner)
    for (const verb of [['stop', 'outer'], ['reconcile']]) {
      inner = await nest(lab)
      const { keeper, pid } = await lab.unguarded('outer')
      process.kill(keeper, 'SIGKILL')
      process.kill(pid, 'SIGKILL')
      await until('the outer end to be seen', async () => ['lost', 'failed'].includes((await lab.status('outer')).state))
      await lab.ok(verb)
      expect(isAlive(inner), verb.join(' ')).toBe(false)
    }
  }),
)

verifies('stop-proof', 'TERM to the command ends inner runs of an agent that needs a moment', () =>
  inLab(async (lab) => {
    const script = `trap 'sleep 0.5; exit 0' TERM; "${COMMAND}" run --session inner --dir ${lab.newDir()} --detach -- sleep 1000; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.1; done`
    const child = spawn(COMMAND, ['run', '--session', 'outer', '--dir', lab.dir, '--', 'bash', '-c', script], {
      env: lab.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const done = collect(child)
    await lab.pid('main')
    const { pid } = await lab.status('inner')
    child.kill('SIGTERM')
    await done
    await gone(pid)
    await until('its end', async () => (await lab.status('inner')).state === 'stopped')
  }),
)

verifies('gate', 'nothing is started in a session that is being stopped', () =>
  inLab(async (lab) => {
    const [first, second] = [lab.newDir(), lab.newDir()]
    const script = `trap '' TERM; "${COMMAND}" run --session one --dir ${first} --detach -- ${AGENT} stubborn; until [ -e "$HOLDFAST_FENCE" ]; do sleep 0.05; done; "${COMMAND}" run --session two --dir ${second} --detach -- sleep 1000 2>$FA_DIR/said; echo $? >$FA_DIR/code; sleep 1000`
    await lab.ok(lab.detached('outer', 'bash', '-c', script))
    await until('the first', async () => (await lab.hf(['status', 'one'])).code === 0)
    await lab.pid('main')
    await lab.ok(['stop', 'outer', '--grace', '3s'])
    if (existsSync(join(lab.agentDir, 'code'))) expect(readFileSync(join(lab.agentDir, 'code'), 'utf8')).toMatch(/^(75|143)\n$/)
    expect((await lab.hf(['status', 'two'])).code).toBe(66)
    expect(JSON.parse(await lab.ok(['ls', '--json']))).toEqual([])
  }),
)

verifies('stop-proof', 'commands of ours that wait or follow inside a session end with it', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'other', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
    const script = `"${COMMAND}" resume other --attach >/dev/null 2>&1 & "${COMMAND}" resume other --wait 5m >/dev/null 2>&1 & echo $$ >$FA_DIR/main.pid; sleep 1000`
    await lab.ok(lab.detached('outer', 'sh', '-c', script))
    await lab.pid('main')
    type Members = { members: { pid: number; name: string }[] }
    const nodes = await until('both commands', async () => {
      const { members } = JSON.parse(await lab.ok(['tree', 'outer', '--json'])) as Members
      const found = members.filter(({ name }) => name === 'node' || name === 'MainThread')
      return found.length === 2 && found
    })
    await lab.ok(['stop', 'outer'])
    for (const { pid } of nodes) expect(isAlive(pid)).toBe(false)
    expect(await lab.status('other')).toMatchObject({ state: 'running', epoch: 1 })
  }),
)

verifies('stop-proof', 'a run started with an emptied environment still knows the session around it', () =>
  inLab(async (lab) => {
    const script = `env -i PATH="$PATH" HOLDFAST_HOME="$HOLDFAST_HOME" HF_LAB="$HF_LAB" "${COMMAND}" run --session inner --dir ${lab.newDir()} --detach -- sleep 1000; echo $$ >$FA_DIR/main.pid; sleep 1000`
    await lab.ok(lab.detached('outer', 'sh', '-c', script))
    await lab.pid('main')
    const { pid } = await lab.status('inner')
    await lab.ok(['stop', 'outer'])
    expect(isAlive(pid)).toBe(false)
  }),
)

verifies('stop-proof', 'an inner agent that stops the outer session is ended with it, from outside', () =>
  inLab(async (lab) => {
    const inner = `echo $$ >$FA_DIR/inner.pid; "${COMMAND}" stop outer >$FA_DIR/said 2>&1; sleep 1000`
    const script = `"${COMMAND}" run --session inner --dir ${lab.newDir()} --detach -- sh -c '${inner}'; sleep 1000`
    await lab.ok(lab.detached('outer', 'sh', '-c', script))
    await gone(await lab.pid('inner'))
    await until('both ends', async () => (await lab.status('outer')).state === 'stopped' && (await lab.status('inner')).state === 'stopped')
  }),
)

verifies('one-owner', 'a command inside a session cannot take that session over, and harms nothing by trying', () =>
  inLab(async (lab) => {
    const script = `"${COMMAND}" run --session me --dir . --takeover --detach -- true 2>$FA_DIR/said; echo $? >$FA_DIR/code; echo $$ >$FA_DIR/main.pid; sleep 1000`
    await lab.ok(lab.detached('me', 'sh', '-c', script))
    await lab.pid('main')
    expect(readFileSync(join(lab.agentDir, 'code'), 'utf8')).toBe('75\n')
    expect(readFileSync(join(lab.agentDir, 'said'), 'utf8')).toMatch(/runs inside session me/)
    expect(await lab.status('me')).toMatchObject({ state: 'running', epoch: 1 })
  }),
)

verifies('one-owner', 'nobody is retired for a claim that would be refused', () =>
  inLab(async (lab) => {
    const taken = lab.newDir()
    await lab.ok(lab.detached('a', 'sleep', '1000'))
    await lab.ok(['run', '--session', 'b', '--dir', taken, '--detach', '--', 'sleep', '1000'])
    expect((await lab.hf(['run', '--session', 'a', '--dir', taken, '--takeover', '--detach', '--', 'true'])).code).toBe(75)
    expect((await lab.hf(['run', '--session', 'a', '--name', 'b', '--dir', lab.dir, '--takeover', '--detach', '--', 'true'])).code).toBe(64)
    expect(await lab.status('a')).toMatchObject({ state: 'running', epoch: 1 })
  }),
)

test('a command that is told to end while it waits starts nothing later', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const waiting = lab.start(['run', '--session', 's', '--dir', lab.dir, '--wait', '1m', '--', AGENT, 'idle'])
    const planner = await until('the planner', () => readFileSync(`/proc/${waiting.pid}/task/${waiting.pid}/children`, 'latin1').trim())
    waiting.kill('SIGTERM')
    await lab.ok(['stop', 's'])
    await gone(Number(planner))
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', epoch: 1 })
    expect(existsSync(join(lab.agentDir, 'main.pid'))).toBe(false)
  }))

verifies('innocent', 'a copied environment makes nobody a child: a stop does not reach a session started outside', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('live', 'sleep', '1000'))
    const { pid } = await lab.status('live')
    const copied = Object.fromEntries(
      readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .filter((entry) => entry.startsWith('HOLDFAST_'))
        .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )
    expect(copied['HOLDFAST_LINEAGE']).toBeTruthy()
    await lab.ok(['run', '--session', 'outside', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'], { env: copied })
    await lab.ok(['stop', 'live'])
    expect(await lab.status('outside')).toMatchObject({ state: 'running', parent: null })
    await lab.ok(['run', '--session', 'later', '--dir', lab.newDir(), '--', 'true'], { env: copied })
  }),
)
