import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, collect, gone, inLab, inNamespace, isAlive, type Lab, readOr, stateOf, TEST_COMMAND, unable, until } from './lab.ts'

/** Faults of the world are told in a sentence, with the right code; they are no bugs, and nothing is ended, freed or left because of them. */

/** A command below a shell that sets a limit first. */
const limited = (lab: Lab, limit: string, args: readonly string[]) =>
  spawnSync('bash', ['-c', `${limit}; exec "$@"`, 'bash', COMMAND, ...args], { cwd: lab.dir, env: lab.env, encoding: 'utf8', timeout: 120_000 })

test('a front shell that is killed at the hand-over leaves nothing, and its claim ends as never started', () =>
  inLab(async (lab) => {
    const front = lab.start(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', 'echo $$ >ran; exec sleep 1000'], {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:keepers.handOver=stop' },
    })
    const said = collect(front)
    const node = await until('node to wait at its hand-over', () => {
      const child = Number(readOr(`/proc/${front.pid}/task/${front.pid}/children`).trim().split(' ')[0])
      return child > 0 && stateOf(child) === 'T' ? child : null
    })
    front.kill('SIGKILL')
    await gone(front.pid ?? 0)
    const stderr = new Promise<string>((done) => {
      let text = ''
      front.stderr?.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      front.stderr?.once('end', () => done(text))
    })
    process.kill(node, 'SIGCONT')
    await gone(node)
    expect(`${(await said).stderr}${await stderr}`).toMatch(
      /^holdfast: the shell that was to keep session s ended before it was told how; nothing was started\n/,
    )
    expect(readOr(join(lab.dir, 'ran'))).toBe('')
    expect(await lab.status('s')).toMatchObject({
      state: 'failed',
      exit: null,
      reason: expect.stringMatching(/^could not start: the shell/) as string,
    })
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
  }))

verifies('visible', 'too few open files are told by their number, before anything is done', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const { pid } = await lab.status('s')
    const other = lab.newDir()
    const verbs = [
      ['ls'],
      ['status', 's'],
      ['stop', 's'],
      ['doctor'],
      ['daemon', 'start'],
      ['run', '--dir', other, '--', 'true'],
      ['run', '--dir', other, '--detach', '--', 'true'],
    ]
    for (const files of [12, 14, 16, 19, 24, 32, 63])
      for (const verb of files === 24 ? verbs : verbs.slice(0, 3)) {
        const { status, stdout, stderr } = limited(lab, `ulimit -n ${files}`, verb)
        expect([files, verb, status, stdout], stderr).toEqual([files, verb, 69, ''])
        expect(stderr).toBe(`holdfast: too few open files are allowed (ulimit -n ${files}), and at least 64 are needed; nothing was done\n`)
      }
    expect(isAlive(pid)).toBe(true)
    // Node raises the soft limit for itself.
    expect(limited(lab, 'ulimit -S -n 24', ['status', 's'])).toMatchObject({ status: 0, stderr: '' })
    for (const verb of [...verbs.slice(0, 2), ...verbs.slice(5), ['stop', 's']])
      expect([verb, limited(lab, 'ulimit -n 64', verb)]).toMatchObject([verb, { status: 0 }])
    expect(isAlive(pid)).toBe(false)
  }),
)

test('descriptors that run out in the middle are no bug', () =>
  inLab(async (lab) => {
    await lab.ok(['ls'])
    // Below the front: as a keeper calls it, under whatever limit it has.
    const bundle = join(COMMAND, '..', '..', 'dist', 'cli.cjs')
    for (const files of [19, 20, 21, 22, 24, 28, 32])
      for (const verb of ['ls', 'doctor']) {
        const { status, stderr } = spawnSync('bash', ['-c', `ulimit -n ${files}; exec node "$@"`, 'bash', bundle, verb], {
          cwd: lab.dir,
          env: lab.env,
          encoding: 'utf8',
        })
        // Node itself cannot load the bundle with so few.
        if (/open '.*cli\.cjs'/.test(stderr) || status === null || status >= 128) continue
        expect([files, verb, status, stderr], stderr).toEqual([
          files,
          verb,
          expect.toSatisfy((code) => code !== 70),
          expect.not.stringMatching(/a bug|^ {4}at /m),
        ])
      }
  }))

verifies('unknown', 'without /proc every verb says so, and nothing is ended or freed', () =>
  inLab(async (lab) => {
    await lab.ok(['ls'])
    const verbs = [
      'ls',
      'status s',
      'stop s',
      'stop --all',
      'run --session b --dir VOID -- true',
      'run --session b --dir VOID --detach -- true',
      'resume s --takeover',
      'doctor --fix',
      'lock --check WORK',
      'lock WORK',
      'unlock --force WORK',
      'reconcile',
      'resolve s --gone',
      'prune',
      'whoami',
      'daemon run',
      'daemon stop',
      'tree s',
      '_finish x 1',
      '_end x TERM',
      'mcp',
    ]
    const script = `
      mkdir "$1/void" 2>/dev/null || :
      '${COMMAND}' run --session s --dir "$HF_WORK" --detach -- sleep 1000 >/dev/null
      while read -r verb; do
        code=0
        said=$(unshare -m sh -c 'mount -t tmpfs none /proc; exec "$@"' sh '${COMMAND}' $verb </dev/null 2>&1) || code=$?
        printf '%s\\t%s\\t%s\\n' "$verb" "$code" "$(printf %s "$said" | head -1)"
      done <"$HF_VERBS"
      '${COMMAND}' status s --json | grep -o '"state":"[a-z]*"'
      '${COMMAND}' lock --check "$HF_WORK" >/dev/null || echo "held: $?"
      '${COMMAND}' stop s >/dev/null`
    const [work, empty, list] = [lab.newDir(), lab.newDir(), join(lab.dir, 'verbs')]
    writeFileSync(list, `${verbs.map((verb) => verb.replace('WORK', work).replace('VOID', empty)).join('\n')}\n`)
    const { code, stdout, stderr } = inNamespace(script.replace('mkdir "$1/void" 2>/dev/null || :', ''), {
      ...lab.env,
      HF_WORK: work,
      HF_VERBS: list,
    })
    if (/unshare: /.test(stderr)) return unable('there are no namespaces of our own here')
    const lines = stdout.trim().split('\n')
    expect([code, lines.splice(verbs.length)], stderr).toEqual([0, ['"state":"running"', 'held: 75']])
    for (const line of lines)
      expect(line.split('\t').slice(1), line).toEqual(['69', 'holdfast: /proc is not there, so no process can be looked at, and nothing was done'])
  }),
)

verifies('stop-proof', 'a limit on the size of files keeps stop from writing, and not from ending', () =>
  inLab(async (lab) => {
    for (const [how, more] of [
      ['to pipes', ''],
      ['to files', ` >'${join(lab.dir, 'out')}' 2>'${join(lab.dir, 'err')}'`],
    ] as const) {
      await lab.ok(lab.detached('s', 'sleep', '1000'))
      const { pid } = await lab.status('s')
      const { status, stdout, stderr } = spawnSync('sh', ['-c', `ulimit -f 0; exec '${COMMAND}' stop s${more}`], {
        cwd: lab.dir,
        env: lab.env,
        encoding: 'utf8',
      })
      expect([how, status, stdout, isAlive(pid)], stderr).toEqual([how, 0, '', false])
      if (more === '') expect(stderr).toMatch(/\nholdfast: s: ended 1 process \(\d+\), not recorded: nothing can be written in the home/)
      // Its keeper was told, and has written it down.
      await until('the end on record', async () => (await lab.status('s')).state !== 'running' || null)
      expect([how, await lab.status('s')]).toMatchObject([how, { state: 'stopped', reason: 'the holdfast command received SIGTERM' }])
    }
  }),
)

test('a keeper that may write nothing still sees to what its agent left, and gives its code', () =>
  inLab(async (lab) => {
    const agent = `sleep 1000 & echo $! >'${join(lab.agentDir, 'left.pid')}'; prlimit --pid $PPID --fsize=0; exit 3`
    const { code, stderr } = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', agent])
    expect(code, stderr).toBe(3)
    await gone(await lab.pid('left'))
  }))

const readOnly = (lab: Lab, script: string) =>
  spawnSync(
    'unshare',
    [
      process.getuid?.() === 0 ? '-m' : '-Urm',
      'sh',
      '-euc',
      `mount --bind "$HOLDFAST_HOME" "$HOLDFAST_HOME"; mount -o remount,bind,ro "$HOLDFAST_HOME"; ${script}`,
    ],
    {
      cwd: lab.dir,
      env: lab.env,
      encoding: 'utf8',
      timeout: 120_000,
    },
  )

verifies('evidence', 'a home that is read-only for stop: the tree ends, and its keeper writes down that it was stopped', () =>
  inLab(async (lab) => {
    // A store that somebody has open can still be read.
    for (const [detached, open] of [
      [true, false],
      [false, false],
      [true, true],
    ]) {
      const args = ['run', '--session', 's', '--dir', lab.dir, ...(detached ? ['--detach'] : []), '--', 'sleep', '1000']
      const front = detached ? null : spawn(COMMAND, args, { cwd: lab.dir, env: lab.env, stdio: 'ignore' })
      if (detached) await lab.ok(args)
      const { pid } = await until('the session', async () => {
        const { code, stdout } = await lab.hf(['status', 's', '--json'])
        const seen = code === 0 ? (JSON.parse(stdout) as { state: string; pid: number | null }) : null
        return seen?.state === 'running' && seen.pid !== null ? { pid: seen.pid } : null
      })
      const reader = open ? lab.start(['events', '--follow']) : null
      if (open) await until('a reader of the store', () => existsSync(join(lab.home, 'holdfast.db-shm')) || null)
      const { status, stdout, stderr } = readOnly(lab, `exec '${COMMAND}' stop s`)
      if (/^(unshare|mount): /m.test(stderr)) return unable('there are no mount namespaces of our own here')
      reader?.kill('SIGKILL')
      expect([status, isAlive(pid)], stderr).toEqual([0, false])
      expect(`${stdout}${stderr}`).toContain(open ? 'not recorded (the store ' : 'not recorded: nothing can be written in the home')
      await until('the end on record', async () => (await lab.status('s')).state !== 'running' || null)
      expect([detached, open, await lab.status('s')]).toMatchObject([
        detached,
        open,
        { state: 'stopped', reason: 'the holdfast command received SIGTERM' },
      ])
      if (front !== null) await gone(front.pid ?? 0)
    }
  }),
)

verifies('evidence', 'a home that is read-only for everybody: the tree ends, and later nothing is claimed that nobody knows', () =>
  inLab(async (lab) => {
    const work = lab.newDir()
    mkdirSync(lab.home, { mode: 0o700, recursive: true })
    const script = `
      '${COMMAND}' run --session s --dir '${work}' --detach -- sleep 1000 >/dev/null
      agent=$('${COMMAND}' status s --json | grep -o '"pid":[0-9]*' | head -1 | grep -o '[0-9]*')
      mount --bind "$HOLDFAST_HOME" "$HOLDFAST_HOME"
      mount -o remount,bind,ro "$HOLDFAST_HOME"
      code=0; '${COMMAND}' stop s || code=$?
      echo "stop: $code"
      kill -0 "$agent" 2>/dev/null && echo 'it lives' || echo 'it is gone'
      for verb in ls 'status s' "run --session t --dir ${work} -- true" 'lock ${work}'; do
        code=0; said=$('${COMMAND}' $verb 2>&1 </dev/null) || code=$?
        case $said in *'a bug'*) echo "$verb: $said" ;; esac
        case $code in 0 | 66 | 69 | 75 | 76) ;; *) echo "$verb: $code" ;; esac
      done
      umount -l "$HOLDFAST_HOME"
      '${COMMAND}' reconcile >/dev/null
      '${COMMAND}' status s --json | grep -o '"state":"[a-z]*"'`
    const { code, stdout, stderr } = inNamespace(script, lab.env)
    if (/(unshare|mount): /.test(stderr)) return unable(`there are no namespaces of our own here: ${stderr}`)
    expect([code, stdout.trim().split('\n')], stderr).toEqual([0, ['stop: 0', 'it is gone', expect.stringMatching(/^"state":"(lost)"$/)]])
    expect(stderr).toContain('not recorded: nothing can be written in the home')
  }),
)
