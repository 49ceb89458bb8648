import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, cgroupsOf, gone, inLab, isAlive, type Lab, readOr, startOf, until } from './lab.ts'
import { parentOf, withoutCgroup } from './users.ts'

/** A program by another name: what a process is called is the name of its file. */
function named(lab: Lab, name: string): string {
  const path = join(lab.dir, name)
  copyFileSync('/bin/sleep', path)
  return path
}
/** An agent that starts these, each in a session of its own, writes down who they are, and works on. */
const agent = (...commands: string[]): string[] => [
  'sh',
  '-c',
  `${commands.map((command, index) => `setsid ${command} & echo $! >"$FA_DIR/p${index}.pid"`).join('; ')}; echo $$ >"$FA_DIR/main.pid"; exec sleep 1000`,
]
const install = (lab: Lab): string => readOr(join(lab.home, 'install')).trim()

verifies('innocent', 'what is on the spare list is reported and left alone, what it started too, and no cgroup is kept by it', () =>
  inLab(async (lab) => {
    const script = `#!/bin/sh\nsleep 1003 & echo $! >"$FA_DIR/below.pid"; exec ${named(lab, 'gpg-agent')} 1001\n`
    writeFileSync(join(lab.dir, 'start'), script, { mode: 0o755 })
    await lab.ok(lab.detached('s', ...agent(join(lab.dir, 'start'), 'sleep 1002')))
    const [spared, below, leftover] = [await lab.pid('p0'), await lab.pid('below'), await lab.pid('p1')]
    await until('its name', () => readOr(`/proc/${spared}/comm`).trim() === 'gpg-agent')
    expect(await lab.ok(['tree', 's'])).toMatch(new RegExp(`\\n${spared} +S +spared +- +gpg-agent {2}· a key agent\\n`))
    process.kill(await lab.pid('main'), 'SIGKILL')
    await gone(leftover)
    const status = await until('its end', async () => ((await lab.status('s')).state === 'failed' ? lab.ok(['status', 's', '--verbose']) : null))
    expect(status).toContain(`left alone: gpg-agent (pid ${spared}): a key agent`)
    expect(status).toContain(`ended with it: sleep (pid ${leftover})`)
    expect([spared, below].map(isAlive)).toEqual([true, true])
    await until('no cgroup', () => cgroupsOf(install(lab)).length === 0)
    for (const pid of [spared, below]) process.kill(pid, 'SIGKILL')
  }),
)

verifies(
  'innocent',
  'the list can be added to and taken from; an agent is never spared itself; a broken list spares what the shipped one does, and stops nothing',
  () =>
    inLab(async (lab) => {
      const commands = [`${named(lab, 'my-daemon')} 1001`, `${named(lab, 'ssh-agent')} 1002`]
      const config = join(lab.home, 'config.toml')
      const run = async (): Promise<number[]> => {
        await lab.ok(lab.detached('s', ...agent(...commands)))
        const pids = [await lab.pid('p0'), await lab.pid('p1')]
        await until(
          'their names',
          () => readOr(`/proc/${pids[1]}/comm`).trim() === 'ssh-agent' && readOr(`/proc/${pids[0]}/comm`).trim() === 'my-daemon',
        )
        return pids
      }
      const alive = (pids: number[]): boolean[] => {
        const left = pids.map(isAlive)
        for (const [index, pid] of pids.entries()) if (left[index] === true) process.kill(pid, 'SIGKILL')
        return left
      }
      mkdirSync(lab.home, { recursive: true, mode: 0o700 })
      writeFileSync(config, '[spare]\nadd = ["my-daemon"]\ndrop = ["ssh-agent"]\n')
      const first = await run()
      expect(await lab.ok(['stop', 's'])).toContain(`left my-daemon (pid ${first[0]}) running: on your own list`)
      expect(alive(first)).toEqual([true, false])
      for (const broken of ['[spare\n', '[spare]\nadd = "x"\n', '[spare]\nfoo = ["x"]\n', 'other = 1\n']) {
        writeFileSync(config, '')
        const pids = await run()
        writeFileSync(config, broken)
        expect(await lab.hf(lab.detached('t', 'true')), broken).toMatchObject({ code: 64, stderr: expect.stringContaining('config.toml') as string })
        const { code, stderr } = await lab.hf(['stop', 's'])
        expect([code, stderr], broken).toEqual([0, expect.stringMatching(/config\.toml.*; it was left out of account/)])
        expect(alive(pids), broken).toEqual([false, true])
      }
      expect(await lab.hf(['doctor'])).toMatchObject({ code: 76, stdout: expect.stringContaining('config.toml: unknown key "other"') as string })
      writeFileSync(config, '')
      await lab.ok(lab.detached('s', named(lab, 'firefox'), '1000'))
      const { pid } = await lab.status('s')
      await lab.ok(['stop', 's'])
      expect(isAlive(pid)).toBe(false)
    }),
)

/** An agent that adopts every orphan below it, as some runtimes do: `prctl(PR_SET_CHILD_SUBREAPER, 1)`, then the command, then it works on. */
const adopting = (command: string): string[] => ['perl', '-e', 'syscall(157, 36, 1, 0, 0, 0); system(shift); sleep 1000', command]

for (const contained of [true, false])
  verifies(
    'innocent',
    `our own tmux server, first started from inside and adopted by the agent, is not of the run ${contained ? 'in a cgroup' : 'without one'}`,
    () =>
      inLab(async (lab) => {
        const command = contained ? COMMAND : withoutCgroup(lab)
        const inner = `${command} run --tmux --independent --session t --dir ${lab.newDir()} -d -- sleep 1001 && touch "$FA_DIR/started"`
        await lab.ok(lab.detached('s', ...adopting(inner)), { command })
        const { pid, keeper } = await until('the run inside', async () => {
          const seen = await lab.hf(['status', 't', '--json'])
          const told = seen.code === 0 ? (JSON.parse(seen.stdout) as { pid: number | null; keeper: number; state: string }) : null
          // Before that its launcher, which is of the session around it, is still at work.
          return told !== null && told.pid !== null && told.state === 'running' && existsSync(join(lab.agentDir, 'started'))
            ? { ...told, pid: told.pid }
            : null
        })
        const server = parentOf(keeper)
        expect(readOr(`/proc/${server}/comm`)).toContain('tmux')
        expect(await lab.ok(['stop', 's', '--grace', '1s'], { command })).not.toContain('tmux')
        expect([server, keeper, pid].map(isAlive)).toEqual([true, true, true])
        await lab.ok(['stop', 't', '--grace', '1s'], { command })
        await gone(server)
      }),
  )

/**
 * A stand-in for Claude Code with its daemon: the process is called claude, its command line begins with `claude daemon run`, its registry is
 * as the real one writes it (2.1.325, measured). The real one was tried by hand; adapters bring it into the tests.
 */
const FORGET =
  'const fs = require("fs"), file = process.env.CLAUDE_CONFIG_DIR + "/daemon/roster.json", roster = JSON.parse(fs.readFileSync(file)); delete roster.workers[process.argv[1]]; fs.writeFileSync(file, JSON.stringify(roster))'
const CLAUDE = `#!/bin/sh
case "$1 $2" in
'daemon stop') echo "daemon" >>"$FA_DIR/asked"; kill "$(cat "$FA_DIR/daemon.pid")" ;;
stop*) echo "$2" >>"$FA_DIR/asked"; kill "$(cat "$FA_DIR/$2.pid")"; node -e '${FORGET}' "$2" ;;
esac
`
const worker = (pid: number, cwd: string, sessionId?: string): object => ({ pid, procStart: startOf(pid), cwd, startedAt: Date.now(), sessionId })
type Pids = { readonly daemon: number; readonly one: number; readonly two: number; readonly asked: () => string }

/** One worker for the session here and one for another, by what the roster says; null: it makes no sense. */
async function withDaemon(lab: Lab, roster: ((pids: { one: number; two: number }) => object) | null, more: string[] = []): Promise<Pids> {
  const home = join(lab.agentDir, 'claude')
  const [bin, real] = [join(lab.dir, 'bin'), join(lab.dir, 'real')]
  for (const folder of [join(home, 'daemon'), bin, real]) mkdirSync(folder, { recursive: true })
  copyFileSync('/usr/bin/tail', join(real, 'claude'))
  writeFileSync(join(bin, 'claude'), CLAUDE, { mode: 0o755 })
  // A tail that follows two files called daemon and run has the command line of the real thing.
  for (const file of ['daemon', 'run']) writeFileSync(join(lab.dir, file), '')
  // The workers are the daemon's children: they are there before it takes its name.
  const lines = [
    'sleep 1001 & echo $! >"$FA_DIR/one.pid"',
    'sleep 1002 & echo $! >"$FA_DIR/two.pid"',
    ...more,
    'echo $$ >"$FA_DIR/daemon.pid"',
    `exec -a ${bin}/claude ${real}/claude daemon run -q -f`,
  ]
  writeFileSync(join(lab.dir, 'start.sh'), lines.join('\n'))
  const script = 'setsid bash start.sh & exec sleep 1000'
  await lab.ok(lab.detached('s', 'bash', '-c', script), { env: { CLAUDE_CONFIG_DIR: home } })
  const pids = { daemon: await lab.pid('daemon'), one: await lab.pid('one'), two: await lab.pid('two') }
  await until('its name', () => readOr(`/proc/${pids.daemon}/cmdline`).startsWith(`${bin}/claude\0daemon\0run`))
  writeFileSync(join(home, 'daemon', 'roster.json'), roster === null ? '{}' : JSON.stringify({ proto: 1, workers: roster(pids) }))
  return { ...pids, asked: () => readOr(join(lab.agentDir, 'asked')) }
}

verifies(
  'innocent',
  "a harness's shared daemon that serves another session is left alone, with that session; ours is ended the harness's own way",
  () =>
    inLab(async (lab) => {
      const { daemon, one, two, asked } = await withDaemon(lab, ({ one: own, two: other }) => ({
        one: worker(own, lab.dir),
        two: worker(other, '/elsewhere'),
      }))
      expect(await lab.ok(['tree', 's'])).toMatch(
        new RegExp(`\\n${daemon} .*spared .*Claude Code's daemon; it also serves a session elsewhere \\(/elsewhere\\)`),
      )
      expect(await lab.ok(['stop', 's'])).toContain(`left claude (pid ${daemon}) running: Claude Code's daemon; it also serves a session elsewhere`)
      expect([daemon, one, two].map(isAlive)).toEqual([true, false, true])
      expect(asked()).toBe('one\n')
      for (const pid of [daemon, two]) process.kill(pid, 'SIGKILL')
    }),
)

verifies('stop-proof', 'one that serves only this session is asked to end, and seen gone', () =>
  inLab(async (lab) => {
    const { daemon, one, two, asked } = await withDaemon(lab, ({ one: own }) => ({ one: worker(own, lab.dir) }))
    await lab.ok(['stop', 's'])
    expect([daemon, one, two].map(isAlive)).toEqual([false, false, false])
    expect(asked()).toBe('daemon\n')
  }),
)

/** What the daemon starts for the second session, once it is told to: in the background, so that it loses its parent. */
const TOOL = `(until [ -e "$FA_DIR/go" ]; do sleep 0.05; done; CLAUDE_CODE_SESSION_ID=22222222-2 CLAUDE_JOB_DIR=/jobs/22222222 sh -c 'echo $$ >"$FA_DIR/tool.pid"; exec sleep 1003' &) &`

verifies(
  'innocent',
  'of two runs whose sessions share a daemon each ends its own, by the id that the harness gave it, whatever marker it carries',
  () =>
    inLab(async (lab) => {
      const { daemon, one, two, asked } = await withDaemon(
        lab,
        ({ one: own, two: other }) => ({
          one: worker(own, lab.dir, '11111111-1'),
          two: worker(other, '/elsewhere', '22222222-2'),
        }),
        [TOOL],
      )
      await lab.ok(['run', '--session', 't', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
      for (const [session, id] of [
        ['s', '11111111-1'],
        ['t', '22222222-2'],
      ] as const) {
        const { run } = JSON.parse(await lab.ok(['status', session, '--json'])) as { run: string }
        writeFileSync(join(lab.home, 'runs', run, 'native'), `claude ${id}\n`)
      }
      writeFileSync(join(lab.agentDir, 'go'), '')
      const tool = await lab.pid('tool')
      await until('its parent to be gone', () => / 1 /.test(readOr(`/proc/${tool}/stat`).split(')')[1]?.slice(2, 6) ?? ''))
      await until('the tool itself', () => readOr(`/proc/${tool}/comm`).trim() === 'sleep')
      const tree = async (session: string): Promise<string> => lab.ok(['tree', session])
      expect(await tree('s')).not.toMatch(new RegExp(`\\n(${tool}|${two}) `))
      for (const pid of [tool, two]) expect(await tree('t')).toMatch(new RegExp(`\\n${pid} +S +harness-id `))
      await lab.ok(['stop', 's'])
      expect([daemon, one, two, tool].map(isAlive)).toEqual([true, false, true, true])
      await lab.ok(['stop', 't'])
      expect([daemon, two, tool].map(isAlive)).toEqual([true, false, false])
      expect(asked()).toBe('one\ntwo\n')
      process.kill(daemon, 'SIGKILL')
    }),
)

verifies('unknown', 'one of whom it cannot be told is left alone, and reported', () =>
  inLab(async (lab) => {
    const { daemon, one, two, asked } = await withDaemon(lab, null)
    expect(await lab.ok(['stop', 's'])).toContain("Claude Code's daemon; it could not be told whom it serves")
    expect([daemon, one, two].map(isAlive)).toEqual([true, true, true])
    expect(asked()).toBe('')
    for (const pid of [daemon, one, two]) process.kill(pid, 'SIGKILL')
  }),
)
