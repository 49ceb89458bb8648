import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { inLab, isAlive, stateOf, TEST_COMMAND, until } from '../real/lab.ts'
import { race } from '../real/race.ts'
import { verifies } from '../requirements.ts'

const ROUNDS = Number(process.env['HF_ROUNDS'] ?? 200)
const EXITS = Number(process.env['HF_EXITS'] ?? 1000)
const KILLS = Number(process.env['HF_KILLS'] ?? 1500)

verifies('one-owner', `20 starters, ${ROUNDS} rounds over a dead owner: one wins, 19 are refused, one agent runs`, () =>
  inLab(async (lab) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { codes, agents } = await race(lab, 20)
      const tally = `round ${round}: ${codes.join(' ')}`
      expect(
        codes.filter((code) => code === 0),
        tally,
      ).toHaveLength(1)
      expect(
        codes.filter((code) => code === 75),
        tally,
      ).toHaveLength(19)
      expect(agents(), tally).toHaveLength(1)
      process.kill(agents()[0] as number, 'SIGKILL')
    }
  }),
)

verifies('final', `${EXITS} instant exits all end, with the right end`, () =>
  inLab(async (lab) => {
    const commands = [['true'], ['false'], ['/nonexistent/agent']]
    for (let batch = 0; batch < EXITS / 20; batch++) {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const number = batch * 20 + index
          return lab.hf([
            'run',
            '--session',
            `i${number}`,
            '--dir',
            join(lab.dir, '..', 'agent'),
            '--share',
            '--detach',
            '--',
            ...(commands[number % 3] as string[]),
          ])
        }),
      )
    }
    const sessions = await until(
      'all to end',
      async () => {
        const seen = JSON.parse(await lab.ok(['ls', '--all', '--json'])) as { session: string; state: string }[]
        return seen.every(({ state }) => !['starting', 'running', 'stopping'].includes(state)) && seen
      },
      120_000,
    )
    expect(sessions).toHaveLength(EXITS)
    for (const { session, state } of sessions) expect(state, session).toBe(['completed', 'failed', 'failed'][Number(session.slice(1)) % 3])
  }),
)

/** Four at a time start, take over and stop one session and are killed at random points; two agents alive at once would meet in `alive`. */
verifies('one-owner', `${KILLS} commands killed at random points: never two agents at once`, () =>
  inLab(async (lab) => {
    const meeting = join(lab.agentDir, 'alive')
    const overlaps = join(lab.agentDir, 'overlap')
    // mkdir is the oracle: it fails while another agent is alive; an agent killed outright leaves it to the next, who checks its pid.
    const agent = `if ! mkdir ${meeting} 2>/dev/null; then p=$(cat ${meeting}/pid 2>/dev/null); if [ -n "$p" ] && grep -q '^State:.[^ZX]' /proc/$p/status 2>/dev/null; then echo "$$ met $p" >>${overlaps}; fi; fi; echo $$ >${meeting}/pid; exec sleep 1000`
    const points = [
      'after:store.claims.claim',
      'before:store.claims.recordRunning',
      'after:store.claims.recordRunning',
      'after:keepers.spawn',
      'before:keepers.spawn',
      'before:store.claims.recordEnded',
      'after:store.claims.recordAsked',
      'after:fences.retire',
      'after:runRecords.create',
      'before:store.claims.claim',
    ]
    let killed = 0
    const worker = async (): Promise<void> => {
      while (killed < KILLS) {
        const dice = Math.random()
        const args =
          dice < 0.75
            ? ['run', '--session', 's', '--dir', lab.dir, '--detach', ...(dice < 0.4 ? ['--takeover'] : []), '--grace', '1s', '--', 'sh', '-c', agent]
            : dice < 0.9
              ? ['stop', 's', '--grace', '1s']
              : ['reconcile']
        const point = points[Math.floor(Math.random() * points.length)] as string
        const child = lab.hf(args, {
          command: TEST_COMMAND,
          env: Math.random() < 0.7 ? { HOLDFAST_FAILPOINTS: `${point}=${Math.random() < 0.8 ? 'kill' : 'delay:40'}` } : {},
        })
        if ((await child).code === 137) killed++
      }
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    expect(readdirSync(lab.agentDir)).not.toContain('overlap')
    await lab.ok(['reconcile'])
    const live = JSON.parse(await lab.ok(['ls', '--json'])) as { pid: number | null; state: string }[]
    for (const { pid } of live) if (pid !== null) expect(isAlive(pid), String(stateOf(pid))).toBe(true)
    await lab.ok(['stop', '--all', '--grace', '1s'])
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
  }),
)
