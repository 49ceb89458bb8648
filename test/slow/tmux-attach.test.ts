import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Hosted, inHostedLab, SHELLS, TYPIST, withShell } from '../real/hosted.ts'
import { AGENT, COMMAND, collect, isAlive, readOr, stateOf, TEST_COMMAND, until } from '../real/lab.ts'
import { onTerminal, type Terminal } from '../real/terminal.ts'
import { verifies } from '../requirements.ts'

/** The terminal of these tests is another tmux, so they all join from inside one. */
const SHELL = ['env', 'PS1=prompt> ', 'bash', '--norc', '-i']
const clients = (lab: Hosted): string[] => lab.tmux('list-clients', '-F', '#{client_pid}').split('\n').filter(Boolean)
const alone = (lab: Hosted): Promise<unknown> => until('nobody to look at it', () => clients(lab).length === 0)

const withChildren = (pid: number): number[] => [pid, ...readOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)]

/** Keys that come within a millisecond are a paste, and no keys, to tmux. */
const prefixed = async (terminal: Terminal, key: string): Promise<void> => {
  terminal.type(['C-b'])
  await new Promise((next) => setTimeout(next, 20))
  terminal.type([key])
  await new Promise((next) => setTimeout(next, 20))
}
const typing = (terminal: Terminal, line: string): void => terminal.type([line, 'Enter'])

verifies('one-owner', 'joining a session from inside another tmux; leaving, closing the window or killing the client never touches it', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST))
    const { pid, keeper } = await lab.status('s')
    await onTerminal(lab, SHELL, async (terminal) => {
      await terminal.sees('prompt>')
      typing(terminal, `${COMMAND} attach s; echo left=$?`)
      // Its own tmux takes the first C-b.
      await terminal.sees(' C-b C-b d leaves it running')
      await terminal.sees('ready')
      terminal.resize(90, 24)
      await lab.sees('s', '[90 wide]')
      const [client] = clients(lab)
      expect(client).toBeDefined()
      await prefixed(terminal, 'd')
      await terminal.sees('left=0')
      await terminal.sees('s goes on; holdfast attach s joins it again')
      await alone(lab)
      typing(terminal, `${COMMAND} attach s`)
      const again = await until('a client', () => clients(lab)[0])
      // No Node stays: a shell waits for the client.
      const [, shell = ''] = /^PPid:\s*(\d+)$/m.exec(readOr(`/proc/${again}/status`)) ?? []
      expect(readOr(`/proc/${shell}/cmdline`)).toMatch(/^\/bin\/sh\0.*\/bin\/holdfast\0attach\0s\0$/)
      expect(readOr(`/proc/${shell}/task/${shell}/children`).trim()).toBe(again)
      process.kill(Number(again), 'SIGKILL')
      await alone(lab)
      typing(terminal, `reset; ${COMMAND} attach s`)
      await until('a client', () => clients(lab)[0])
      await prefixed(terminal, 'C-z')
      await terminal.sees('Stopped')
      typing(terminal, 'fg; echo over=$?')
      await terminal.sees('leaves it running')
      // Who ends the command ends its client.
      const parent = /^PPid:\s*(\d+)$/m.exec(readOr(`/proc/${clients(lab)[0]}/status`))?.[1]
      process.kill(Number(parent), 'SIGTERM')
      await alone(lab)
      await terminal.sees('over=143')
      typing(terminal, `reset; ${COMMAND} attach s`)
      await until('a client', () => clients(lab)[0])
      terminal.close()
      await alone(lab)
    })
    expect([isAlive(pid), isAlive(keeper)]).toEqual([true, true])
    expect(await lab.status('s')).toMatchObject({ state: 'running', pid })
    // Without a terminal: what to do instead.
    const refused = await lab.hf(['attach', 's'])
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringMatching(/needs a terminal[\s\S]*holdfast send s/)])
  }),
)

for (const shell of SHELLS)
  test(`${shell}: who leaves a pane gets 0, and the agent's code if that has ended`, () =>
    inHostedLab(async (lab) => {
      await lab.ok(lab.hosted('s', 'sh', '-c', 'echo ready; read -r word; exit 7'))
      const attach = withShell(shell, COMMAND, 'attach', 's').map((word) => `'${word}'`)
      await onTerminal(lab, SHELL, async (terminal) => {
        await terminal.sees('prompt>')
        typing(terminal, `${attach.join(' ')}; echo left=$?`)
        await terminal.sees('leaves it running')
        await prefixed(terminal, 'd')
        await terminal.sees('left=0')
        await alone(lab)
        typing(terminal, `clear; ${attach.join(' ')}; echo over=$?`)
        await until('a client', () => clients(lab)[0])
        terminal.type(['x', 'Enter'])
        await terminal.sees('over=7')
      })
    }))

verifies('private', 'who comes too late to join starts no server in its place, and none with his own configuration', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', 'cat'))
    const [bin, home, at, go] = [lab.newDir(), lab.newDir(), join(lab.agentDir, 'at'), join(lab.agentDir, 'go')]
    const tmux = spawnSync('which', ['tmux'], { encoding: 'utf8' }).stdout.trim()
    const late = `case "$*" in *attach-session*) : >${at}; until [ -e ${go} ]; do sleep 0.02; done ;; esac`
    writeFileSync(join(bin, 'tmux'), `#!/bin/sh\n${late}\nexec ${tmux} "$@"\n`, { mode: 0o755 })
    writeFileSync(join(home, '.tmux.conf'), 'new-session -d -s foreign "exec sleep 1000"\n')
    await onTerminal(lab, SHELL, async (terminal) => {
      await terminal.sees('prompt>')
      typing(terminal, `HOME=${home} PATH=${bin}:$PATH ${COMMAND} attach s; echo left=$?`)
      await until('it to be about to join', () => existsSync(at))
      await lab.ok(['stop', 's'])
      await until('its server to leave', () => lab.server() === null)
      writeFileSync(go, '')
      await terminal.sees('s stopped')
      await terminal.sees(/left=\d/)
      expect(lab.server()).toBeNull()
    })
  }),
)

test('on a terminal run --tmux joins what it has started, and a live session offers to be joined', () =>
  inHostedLab(async (lab) => {
    await onTerminal(lab, SHELL, async (terminal) => {
      await terminal.sees('prompt>')
      typing(terminal, `${COMMAND} run --session s --dir ${lab.dir} --tmux -- sh -c 'echo in the pane; read -r x; exit 5'`)
      await terminal.sees('leaves it running')
      await terminal.sees('in the pane')
      await prefixed(terminal, 'd')
      await terminal.sees('detached')
      await alone(lab)
      typing(terminal, `clear; ${COMMAND} resume s`)
      await terminal.sees('[a]ttach')
      terminal.type(['a', 'Enter'])
      await terminal.sees('in the pane')
      await until('a client', () => clients(lab)[0])
      await prefixed(terminal, 'd')
      await alone(lab)
      typing(terminal, `clear; ${COMMAND} resume s --attach; echo code=$?`)
      await until('a client', () => clients(lab)[0])
      terminal.type(['x', 'Enter'])
      await terminal.sees('s failed: exit code 5; holdfast logs s')
      await terminal.sees('code=5')
    })
    expect((await lab.hf(['wait', 's', '--timeout', '20s'])).code).toBe(5)
  }))

verifies('evidence', 'what ended before it could be joined is told with its code, and not called alive', () =>
  inHostedLab(async (lab) => {
    await onTerminal(lab, SHELL, async (terminal) => {
      await terminal.sees('prompt>')
      const slow = 'HOLDFAST_FAILPOINTS=before:panes.isOpen=delay:6000'
      typing(terminal, `${slow} ${TEST_COMMAND} run --session s --dir ${lab.dir} --tmux -- sh -c 'exit 3'; echo code=$?`)
      await terminal.sees(/code=\d/)
      expect(terminal.screen()).toMatch(/s failed: exit code 3\ncode=3\n/)
    })
  }),
)

test('a server that is killed leaves a terminal that can be used', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST))
    await onTerminal(lab, SHELL, async (terminal) => {
      await terminal.sees('prompt>')
      typing(terminal, `${COMMAND} attach s`)
      await terminal.sees('ready')
      process.kill(lab.server() ?? expect.unreachable('no server'), 'SIGKILL')
      // Nothing was kept of its screen, so nobody is sent to look for it.
      await terminal.sees(/s stopped: its tmux pane was closed: its tmux server is gone\n/)
      typing(terminal, 'stty -a | grep -o " -*icanon\\| -*echo "')
      await terminal.sees(/^ icanon\n echo$/m)
    })
  }))

verifies('evidence', 'one that ends while it is looked at is told as ended: its screen is in its log, and nothing is typed', () =>
  inHostedLab(async (lab) => {
    for (const [session, verb] of [
      ['seen', ['logs', 'seen']],
      ['told', ['send', 'told', 'go on']],
    ] as const) {
      await lab.ok(lab.hosted(session, 'sh', '-c', 'echo its last words; read -r word; exit 7'))
      await until('its words', async () => (await lab.ok(['logs', session])).includes('its last words'))
      const command = lab.start([...verb], { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: 'before:panes.look=stop' } })
      const looking = collect(command)
      const stopped = await until('it to look', () => withChildren(command.pid ?? 0).find((pid) => stateOf(pid) === 'T'))
      lab.tmux('send-keys', '-t', `=${await lab.tmuxOf(session)}:`, 'Enter')
      expect((await lab.hf(['wait', session, '--timeout', '20s'])).code).toBe(7)
      await until('its server to leave with it', () => lab.server() === null)
      process.kill(stopped, 'SIGCONT')
      const { code, stdout, stderr } = await looking
      if (verb[0] === 'logs') expect([code, stdout]).toEqual([0, expect.stringContaining('its last words')])
      else expect([code, stderr]).toEqual([66, expect.stringMatching(/session told has just ended \(failed: exit code 7\)/)])
    }
  }),
)

test('no key kills, splits or renames by a slip; from a pane of ours one goes to another', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('other', 'sh', '-c', 'echo the other pane; cat'))
    await lab.ok(lab.hosted('s', ...SHELL))
    const name = await lab.tmuxOf('s')
    await onTerminal(lab, SHELL, async (terminal) => {
      await terminal.sees('prompt>')
      typing(terminal, `${COMMAND} attach s`)
      await terminal.sees('leaves it running')
      for (const key of ['x', '&', 'c', '%', '"', '$', ':', '!', ',', '.', '<', '>']) await prefixed(terminal, key)
      typing(terminal, 'echo still$((1+1))here')
      await terminal.sees('still2here')
      expect(lab.tmux('list-panes', '-a', '-F', '#{session_name}').trim().split('\n').toSorted()).toEqual(
        [await lab.tmuxOf('other'), name].toSorted(),
      )
      typing(terminal, `clear; ${COMMAND} attach s`)
      await terminal.sees('you are in session s')
      typing(terminal, `${COMMAND} attach other`)
      await terminal.sees('the other pane')
      expect(clients(lab)).toHaveLength(1)
      await prefixed(terminal, 'd')
    })
  }))

test('what is no pane is not joined, and a TUI is not started without a terminal', () =>
  inHostedLab(async (lab) => {
    const env = { PATH: `${join(process.cwd(), 'test/fixtures')}:${process.env['PATH']}`, CLAUDE_CONFIG_DIR: lab.newDir(), FA_DO: 'wait' }
    for (const words of [[], ['a prompt'], ['--resume', 'x1234']]) {
      const refused = await lab.hf(['run', '--detach', 'claude', ...words], { env })
      expect([refused.code, refused.stderr], words.join(' ')).toEqual([
        64,
        expect.stringMatching(/needs a terminal[\s\S]*--tmux[\s\S]*--prompt TEXT[\s\S]*-- claude/),
      ])
    }
    spawnSync('mkfifo', [join(lab.agentDir, 'never')])
    await lab.ok(['run', '--session', 'tui', '--detach', '--tmux', 'claude'], { env })
    expect(await lab.status('tui')).toMatchObject({ state: 'running', harness: 'claude' })
    await lab.ok(['run', '--session', 'plain', '--share', '--detach', '--', AGENT, 'idle'])
    for (const [session, why] of [
      ['plain', 'has no terminal'],
      ['nobody', 'no such session'],
    ]) {
      const refused = await lab.hf(['send', session ?? '', 'x'])
      expect([refused.code, refused.stderr]).toEqual([session === 'plain' ? 64 : 66, expect.stringContaining(why ?? '')])
    }
  }))
