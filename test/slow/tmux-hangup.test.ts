import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Hosted, inHostedLab, SHELLS, withShell } from '../real/hosted.ts'
import { COMMAND, gone, isAlive, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const startWith = async (lab: Hosted, shell: string, args: readonly string[]): Promise<void> => {
  const [command = '', ...rest] = withShell(shell, COMMAND, ...args)
  await lab.ok(rest, { command })
}
const killServer = async (lab: Hosted): Promise<void> => {
  const server = lab.server() ?? expect.unreachable('there is a server')
  process.kill(server, 'SIGKILL')
  await gone(server)
}

for (const shell of SHELLS)
  verifies('identity', `${shell}: what is kept of a screen is never another agent’s, though a new server counts its panes from the start`, () =>
    inHostedLab(async (lab) => {
      const go = join(lab.agentDir, 'go')
      await startWith(lab, shell, lab.hosted('s', 'sh', '-c', `trap "" HUP TERM; echo mine; until [ -e ${go} ]; do sleep 0.05; done`))
      await lab.sees('s', 'mine')
      await killServer(lab)
      await lab.ok(lab.hosted('other', 'sh', '-c', 'echo the secret of another; cat'))
      await lab.sees('other', 'the secret of another')
      expect(lab.tmux('list-panes', '-a', '-F', '#{pane_id}')).toBe('%0\n')
      writeFileSync(go, '')
      await lab.hf(['wait', 's', '--timeout', '30s'])
      const { keeper } = await lab.status('s')
      await gone(keeper)
      expect(await lab.ok(['logs', 's'])).toBe('')
    }),
  )

/** One that dies with its terminal, and one that hears nothing of it. */
const LEAVES_A_TREE = 'sleep 1000 & echo $! >"$FA_DIR/plain.pid"; setsid sleep 1000 & echo $! >"$FA_DIR/apart.pid"; echo left'

for (const shell of SHELLS)
  for (const which of ['pane', 'server'])
    verifies('evidence', `${shell}: --until tree: when its agent is over, the end of its ${which} still ends the run, tree and all`, () =>
      inHostedLab(async (lab) => {
        const [first, ...rest] = lab.hosted('s', 'sh', '-c', LEAVES_A_TREE)
        await startWith(lab, shell, [first ?? '', '--until', 'tree', ...rest])
        const left = await Promise.all(['plain', 'apart'].map((name) => lab.pid(name)))
        await until('its agent to be over', async () => (await lab.ok(['status', 's'])).includes('--until tree'))
        expect(left.map(isAlive)).toEqual([true, true])
        const { keeper } = await lab.status('s')
        if (which === 'server') await killServer(lab)
        else {
          lab.tmux('new-session', '-d', '-s', 'another', 'exec sleep 1000')
          lab.tmux('kill-session', '-t', `=${await lab.tmuxOf('s')}`)
        }
        await lab.hf(['wait', 's', '--timeout', '30s'])
        expect(left.map(isAlive)).toEqual([false, false])
        expect(await lab.status('s')).toMatchObject({
          state: 'stopped',
          exit: { code: 0 },
          reason: `its tmux pane was closed${which === 'server' ? ': its tmux server is gone' : ''}`,
          endedBy: which === 'server' ? 'tmux' : 'SIGHUP',
        })
        await gone(keeper)
        if (which === 'pane') lab.tmux('kill-session', '-t', '=another')
      }),
    )

for (const shell of SHELLS)
  verifies('evidence', `${shell}: --until tree: a pane that is closed in the very moment after its agent has ended ends the run too`, () =>
    inHostedLab(async (lab) => {
      // What is left closes it as soon as the end of the agent is written down, while its keeper still has Node look at the rest.
      const closes = `until grep -q "^1 " "\${HOLDFAST_FENCE%/*}/exit"; do :; done; tmux -S ${lab.socket} kill-session -t "=$HOLDFAST_RUN"; exec sleep 1000`
      const [first, ...rest] = lab.hosted('s', 'sh', '-c', `setsid sh -c '${closes}' & echo $! >"$FA_DIR/left.pid"; exit 0`)
      await startWith(lab, shell, [first ?? '', '--until', 'tree', ...rest])
      const left = await lab.pid('left')
      await lab.hf(['wait', 's', '--timeout', '30s'])
      expect(isAlive(left)).toBe(false)
      expect(await lab.status('s')).toMatchObject({ state: 'stopped', reason: expect.stringMatching(/^its tmux pane was closed/) as string })
    }),
  )
