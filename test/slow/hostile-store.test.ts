import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'vitest'
import { gone, inLab, isAlive, type Lab, type Result, readOr, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

/** What an agent of the same user does to the store of all sessions. It is ended all the same, and the next run has a higher epoch. */
const DRIVER = createRequire(import.meta.url).resolve('@photostructure/sqlite')
const LOCK = `const { DatabaseSync } = require('${DRIVER}'); const db = new DatabaseSync(process.argv[1]); db.exec('BEGIN EXCLUSIVE'); require('fs').writeFileSync(process.argv[2], 'locked'); setTimeout(() => {}, 600000)`
type Row = { readonly what: string; readonly script: string; readonly repair?: (lab: Lab) => void }
const ROWS: readonly Row[] = [
  { what: 'deletes it', script: 'rm -f "$HOLDFAST_HOME/holdfast.db"*' },
  {
    what: 'writes garbage over it',
    script: 'rm -f "$HOLDFAST_HOME/holdfast.db"-*; echo garbage >"$HOLDFAST_HOME/holdfast.db"',
    repair: ({ home }) => rmSync(join(home, 'holdfast.db')),
  },
  {
    what: 'makes a directory of it',
    // The command that started it may still be at work, and make the store again.
    script: 'until rm -f "$HOLDFAST_HOME/holdfast.db"*; mkdir "$HOLDFAST_HOME/holdfast.db"; do :; done 2>/dev/null',
    repair: ({ home }) => rmSync(join(home, 'holdfast.db'), { recursive: true }),
  },
  {
    what: 'holds it locked',
    script: `node -e "$LOCK" "$HOLDFAST_HOME/holdfast.db" "$FA_DIR/locked" & while [ ! -s "$FA_DIR/locked" ]; do sleep 0.02; done`,
  },
]

for (const { what, script, repair } of ROWS)
  verifies('stop-proof', `an agent that ${what} does not outlive its stop, and the store learns of it: ${what}`, () =>
    inLab(async (lab) => {
      const tell = (name: string, { code, stdout, stderr }: Result): string => `${name}: ${code}\n${stdout}${stderr}`
      await lab.ok(['run', '--session', 'b', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
      const b = await lab.status('b')
      const agent = `sleep 1001 & echo $! >"$FA_DIR/child.pid"; echo $$ >"$FA_DIR/agent.pid"; ${script}; echo done >"$FA_DIR/done"; exec sleep 1000`
      await lab.ok(lab.detached('a', 'sh', '-c', agent), { env: { HOLDFAST_HOME: lab.home, LOCK } })
      await until('its agent', () => readOr(join(lab.agentDir, 'done')))
      const pids = [await lab.pid('agent'), await lab.pid('child')]
      const [ls, status] = await Promise.all([lab.hf(['ls'], { timeoutMs: 60_000 }), lab.hf(['status', 'a'], { timeoutMs: 60_000 })])
      expect(ls.stdout, tell('ls', ls)).toMatch(/^a /m)
      expect(status.stdout, tell('status', status)).toMatch(/^a /m)
      const stop = await lab.hf(['stop', 'a', '--grace', '1s'], { timeoutMs: 90_000 })
      expect(stop.code, tell('stop', stop)).toBe(0)
      expect(stop.stdout + stop.stderr).toMatch(repair === undefined ? /^a stopped: ended/m : /a: ended 2 processes .* not recorded/)
      expect(pids.map(isAlive), tell('stop', stop)).toEqual([false, false])
      expect([isAlive(b.pid), isAlive(b.keeper)]).toEqual([true, true])
      repair?.(lab)
      await lab.ok(lab.detached('a', 'sleep', '1002'))
      expect([(await lab.status('a')).epoch, (await lab.status('b')).pid]).toEqual([2, b.pid])
      for (const pid of pids) await gone(pid)
    }),
  )
