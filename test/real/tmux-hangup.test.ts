import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { type Hosted, inHostedLab, SHELLS, withShell } from './hosted.ts'
import { COMMAND, gone, until } from './lab.ts'

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
