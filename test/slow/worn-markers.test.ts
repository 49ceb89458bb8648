import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { COMMAND, gone, inLab, isAlive, type Lab, readOr, unable, until } from '../real/lab.ts'
import { isRoot, markerOf, OTHER_USER, ofNobody, ofOtherUser, parentOf, withoutCgroup } from '../real/users.ts'
import { verifies } from '../requirements.ts'

/** Anybody can read a marker in /proc and wear it: it must neither save a process, nor cost one its life, nor speak for it. */
type Level = { readonly name: string; readonly contained: boolean }
const LEVELS: readonly Level[] = [
  { name: 'in a cgroup', contained: true },
  { name: 'without a cgroup', contained: false },
]
const commandAt = (lab: Lab, { contained }: Level): string => (contained ? COMMAND : withoutCgroup(lab))

/** An agent that waits for `go`, then runs a script that has `$MARKER`, and works on. */
const dressing = (script: string): string[] => [
  'sh',
  '-c',
  `while [ ! -s "$FA_DIR/go" ]; do sleep 0.02; done; read MARKER <"$FA_DIR/go"; ${script}; exec sleep 1000`,
]
const WORN = (command: string): string => `prlimit --rttime=$MARKER: ${command}`
const wear = (lab: Lab, marker: string): void => writeFileSync(join(lab.agentDir, 'go'), `${marker}\n`)
const orphan = async (lab: Lab, name: string): Promise<number> => {
  const pid = await lab.pid(name)
  await until('its parent to be gone', () => /\) \S 1 /.test(readOr(`/proc/${pid}/stat`)) || null)
  return pid
}

for (const level of LEVELS) {
  verifies('innocent', `a process of another user that wears the marker of a run keeps nothing from its end, and lives, ${level.name}`, () =>
    inLab(async (lab) => {
      if (!isRoot) return unable('a second user needs root')
      const command = commandAt(lab, level)
      await lab.ok(lab.detached('s', 'sleep', '1000'), { command })
      await ofOtherUser(markerOf((await lab.status('s')).pid), async (pid) => {
        const before = (await lab.status('s')).pid
        const told = await lab.hf(['run', '--session', 's', '--takeover', '--detach', '--', 'sleep', '1001'], { command })
        expect([told.code, isAlive(before), isAlive(pid)]).toEqual([0, false, true])
      })
      await ofOtherUser(markerOf((await lab.status('s')).pid), async (pid) => {
        const told = await lab.ok(['stop', 's', '--grace', '1s'], { command })
        expect(told).toContain(`may be left: sleep (pid ${pid}) carries its marker, but belongs to another user (uid ${OTHER_USER})`)
        expect(isAlive(pid)).toBe(true)
        expect((await lab.status('s')).state).toBe('stopped')
        expect(await lab.ok(['lock', '--check', lab.dir], { command })).toContain('free')
      })
    }),
  )

  verifies(
    'stop-proof',
    `a process that wears the marker of a helper is ended with its session ${level.contained ? '' : 'or named, '}${level.name}`,
    () =>
      inLab(async (lab) => {
        const command = commandAt(lab, level)
        const hide = `${WORN('sh -c \'echo $$ >"$FA_DIR/child.pid"; exec sleep 1002\'')} & (setsid ${WORN('sh -c \'echo $$ >"$FA_DIR/orphan.pid"; exec sleep 1003\'')} &)`
        await lab.ok(lab.detached('s', ...dressing(hide)), { command })
        wear(lab, markerOf((await lab.status('s')).keeper))
        const [child, left] = [await lab.pid('child'), await orphan(lab, 'orphan')]
        const told = await lab.ok(['stop', 's', '--grace', '1s'], { command })
        expect(isAlive(child)).toBe(false)
        if (level.contained) expect(isAlive(left)).toBe(false)
        else expect(told).toContain(`may be left: sleep (pid ${left}) has the secret of this run in its environment`)
        // On a person's word it goes.
        if (!level.contained) await lab.ok(['stop', '--suspect', String(left)], { command })
        await gone(left)
      }),
  )

  verifies('innocent', `a process that wears the marker of another session is ended with its own, and not with the other, ${level.name}`, () =>
    inLab(async (lab) => {
      const command = commandAt(lab, level)
      const hide = `${WORN('sh -c \'echo $$ >"$FA_DIR/child.pid"; exec sleep 1002\'')} & (setsid ${WORN('sh -c \'echo $$ >"$FA_DIR/orphan.pid"; exec sleep 1003\'')} &)`
      await lab.ok(lab.detached('s', ...dressing(hide)), { command })
      await lab.ok(['run', '--session', 'other', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1004'], { command })
      wear(lab, markerOf((await lab.status('other')).pid))
      const [child, left] = [await lab.pid('child'), await orphan(lab, 'orphan')]
      const other = await lab.ok(['stop', 'other', '--grace', '1s'], { command })
      expect([child, left].map(isAlive)).toEqual([true, true])
      if (!level.contained) expect(other).toContain(`may be left: sleep (pid ${left}) carries its marker, but has the secret of another run`)
      const told = await lab.ok(['stop', 's', '--grace', '1s'], { command })
      expect(isAlive(child)).toBe(false)
      if (level.contained) expect(isAlive(left)).toBe(false)
      else expect(told).toContain(`may be left: sleep (pid ${left}) has the secret of this run in its environment`)
      if (!level.contained) await lab.ok(['stop', '--suspect', String(left)], { command })
      await gone(left)
    }),
  )

  verifies('self', `who wears the marker of another session acts for its own, or for nobody, ${level.name}`, () =>
    inLab(async (lab) => {
      const command = commandAt(lab, level)
      const ask = (file: string, verb: string): string => `${command} ${verb} >"$FA_DIR/${file}" 2>&1; echo done >>"$FA_DIR/${file}"`
      await lab.ok(lab.detached('s', ...dressing(WORN(`sh -c '${ask('who', 'whoami --json')}; ${ask('said', 'report "I am the other"')}'`))), {
        command,
      })
      await lab.ok(['run', '--session', 'other', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1004'], { command })
      const marker = markerOf((await lab.status('other')).pid)
      wear(lab, marker)
      const answer = async (file: string): Promise<string> =>
        until(file, () => (readOr(join(lab.agentDir, file)).includes('done') ? readOr(join(lab.agentDir, file)) : null))
      expect(await answer('who')).toMatch(/"session": ?"s"/)
      await answer('said')
      expect(await lab.ok(['status', 'other', '--json'])).not.toContain('I am the other')
      expect(await lab.ok(['status', 's', '--json'])).toContain('I am the other')
      // One that no session started is nobody, whatever it wears.
      await ofNobody(marker, { PATH: process.env['PATH'] }, async (pid) => {
        expect(await lab.ok(['stop', 's', '--grace', '1s'], { command })).not.toContain(`pid ${pid}`)
      })
      const nobody = await lab.hf([`--rttime=${marker}:`, command, 'whoami', '--json'], { command: 'prlimit' })
      expect(nobody.stdout).toContain('anybody can wear')
      const refused = await lab.hf([`--rttime=${marker}:`, command, 'report', 'I am the other'], { command: 'prlimit' })
      expect(refused.code).not.toBe(0)
    }),
  )
}

verifies(
  'stop-proof',
  'without a cgroup, a process that lost its marker but is in the session of its keeper is ended; one that left that too is named',
  () =>
    inLab(async (lab) => {
      const command = withoutCgroup(lab)
      const bare = (name: string): string => `prlimit --rttime=unlimited: sh -c 'echo $$ >"$FA_DIR/${name}.pid"; exec sleep 1002'`
      await lab.ok(
        lab.detached(
          's',
          'sh',
          '-c',
          `(${bare('near')} &); (setsid ${bare('far')} &); (env -i FA_DIR="$FA_DIR" PATH="$PATH" ${bare('bare')} &); exec sleep 1000`,
        ),
        { command },
      )
      const [near, far, emptied] = [await orphan(lab, 'near'), await orphan(lab, 'far'), await orphan(lab, 'bare')]
      const told = await lab.ok(['stop', 's', '--grace', '1s'], { command })
      expect([near, emptied].map(isAlive)).toEqual([false, false])
      expect(told).toContain(
        `may be left: sleep (pid ${far}) has the secret of this run in its environment, but nothing else proves it; holdfast stop --suspect ${far} ends it`,
      )
      expect(isAlive(far)).toBe(true)
      await lab.ok(['stop', '--suspect', String(far)], { command })
      await gone(far)
    }),
)

verifies('stop-proof', 'a keeper in a pane whose tmux server was killed hides nobody else’s orphans', () =>
  inLab(async (lab) => {
    const command = withoutCgroup(lab)
    await lab.ok(
      ['run', '--tmux', '--session', 'h', '--dir', lab.newDir(), '--detach', '--', 'sh', '-c', 'trap "" HUP TERM; while :; do sleep 0.2; done'],
      {
        command,
      },
    )
    await lab.ok(lab.detached('o', 'sh', '-c', '(setsid sh -c \'echo $$ >"$FA_DIR/orphan.pid"; exec sleep 801\' &); exec sleep 300'), { command })
    const left = await orphan(lab, 'orphan')
    process.kill(parentOf((await lab.status('h')).keeper), 'SIGKILL')
    expect(await lab.ok(['stop', 'o', '--grace', '1s'], { command })).toContain('seen gone')
    expect(isAlive(left)).toBe(false)
    await lab.hf(['stop', 'h', '--grace', '300ms'], { command })
  }),
)

verifies(
  'innocent',
  'what a shell had started before it became the keeper, and what that starts later, is not of the run, and does not act for it',
  () =>
    inLab(async (lab) => {
      const command = withoutCgroup(lab)
      const job = `(sh -c 'while [ ! -e "$FA_DIR/go" ]; do sleep 0.05; done; ${command} whoami >"$FA_DIR/who" 2>&1; echo $$ >"$FA_DIR/older.pid"; sleep 601; :' &)`
      const front = spawn('setsid', ['sh', '-c', `${job}; exec ${COMMAND} run --session e --dir ${lab.dir} -- sleep 300`], {
        env: lab.env,
        stdio: 'ignore',
        cwd: lab.dir,
      })
      await until('the run', async () => (await lab.hf(['status', 'e', '--json'])).stdout.includes('"running"'))
      writeFileSync(join(lab.agentDir, 'go'), '')
      const older = await lab.pid('older')
      const younger = await until('its child', () => readOr(`/proc/${older}/task/${older}/children`).trim() || null)
      expect(readOr(join(lab.agentDir, 'who'))).not.toContain('session e')
      await lab.ok(['stop', 'e', '--grace', '1s'])
      expect([older, Number(younger)].map(isAlive)).toEqual([true, true])
      for (const pid of [Number(younger), older]) process.kill(pid, 'SIGKILL')
      await gone(front.pid ?? 0)
    }),
)

verifies('one-owner', 'a run directory that an agent made up hides no live owner, and raises no epoch over it', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('live', 'sleep', '1000'))
    const { pid, epoch } = await lab.status('live')
    const [run = ''] = readdirSync(join(lab.home, 'runs'))
    const record = JSON.parse(readOr(join(lab.home, 'runs', run, 'run.json'))) as Record<string, unknown>
    mkdirSync(join(lab.home, 'runs', 'r0123456789ab'), { mode: 0o700 })
    const forged = { ...record, id: 'r0123456789ab', epoch: epoch + 1, launcher: { pid: 2, ticks: 1 }, keeper: null, marker: null }
    writeFileSync(join(lab.home, 'runs', 'r0123456789ab', 'run.json'), JSON.stringify(forged), { mode: 0o600 })
    expect(await lab.status('live')).toMatchObject({ pid, epoch, state: 'running' })
    expect((await lab.refused(lab.detached('live', 'true'))).code).toBe(75)
    expect(await lab.ok(['stop', 'live', '--grace', '1s'])).toContain('seen gone')
    expect(isAlive(pid)).toBe(false)
  }),
)
