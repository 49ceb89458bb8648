import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, gone, inLab, type Lab, readOr, startOf, until } from './lab.ts'
import { calling, INITIALIZE } from './mcp-client.ts'
import { carries, program, register, stranger } from './strangers.ts'

type Answer = Record<string, unknown>
/** What a command wrote to a file of the agent's folder. */
const heard = (lab: Lab, name: string): Promise<Answer> =>
  until(`${name} to be told`, () => {
    const text = readOr(join(lab.agentDir, name))
    return text.endsWith('\n') && (JSON.parse(text) as Answer)
  })
const HERE = `"${COMMAND}"`
const told = (name: string): string => `whoami --json >"$FA_DIR/${name}"`
const siblingsOf = async (lab: Lab, ...words: string[]): Promise<Answer[]> => JSON.parse(await lab.ok(['siblings', '--json', ...words])) as Answer[]
const namesOf = (found: readonly Answer[]): unknown[] => found.map(({ session }) => session).toSorted()

verifies('self', 'inside a session: with its environment and without, in one that is nested, and not in an agent that somebody else starts', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude', '/bin/bash')
    const held = lab.newDir()
    const inner = `${HERE} ${told('inner')}; ${HERE} siblings --json >"$FA_DIR/seen"; ${HERE} siblings >"$FA_DIR/text"`
    writeFileSync(join(lab.agentDir, 'inner.sh'), inner)
    const lines = [
      `${HERE} ${told('own')}`,
      // A custom home is gone with the environment, and found all the same.
      `env -i PATH="$PATH" ${COMMAND} whoami --json >"$FA_DIR/stripped"`,
      `"${claude}" -c '${HERE} ${told('plain')}; :' other`,
      `${HERE} report 'write the tests first' >/dev/null`,
      `${HERE} lock ${held} >/dev/null`,
      `${HERE} run --session inner --dir ${lab.newDir()} -- sh "$FA_DIR/inner.sh"`,
      'env >"$FA_DIR/environment"; read -r x',
    ]
    await lab.ok(lab.detached('outer', claude, '-c', lines.join('\n')))
    const { pid } = await lab.status('outer')
    expect(await heard(lab, 'own')).toMatchObject({ kind: 'session', session: 'outer', how: 'cookie', epoch: 1 })
    expect(await heard(lab, 'stripped')).toMatchObject({ kind: 'session', session: 'outer', how: 'marker' })
    expect(await heard(lab, 'plain')).toMatchObject({ kind: 'agent', session: null, harness: 'claude', inside: 'outer' })
    expect(await heard(lab, 'inner')).toMatchObject({ kind: 'session', session: 'inner', how: 'cookie' })
    const plan = { text: 'write the tests first', at: expect.any(String) as string }
    expect(await heard(lab, 'seen')).toMatchObject([{ session: 'outer', pid, relation: 'parent', doing: { plan, result: null }, locks: [held] }])
    // Whoever only has a copy of the environment is nobody.
    const copied = await until('its environment', () => readOr(join(lab.agentDir, 'environment')) || null)
    expect(readOr(join(lab.agentDir, 'text'))).toMatch(
      /^outer +running +\d+ .*\n {2}inner was started in it\n {2}plan \(.* ago\): write the tests first\n/m,
    )
    const entries = copied.split('\n').filter((line) => line.startsWith('HOLDFAST_'))
    const outside = await lab.hf(['whoami', '--json'], { env: Object.fromEntries(entries.map((line) => line.split(/=(.*)/s).slice(0, 2))) })
    expect([outside.code, JSON.parse(outside.stdout)]).toMatchObject([66, { session: null, how: null }])
  }),
)

function pipeIn(lab: Lab, name: string): string {
  spawnSync('mkfifo', [join(lab.agentDir, name)])
  return join(lab.agentDir, name)
}

/** An agent that nobody started but the test, and that does what it is told. */
async function withAgent(lab: Lab, body: (agent: { pid: number; tell: (command: string) => void }) => Promise<void>): Promise<void> {
  const pipe = pipeIn(lab, 'tell')
  const script = `export PATH=${process.env['PATH']} FA_DIR=${lab.agentDir} HOLDFAST_HOME=${lab.home} CLAUDE_CONFIG_DIR=${lab.agentDir}/claude; while read -r line <${pipe}; do eval "$line"; done`
  await stranger(lab.newDir(), program(lab, 'claude', '/bin/bash'), ['-c', script], ({ pid }) =>
    body({ pid, tell: (command) => writeFileSync(pipe, `${command}\n`) }),
  )
}

verifies(
  'self',
  'an agent that Holdfast did not start: nobody by a stale registry, itself by its own, and once it is adopted by what is on record',
  () =>
    inLab(async (lab) => {
      const native = randomUUID()
      await lab.ok([
        'run',
        '--session',
        'known',
        '--dir',
        lab.dir,
        '--detach',
        '--until',
        'tree',
        '--',
        'sh',
        '-c',
        `sleep 1000 & read -r x <${pipeIn(lab, 'leave')}`,
      ])
      carries(lab, 'known', native)
      await withAgent(lab, async ({ pid, tell }) => {
        const config = join(lab.agentDir, 'claude')
        const ask = async (name: string): Promise<Answer> => {
          tell(`${HERE} ${told(name)}`)
          return heard(lab, name)
        }
        expect(await ask('alone')).toMatchObject({ kind: 'agent', agentPid: pid, session: null, nativeId: null })
        register(config, pid, native, { procStart: '1' })
        expect(await ask('stale'), 'another process had this pid').toMatchObject({ kind: 'agent', agentPid: pid, session: null, nativeId: null })
        register(config, pid, native)
        const { pid: other } = await lab.status('known')
        expect(await ask('second'), 'two owners of one conversation').toMatchObject({
          kind: 'agent',
          nativeId: native,
          why: expect.stringContaining(`conversation of session known, as pid ${other} does`) as string,
        })
        writeFileSync(join(lab.agentDir, 'leave'), '\n')
        await gone(other)
        expect(await ask('listed')).toMatchObject({ kind: 'session', session: 'known', how: 'registry', nativeId: native })
        await lab.ok(['stop', 'known'])
        expect(await ask('over')).toMatchObject({ kind: 'agent', agentPid: pid, nativeId: native })
        await lab.ok(['adopt', String(pid), '--session', 'adopted'])
        expect(await ask('adopted')).toMatchObject({ kind: 'session', session: 'adopted', how: 'marker' })
        tell(`prlimit --pid $$ --rttime=unlimited; ${HERE} ${told('unmarked')}`)
        expect(await heard(lab, 'unmarked')).toMatchObject({ kind: 'session', session: 'adopted', how: 'process' })
      })
    }),
)

verifies('self', 'in a harness’s shared daemon its own word decides, and not the marker and environment of its first caller', () =>
  inLab(async (lab) => {
    const [first, second] = [randomUUID(), randomUUID()]
    const config = join(lab.agentDir, 'claude')
    for (const folder of [join(config, 'daemon'), join(lab.agentDir, 'd')]) mkdirSync(folder, { recursive: true })
    // A shell called claude that runs the script `daemon` has the command line of the real thing, and the marker of who started it.
    const worker = `echo $$ >"$FA_DIR/worker.pid"; until [ -e "$FA_DIR/go" ]; do sleep 0.02; done; ${HERE} ${told('worker')}; env -i PATH="$PATH" ${COMMAND} whoami --json >"$FA_DIR/bare"; sh "$FA_DIR/acts"; :`
    const orphan = (name: string, id: string): string =>
      `(CLAUDE_CODE_SESSION_ID=${id} CLAUDE_JOB_DIR=/jobs/${id.slice(0, 8)} setsid sh -c 'until [ -e "$FA_DIR/go" ] && [ "$(cut -d" " -f4 /proc/$$/stat)" != '$BASHPID' ]; do sleep 0.02; done; ${HERE} ${told(name)}' &)`
    const claim = `${orphan('forged', first)}; exec sleep 1000`
    const dir = lab.newDir()
    await lab.ok(['run', '--session', 'second', '--dir', dir, '--detach', '--', 'bash', '-c', claim])
    carries(lab, 'second', second)
    writeFileSync(join(lab.agentDir, 'ask'), `${INITIALIZE}${calling('start_task', 2, { command: ['sleep', '1000'], name: 'review' })}`)
    const acts = [`lock ${lab.dir} --json >"$FA_DIR/taken" 2>&1`, `lock --check ${dir} --json >"$FA_DIR/own"`, 'mcp <"$FA_DIR/ask" >/dev/null']
    writeFileSync(join(lab.agentDir, 'acts'), [...acts, 'task ls --json >"$FA_DIR/tasks"'].map((words) => `${HERE} ${words}`).join('\n'))
    writeFileSync(
      join(lab.agentDir, 'd', 'daemon'),
      [`${HERE} ${told('daemon')}`, orphan('known', second), orphan('unknown', first), `sh -c '${worker}' &`, 'wait'].join('\n'),
    )
    const claude = program(lab, 'claude', '/bin/bash')
    const env = { CLAUDE_CONFIG_DIR: config }
    await lab.ok(lab.detached('first', 'bash', '-c', `cd "$FA_DIR/d" && ${claude} daemon run; exec sleep 1000`), { env })
    expect(await heard(lab, 'daemon')).toMatchObject({ kind: 'nobody', why: expect.stringContaining('works for many sessions') as string })
    carries(lab, 'first', first)
    const pid = await lab.pid('worker')
    const workers = { [second.slice(0, 8)]: { pid, procStart: startOf(pid), cwd: lab.dir, sessionId: second } }
    writeFileSync(join(config, 'daemon', 'roster.json'), JSON.stringify({ proto: 1, workers }))
    writeFileSync(join(lab.agentDir, 'go'), '')
    for (const name of ['worker', 'bare', 'known'])
      expect(await heard(lab, name)).toMatchObject({ kind: 'session', session: 'second', how: 'registry' })
    // What it does there it does as who it is.
    expect(await heard(lab, 'taken')).toMatchObject({ error: 'held', id: 'directory-held', code: 75, holder: { session: 'first' } })
    expect(await heard(lab, 'own')).toMatchObject({ state: 'held', own: true, holder: { session: 'second' } })
    expect(await heard(lab, 'tasks')).toMatchObject([{ session: 'second.review', parent: 'second' }])
    // An environment can name anybody: in a daemon that does not serve that one, and where there is no daemon at all.
    for (const name of ['unknown', 'forged'])
      expect(await heard(lab, name)).toMatchObject({ kind: 'nobody', why: expect.stringMatching(`${first}, but no shared daemon`) as string })
  }),
)

verifies(
  'self',
  'siblings are those that live at the moment of asking; here: of the same repository, wherever its worktrees are, or directory tree',
  () =>
    inLab(async (lab) => {
      const git = (...words: string[]) => spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { encoding: 'utf8' })
      const [one, two] = [lab.newDir(), lab.newDir()]
      const linked = join(lab.newDir(), 'linked')
      for (const repository of [one, two]) {
        git('init', '-q', '-b', 'main', repository)
        git('-C', repository, 'commit', '-q', '--allow-empty', '-m', 'x')
      }
      git('-C', one, 'worktree', 'add', '-q', '-b', 'feature', linked)
      for (const folder of ['a', 'b']) mkdirSync(join(one, folder))
      const start = (session: string, dir: string, ...argv: string[]) =>
        lab.ok(['run', '--session', session, '--dir', dir, '--detach', '--', ...argv])
      const serve = `require('http').createServer().listen(0, '127.0.0.1', function () { require('fs').writeFileSync(process.env.FA_DIR + '/port', this.address().port + '\\n') })`
      await start('a', join(one, 'a'), 'sleep', '1000')
      await start('b', join(one, 'b'), 'sleep', '1000')
      await start('linked', linked, process.execPath, '-e', serve)
      await start('else', two, 'sleep', '1000')
      const port = Number(await until('it to listen', () => readOr(join(lab.agentDir, 'port')) || null))
      const all = await siblingsOf(lab, '--session', 'a')
      expect(namesOf(all)).toEqual(['b', 'else', 'linked'])
      expect(all.find(({ session }) => session === 'linked')).toMatchObject({ branch: 'feature', ports: [port], dir: linked, liveness: 'alive' })
      expect(all.find(({ session }) => session === 'b')).toMatchObject({ branch: 'main', ports: [], relation: null, doing: null, locks: [] })
      expect(namesOf(await siblingsOf(lab, '--session', 'a', '--here'))).toEqual(['b', 'linked'])
      expect(
        namesOf(JSON.parse(await lab.ok(['siblings', '--here', '--json'], { cwd: two })) as Answer[]),
        'outside of any, by the current directory',
      ).toEqual(['else'])
      // Both are killed, and nobody is left who could tell.
      const { pid, keeper } = await lab.unguarded('b')
      for (const victim of [keeper, pid]) process.kill(victim, 'SIGKILL')
      expect(namesOf(await siblingsOf(lab, '--session', 'a'))).toEqual(['else', 'linked'])
      // A session that has another id by now is the same one.
      await lab.ok(['rebind', '--session', 'a', '--to', 'moved'])
      for (const id of ['a', 'moved']) expect(namesOf(await siblingsOf(lab, '--session', id))).toEqual(['else', 'linked'])
      const text = await lab.ok(['siblings'])
      expect(text).toMatch(/^you are in no session; these are all live ones\nSESSION /)
      expect(text).toMatch(/^moved /m)
    }),
)
