import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseRttime, parseStat } from '../../src/observe/proc.ts'
import { verifies } from '../requirements.ts'

const line = (name: string, tail: string): string => `4242 (${name}) ${tail}\n`
const tail =
  'S 17 4240 4239 34816 4242 4194304 159 0 0 0 0 0 0 0 20 0 1 0 72561 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 1 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0'

verifies('identity', 'the stat line is read after its last parenthesis, whatever a process calls itself', () => {
  for (const name of ['sh', 'tmux: server', ') R 1 1 (', 'a b) c', '((', ')', '']) {
    expect(parseStat(line(name, tail), 0), name).toMatchObject({
      pid: 4242,
      name,
      state: 'S',
      parent: 17,
      group: 4240,
      session: 4239,
      ticks: 72561,
      waitStatus: null,
    })
  }
})

test('what is no stat line is none', () => {
  for (const text of ['', 'x', '12', '12 (sh', '12 (sh) ', '12 (sh) S 1 2 3']) expect(parseStat(text, 0), JSON.stringify(text)).toBeNull()
})

verifies('evidence', "a zombie's status counts only for those who may look", () => {
  const zombie = (wchan: string, status: string): string =>
    line(
      'z',
      tail
        .replace('S 17', 'Z 17')
        .replace(/ 1 0 0 17 1 /, ` ${wchan} 0 0 17 1 `)
        .replace(/0$/, status),
    )
  expect(parseStat(zombie('1', '9'), 0)?.waitStatus).toBe(9)
  expect(parseStat(zombie('1', '1792'), 0)?.waitStatus).toBe(1792)
  expect(parseStat(zombie('1', '0'), 0)?.waitStatus).toBe(0)
  expect(parseStat(zombie('0', '0'), 0)?.waitStatus).toBeNull()
})

test('the marker is the soft limit', () => {
  const limits = (soft: string): string =>
    `Limit                     Soft Limit           Hard Limit           Units     \nMax realtime timeout      ${soft.padEnd(20)} unlimited            us        \n`
  expect(parseRttime(limits('4000123456789012'))).toBe(4_000_123_456_789_012)
  expect(parseRttime(limits('unlimited'))).toBeNull()
  expect(parseRttime('')).toBeNull()
  expect(parseRttime(readFileSync('/proc/self/limits', 'latin1'))).toBeNull()
})

test('a marker survives setsid, a double fork and an emptied environment', async () => {
  const marker = 4_000_000_000_777_777
  const child = spawn('prlimit', [`--rttime=${marker}:`, 'sh', '-c', 'env -i setsid sh -c "sleep 30 & echo \\$!"'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = Number(await new Promise((resolve) => child.stdout.once('data', resolve)))
  expect(parseRttime(readFileSync(`/proc/${pid}/limits`, 'latin1'))).toBe(marker)
  process.kill(pid, 'SIGKILL')
})

verifies('identity', 'a process whose first thread has left while others work is alive', () => {
  const leaderless = (threads: number): string => line('t', tail.replace('S 17', 'Z 17').replace(' 20 0 1 0 72561', ` 20 0 ${threads} 0 72561`))
  expect(parseStat(leaderless(2), 0)).toMatchObject({ state: 'L', waitStatus: null })
  expect(parseStat(leaderless(1), 0)?.state).toBe('Z')
})
