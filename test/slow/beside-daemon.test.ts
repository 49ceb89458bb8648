import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, linkSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect } from 'vitest'
import { openWorld, worlds } from '../../src/app/index.ts'
import { prunePart } from '../../src/daemon/parts/prune-part.ts'
import { type Ended, isLive, type Run } from '../../src/model/index.ts'
import { execute, rowOf, withDaemon, withStore } from '../real/daemon-hand.ts'
import { COMMAND, gone, inLab, type Lab, type Result, readOr, stateOf, unable, until } from '../real/lab.ts'
import { onTerminal } from '../real/terminal.ts'
import { verifies } from '../requirements.ts'

const TIMES = 20
const kill = (pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): boolean => process.kill(pid ?? 0, signal)
const fileOf = (lab: Lab, run: Run, name: string): string => join(lab.home, 'runs', run.id, name)
const pidIn = (lab: Lab, run: Run, name: string): Promise<number> =>
  until(`${name} of ${run.session}`, () => Number.parseInt(readOr(fileOf(lab, run, name)), 10) || null)

async function started(
  lab: Lab,
  session: string,
  argv: readonly string[],
  options: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Run> {
  await lab.ok(['run', '--session', session, '--dir', lab.newDir(), '--detach', ...options, ...argv], { env })
  return (await rowOf(lab, session)) as Run
}

/** Its keeper is killed first: then nobody but the daemon can say that it is over. */
async function killBoth(lab: Lab, run: Run): Promise<void> {
  const agent = await pidIn(lab, run, 'pid')
  kill(run.keeper?.pid)
  await gone(run.keeper?.pid ?? 0)
  kill(agent)
}

const ended = (lab: Lab, session: string, ms?: number): Promise<Run> =>
  until(
    `${session} to be over on record`,
    async () => {
      const run = await rowOf(lab, session)
      return run !== null && !isLive(run) && run
    },
    ms,
  )

describe('beside a daemon', () => {
  verifies(
    'visible',
    'a run in the foreground with leftovers says and does exactly the same, twenty times',
    () =>
      inLab(async (lab) => {
        // One that hears TERM, one that does not, and some words on both outputs.
        const script = `trap '' TERM; setsid sleep 1000 & trap - TERM; setsid sleep 1000 & echo out; echo err >&2; exit 3`
        const once = async (session: string): Promise<Result & { evidence: unknown }> => {
          const result = await lab.hf(['run', '--session', session, '--dir', lab.newDir(), '--', 'sh', '-c', script])
          const run = await rowOf(lab, session)
          const told = (text: string): string => text.replaceAll(session, 'S').replaceAll(/\d{2,}/g, 'N')
          const how =
            run !== null && !isLive(run) ? { state: run.state, reason: run.reason, by: run.by, evidence: run.evidence.map(told) } : run?.state
          const kinds = await withStore(lab, (store) => store.events.list({ session, after: 0, limit: 99 }))
          return { code: result.code, stdout: told(result.stdout), stderr: told(result.stderr), evidence: [how, kinds.map(({ kind }) => kind)] }
        }
        const alone = await once('alone')
        expect(alone).toMatchObject({ code: 3, stdout: 'out\n', evidence: [{ state: 'failed' }, ['claimed', 'running', 'exited', 'ended']] })
        expect(JSON.stringify(alone.evidence).match(/ended with it: sleep/g)).toHaveLength(2)
        await withDaemon(lab, async (daemon) => {
          const names = Array.from({ length: TIMES }, (_, index) => `with${index}`)
          for (let at = 0; at < names.length; at += 4)
            for (const beside of await Promise.all(names.slice(at, at + 4).map(once))) expect(beside).toEqual(alone)
          // A person at a terminal is told whom it ended.
          const command = [COMMAND, 'run', '--session', 'seen', '--dir', lab.newDir(), '--', 'sh', '-c', script]
          writeFileSync(
            join(lab.dir, 'run.sh'),
            `${command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}; echo code $?; exec sleep 1002\n`,
          )
          await onTerminal(lab, ['sh', join(lab.dir, 'run.sh')], (terminal) =>
            terminal.sees(/(holdfast: ended sleep \(pid \d+\), which the agent had left running\s+){2}code 3/),
          )
          expect(daemon.text()).not.toContain('→')
        })
      }),
    120_000,
  )

  verifies('evidence', 'an agent whose keeper was killed is on record as lost soon after its own death', () =>
    inLab((lab) =>
      withDaemon(lab, async () => {
        const run = await started(lab, 's', ['--', 'sleep', '1000'])
        await killBoth(lab, run)
        // As long as it is somebody's zombie, it tells itself how it ended.
        const { state, exit, evidence } = (await ended(lab, 's')) as Ended
        if (state === 'lost') expect(exit).toBeNull()
        else expect([state, exit?.signal, evidence[0]]).toEqual(['failed', 'SIGKILL', expect.stringContaining("the zombie's own status")])
      }),
    ),
  )

  verifies('bounded', '--timeout and --budget hold although their timer was killed', () =>
    inLab((lab) =>
      withDaemon(lab, async () => {
        const late = await started(lab, 'late', ['--', 'sleep', '1000'], ['--timeout', '1s'])
        kill(await pidIn(lab, late, 'timer'))
        const bin = join(lab.agentDir, 'bin')
        mkdirSync(bin)
        copyFileSync('test/fixtures/claude', join(bin, 'claude'))
        chmodSync(join(bin, 'claude'), 0o755)
        spawnSync('mkfifo', [join(lab.agentDir, 'never')])
        const env = {
          PATH: `${bin}:${process.env['PATH']}`,
          HOME: lab.agentDir,
          CLAUDE_CONFIG_DIR: join(lab.agentDir, 'config'),
          FA_HOOK: resolve('dist'),
          FA_DO: 'burn',
        }
        const spent = await started(lab, 'spent', ['claude', '-p', 'x'], ['--budget', '2000'], env)
        kill(await pidIn(lab, spent, 'timer'))
        expect(await ended(lab, 'late')).toMatchObject({ state: 'stopped', by: 'timeout' })
        expect(await ended(lab, 'spent', 30_000)).toMatchObject({ state: 'stopped', by: 'budget', reason: expect.stringMatching(/of 2000 tokens/) })
      }),
    ),
  )

  verifies('visible', 'a sick run keeps nobody else waiting, and is named', () =>
    inLab(async (lab) => {
      // A log beyond its cap that cannot be capped: an executable that runs.
      const program = join(lab.agentDir, 'bigsleep')
      copyFileSync('/bin/sleep', program)
      chmodSync(program, 0o755)
      truncateSync(program, 11 * 1024 * 1024)
      const sick = await started(lab, 'sick', ['--', program, '1000'])
      rmSync(fileOf(lab, sick, 'log'))
      linkSync(program, fileOf(lab, sick, 'log'))
      const odd = await started(lab, 'odd', ['--', 'sleep', '1000'])
      const argv = JSON.stringify(odd.argv)
      const frozen = await started(lab, 'frozen', ['--', 'sleep', '1000'])
      const agent = await pidIn(lab, frozen, 'pid')
      kill(frozen.keeper?.pid, 'SIGSTOP')
      kill(agent)
      await until('its zombie', () => stateOf(agent) === 'Z')
      const well = await started(lab, 'well', ['--', 'sleep', '1000'])
      await killBoth(lab, well)
      execute(lab, `UPDATE run SET argv = '{' WHERE id = '${odd.id}'`)
      try {
        await withDaemon(lab, async (daemon) => {
          expect(await ended(lab, 'well')).toMatchObject({ state: expect.stringMatching(/lost|failed/) })
          expect(await ended(lab, 'frozen')).toMatchObject({ state: 'failed', exit: { signal: 'SIGKILL' } })
          await daemon.said(
            new RegExp(`run ${odd.id}: its row in the store makes no sense.*session sick, run ${sick.id}: .*ETXTBSY|${sick.id}.*${odd.id}`),
          )
        })
        expect((await rowOf(lab, 'sick'))?.state).toBe('running')
      } finally {
        execute(lab, `UPDATE run SET argv = '${argv}' WHERE id = '${odd.id}'`)
      }
      kill(frozen.keeper?.pid, 'SIGCONT')
    }),
  )

  verifies('bounded', 'an ending that uses its grace holds up no other', () =>
    inLab((lab) =>
      withDaemon(lab, async () => {
        const deaf = await started(lab, 'deaf', ['--', 'sh', '-c', `trap '' TERM; while :; do sleep 0.2; done`], ['--timeout', '1s'])
        kill(await pidIn(lab, deaf, 'timer'))
        await until('its end to be asked for', async () => (await rowOf(lab, 'deaf'))?.state === 'stopping')
        await killBoth(lab, await started(lab, 'quick', ['--', 'sleep', '1000']))
        const quick = (await ended(lab, 'quick')) as Ended
        const last = (await ended(lab, 'deaf')) as Ended
        expect(last).toMatchObject({ state: 'stopped', by: 'timeout' })
        expect(quick.endedAt).toBeLessThan(last.endedAt)
      }),
    ),
  )

  verifies('visible', 'where the kernel watches no more, it says so, and what is not watched is seen all the same', () =>
    inLab(async (lab) => {
      const script = `
        echo 2 >/proc/sys/user/max_inotify_watches
        for name in a b c; do mkdir "${lab.dir}/$name"; ${COMMAND} run --session $name --dir "${lab.dir}/$name" --detach -- sleep 1000; done
        ${COMMAND} daemon run 2>"${lab.dir}/said" &
        for try in $(seq 300); do ! grep -q ENOSPC "${lab.dir}/said" || break; sleep 0.1; done
        cat "${lab.dir}/said"
        for run in "${lab.home}"/runs/*; do read -r keeper ticks <"$run/keeper"; read -r agent rest <"$run/pid"; kill -9 $keeper; kill -9 $agent; done
        for try in $(seq 60); do [ "$(${COMMAND} events --json | grep -o '"ended"' | wc -l)" != 3 ] || break; sleep 0.5; done
        ${COMMAND} events --json | grep -o '"ended"'`
      const env = { ...lab.env, HOLDFAST_HOME: lab.home }
      const { status, stdout, stderr } = spawnSync('unshare', ['-Urpf', '--mount-proc', '--kill-child', 'bash', '-euc', script], {
        env,
        encoding: 'utf8',
        timeout: 120_000,
        cwd: '/',
      })
      if (stderr.includes('unshare')) return unable('no user namespaces')
      expect(status, stdout + stderr).toBe(0)
      expect(stdout).toMatch(/watch failed: .*ENOSPC.*runs are only looked at every 5 s/)
      expect(stdout.match(/^"ended"$/gm)).toHaveLength(3)
    }),
  )

  verifies('stop-proof', 'it prunes what the dead left, as the verb does, but no worktree', () =>
    inLab(async (lab) => {
      spawnSync('sh', ['-c', 'git init -q . && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m first'], {
        cwd: lab.dir,
        env: lab.env,
      })
      await lab.ok(['run', '--session', 'tree', '--dir', lab.dir, '--worktree', 'b', '--', 'true'])
      for (const _ of [1, 2]) await lab.ok(['run', '--session', 's', '--dir', lab.newDir(), '--', 'true'])
      const planned = JSON.parse(await lab.ok(['prune', '--dry-run', '--json'])) as { kind: string; keep: boolean }[]
      expect(planned.filter(({ keep }) => !keep).map(({ kind }) => kind)).toEqual(['directory', 'worktree'])
      const said: string[] = []
      const part = prunePart({ worlds: worlds(() => openWorld({ assets: resolve('dist'), home: lab.home })), log: (line) => void said.push(line) })
      expect(await part.round()).toEqual({ removed: 1, kept: 0 })
      expect(said).toEqual([expect.stringMatching(/^prune: removed directory \S+$/)])
      const left = JSON.parse(await lab.ok(['prune', '--dry-run', '--json'])) as { kind: string }[]
      expect(left.map(({ kind }) => kind)).toEqual(['worktree'])
      await lab.ok(['prune'])
    }),
  )
})
