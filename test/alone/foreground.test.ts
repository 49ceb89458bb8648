import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AGENT, COMMAND, collect, gone, inLab, isAlive, type Lab, readOr, stateOf, until } from '../real/lab.ts'
import { onTerminal } from '../real/terminal.ts'
import { isRoot, withoutCgroup } from '../real/users.ts'
import { verifies } from '../requirements.ts'

const writeScript = (lab: Lab, text: string): string => {
  const path = join(lab.dir, 'agent.sh')
  writeFileSync(path, text)
  return path
}

const SHELL = ['env', 'PS1=prompt> ', 'bash', '--norc', '-i']

test('stdin, stdout, umask and ignored signals are what they would be without us', () =>
  inLab(async (lab) => {
    const run = (...argv: string[]) => ['run', '--session', 's', '--dir', lab.dir, '--', ...argv]
    expect((await lab.hf(run('cat'), { input: 'hello\n' })).stdout).toBe('hello\n')
    const shell = async (script: string) => (await collect(spawn('bash', ['-c', script], { env: lab.env, stdio: ['ignore', 'pipe', 'pipe'] }))).stdout
    expect(readdirSync(join(lab.home, 'runs')).flatMap((run) => readdirSync(join(lab.home, 'runs', run)))).not.toContain('ear')
    expect(await shell(`umask 027; ${COMMAND} run --session s --dir ${lab.dir} -- sh -c umask`)).toBe('0027\n')
    for (const trap of ['', "trap '' HUP;", "trap '' INT QUIT;", "trap '' TERM USR1;"]) {
      const look = 'grep -h SigIgn /proc/self/status'
      const [without, with_] = (await shell(`${trap} ${look}; ${COMMAND} run --session s --dir ${lab.dir} -- ${look}`)).trim().split('\n')
      expect(with_, trap).toBe(without)
    }
    expect((await lab.hf(run('sh', '-c', 'echo out; echo err >&2'))).stderr).toBe('err\n')
    const argv = ['a b', "it's", '"q"', '$HOME', '*', '', 'ü\n2', '\\', '-n', '--']
    expect((await lab.hf(run('printf', '%s|', ...argv))).stdout).toBe(`${argv.join('|')}|`)
  }))

test('the end of our output is the end of the agent’s, even while it lives on', () =>
  inLab(async (lab) => {
    const child = lab.start(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', 'echo done; exec >&- 2>&-; sleep 1000'])
    await new Promise((resolve) => child.stdout?.resume().once('end', resolve))
    expect((await lab.status('s')).state).toBe('running')
    await lab.ok(['stop', 's'])
  }))

verifies('bounded', 'no Node of ours stays while a session runs, and what stays is small', () =>
  inLab(async (lab) => {
    const child = lab.start(['run', '--session', 's', '--dir', lab.dir, '--', AGENT, 'idle'])
    await lab.pid('main')
    const { keeper } = await lab.status('s')
    expect(keeper).toBe(child.pid)
    const ours = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && readOr(`/proc/${entry}/environ`).includes(lab.env['HF_LAB'] as string))
    const programs = await until('only shells and the agent', () => {
      const links = ours.filter((entry) => isAlive(Number(entry))).map((entry) => readlinkSync(`/proc/${entry}/exe`))
      return links.some((link) => link.endsWith('/node')) ? null : links
    })
    // The keeper, its ear, its guard and the agent.
    expect(programs).toHaveLength(4)
    const pss = Number(/^Pss:\s+(\d+) kB/m.exec(readOr(`/proc/${keeper}/smaps_rollup`))?.[1] ?? '0')
    expect(pss).toBeLessThan(1000)
    await lab.ok(['stop', 's'])
  }),
)

test('Ctrl-C reaches the agent and ends the run as it ended the agent', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      terminal.type([`${COMMAND} run --session int -- ${AGENT} idle; echo "code=$?"`, 'Enter'])
      await lab.pid('main')
      await until('the agent to sleep', async () => (await lab.status('int')).state === 'running')
      terminal.type(['C-c'])
      await terminal.sees('code=130')
      expect(await lab.status('int')).toMatchObject({ state: 'failed', exit: { signal: 'SIGINT' } })
    }),
  ))

test('an agent that handles Ctrl-C gets it once, and lives', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      const script = writeScript(lab, 'trap "echo caught >>$FA_DIR/caught" INT; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.1; done')
      terminal.type([`${COMMAND} run --session int -- bash ${script}`, 'Enter'])
      const pid = await lab.pid('main')
      terminal.type(['C-c'])
      await until('the trap', () => readOr(join(lab.agentDir, 'caught')))
      terminal.type(['C-c'])
      await until('the second', () => readOr(join(lab.agentDir, 'caught')).length > 7)
      expect(readFileSync(join(lab.agentDir, 'caught'), 'utf8')).toBe('caught\ncaught\n')
      expect(isAlive(pid)).toBe(true)
      await lab.ok(['stop', 'int'])
    }),
  ))

test('Ctrl-Z gives the prompt back, fg goes on', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      terminal.type([`${COMMAND} run --session tstp -- ${AGENT} idle; echo "code=$?"`, 'Enter'])
      const pid = await lab.pid('main')
      await until('the agent', async () => (await lab.status('tstp')).state === 'running')
      terminal.type(['C-z'])
      terminal.type(['echo back-$((40+2))', 'Enter'])
      await terminal.sees('back-42')
      expect(stateOf(pid)).toBe('T')
      expect(await lab.status('tstp')).toMatchObject({ state: 'running', liveness: 'alive' })
      terminal.type(['fg', 'Enter'])
      await until('the agent to go on', () => stateOf(pid) === 'S')
      terminal.type(['C-c'])
      await until('the end', async () => (await lab.status('tstp')).state === 'failed')
    }),
  ))

test('an agent that stops only itself gives the prompt back too, and goes on with fg', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      const script = writeScript(lab, 'echo $$ >$FA_DIR/main.pid; kill -STOP $$; echo went-on; sleep 0.3; kill -STOP $$; exit 9')
      terminal.type([`${COMMAND} run --session self -- bash ${script}; echo "code=$?"`, 'Enter'])
      const pid = await lab.pid('main')
      await until('the agent to stop', () => stateOf(pid) === 'T')
      await terminal.sees('Stopped')
      terminal.type(['echo back-$((40+2))', 'Enter'])
      await terminal.sees('back-42')
      expect(await lab.status('self')).toMatchObject({ state: 'running', liveness: 'alive' })
      terminal.type(['fg', 'Enter'])
      await terminal.sees('went-on')
      await until('the agent to stop again', () => stateOf(pid) === 'T')
      // Woken by somebody else, it is not left without its keeper.
      process.kill(pid, 'SIGCONT')
      await gone(pid)
      await until('the end', async () => (await lab.status('self')).state === 'failed')
      expect(await lab.status('self')).toMatchObject({ exit: { code: 9, signal: null } })
    }),
  ))

test('the agent sees the window and its changes', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      const script = writeScript(lab, 'trap "stty size >$FA_DIR/size" WINCH; stty size; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.1; done')
      terminal.type([`${COMMAND} run --session win -- bash ${script}`, 'Enter'])
      await lab.pid('main')
      await terminal.sees('30 100')
      terminal.resize(91, 21)
      await until('the change', () => readOr(join(lab.agentDir, 'size')) === '21 91\n')
      await lab.ok(['stop', 'win'])
    }),
  ))

verifies('evidence', 'closing the window ends the tree, and leaves an exit record', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      terminal.type([`${COMMAND} run --session hup -- ${AGENT} tree`, 'Enter'])
      const pids = await Promise.all(['main', 'plain', 'setsid', 'scrubbed'].map(lab.pid))
      await until('the agent', async () => (await lab.status('hup')).state === 'running')
      terminal.close()
      await Promise.all(pids.map(gone))
      await until('the end', async () => (await lab.status('hup')).state === 'stopped')
      expect(await lab.status('hup')).toMatchObject({ exit: { signal: 'SIGHUP' }, reason: 'the holdfast command received SIGHUP' })
    }),
  ),
)

verifies('one-owner', 'on a terminal a second start shows the holder and asks: leave, or take over', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      await lab.ok(lab.detached('ask', AGENT, 'idle'))
      const { pid } = await lab.status('ask')
      terminal.type([`clear; ${COMMAND} resume ask; echo "code=$?"`, 'Enter'])
      await terminal.sees(`held by pid ${pid}`)
      await terminal.sees('[a]ttach, [t]ake over, or [l]eave?')
      const refusals = async (): Promise<unknown[]> =>
        (JSON.parse(await lab.ok(['events', 'ask', '--json'])) as { kind: string; detail: { dir: string } }[])
          .filter(({ kind }) => kind === 'refused')
          .map(({ detail }) => detail.dir)
      // Who is asked was not refused yet.
      expect(await refusals()).toEqual([])
      terminal.type(['l', 'Enter'])
      await terminal.sees('code=75')
      expect(terminal.screen().match(/held by pid/g)).toHaveLength(1)
      expect([isAlive(pid), await refusals()]).toEqual([true, [lab.dir]])
      terminal.type([`clear; ${COMMAND} resume ask; echo "code=$?"`, 'Enter'])
      await terminal.sees('[l]eave?')
      terminal.type(['t', 'Enter'])
      await gone(pid)
      await until('the new owner', async () => (await lab.status('ask')).epoch === 2 && (await lab.status('ask')).pid)
      await lab.ok(['stop', 'ask'])
      await terminal.sees('code=143')
    }),
  ),
)

verifies('stop-proof', 'a foreground agent that has to be killed leaves its terminal whole, and no stopped job', () =>
  inLab(async (lab) => {
    // Without a cgroup an agent is frozen before it is killed, as for an ordinary user.
    const command = isRoot ? withoutCgroup(lab) : COMMAND
    await onTerminal(lab, SHELL, async (terminal) => {
      const modes = '\\033[?1049h\\033[?1000h\\033[?1006h\\033[?2004h\\033[?25l'
      const script = writeScript(
        lab,
        `trap '' TERM INT HUP; stty raw -echo; printf '${modes}'; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.1; done`,
      )
      terminal.type([`echo be''fore; ${command} run --session kill -- bash ${script}; echo "code=$?"`, 'Enter'])
      await lab.pid('main')
      await until('its screen', () => terminal.modes() === '1 1 0')
      await lab.ok(['stop', 'kill', '--grace', '300ms'], { command })
      await terminal.sees('code=137')
      expect(terminal.screen()).toContain('before\n')
      expect(terminal.screen()).not.toContain('Stopped')
      // The shell is at its prompt again: typing shows, and nothing is reported.
      expect(terminal.modes()).toBe('0 0 1')
      terminal.type(['echo back-$((40+2)); stty -a | grep -c -- " -icanon"', 'Enter'])
      await terminal.sees(/back-42\n0\n/)
    })
  }),
)

verifies('named', 'a line that is pasted at the question is read to its end, and nothing behind it reaches the shell', () =>
  inLab((lab) =>
    onTerminal(lab, SHELL, async (terminal) => {
      await lab.ok(lab.detached('ask', AGENT, 'idle'))
      const { pid } = await lab.status('ask')
      terminal.type([`clear; ${COMMAND} resume ask; echo "code=$?"`, 'Enter'])
      await terminal.sees('[l]eave?')
      terminal.type([`${'x'.repeat(150)}; echo first-$((40+2))`, 'Enter', 'echo second-$((40+2))', 'Enter', 'echo third'])
      await terminal.sees('code=75')
      terminal.type(['echo last-$((40+2))', 'Enter'])
      await terminal.sees('last-42')
      expect(terminal.screen()).not.toMatch(/first-42|second-42|prompt> echo third/)
      expect(isAlive(pid)).toBe(true)
    }),
  ),
)
