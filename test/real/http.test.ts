import type { ChildProcess } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseExposition } from '../http/exposition.ts'
import { verifies } from '../requirements.ts'
import { gone, inLab, isAlive, type Lab, readOr, until } from './lab.ts'

const SPEAKER = resolve('test/fixtures/http-agent.mjs')

type Daemon = { readonly url: string; readonly token: string; readonly child: ChildProcess; readonly log: () => string; stop(): Promise<void> }

async function daemon(lab: Lab): Promise<Daemon> {
  const child = lab.start(['daemon', 'run'], { cwd: '/' })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => {
      log += part.toString()
    })
  const port = await until('the daemon to listen', () => /listens on 127\.0\.0\.1:(\d+)/.exec(log + readOr(join(lab.home, 'daemon', 'log')))?.[1])
  return {
    url: `http://127.0.0.1:${port}`,
    token: readOr(join(lab.home, 'daemon', 'token')).trim(),
    child,
    log: () => log,
    async stop() {
      child.kill('SIGTERM')
      await gone(child.pid ?? 0)
    },
  }
}

const get = ({ url, token }: Daemon, path: string): Promise<Response> => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })

test('it answers on loopback, with its own token, and comes back to its port', () =>
  inLab(async (lab) => {
    const first = await daemon(lab)
    await lab.ok(lab.detached('s', 'sleep', '3600'))
    const health = await until('every part to have done a round', async () => {
      const answer = (await (await get(first, '/healthz')).json()) as { healthy: boolean; parts: { name: string; lastSuccess: number | null }[] }
      // What the dead left is removed some minutes later.
      return answer.parts.every(({ name, lastSuccess }) => name === 'prune' || lastSuccess !== null) && answer
    })
    expect(health).toMatchObject({ healthy: true, why: null })
    expect(health.parts.map(({ name }) => name)).toContain('http')
    expect(statSync(join(lab.home, 'daemon', 'token')).mode & 0o777).toBe(0o600)
    expect(statSync(join(lab.home, 'daemon')).mode & 0o777).toBe(0o700)
    expect(first.token).toMatch(/^[0-9a-f]{64}$/)
    expect(first.log()).not.toContain(first.token)
    const metrics = await until('the session to be counted', async () => {
      const found = parseExposition(await (await get(first, '/metrics')).text())
      return found.has('holdfast_sessions') && found
    })
    expect(metrics.get('holdfast_sessions')?.readings).toEqual([{ labels: { state: 'running', harness: '' }, value: 1 }])
    const { pid } = await lab.status('s')
    await first.stop()
    expect(isAlive(pid)).toBe(true)
    const second = await daemon(lab)
    expect([second.url, second.token]).toEqual([first.url, first.token])
    await second.stop()
    await lab.ok(['stop', 's'])
  }))

verifies('private', 'a token that was taken away, or changed, lets nobody in any more, and the new one does', () =>
  inLab(async (lab) => {
    const here = await daemon(lab)
    const path = join(lab.home, 'daemon', 'token')
    const status = async (token: string): Promise<number> => {
      try {
        return (await fetch(`${here.url}/version`, { headers: { authorization: `Bearer ${token}`, connection: 'close' } })).status
      } catch {
        return 0
      }
    }
    expect(await status(here.token)).toBe(200)
    rmSync(path)
    await until('the old one to be refused', async () => (await status(here.token)) === 401)
    const made = readOr(path).trim()
    expect([made === here.token, await status(made)]).toEqual([false, 200])
    const given = 'ab'.repeat(32)
    writeFileSync(`${path}.new`, `${given}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    await until('the given one to be taken', async () => (await status(given)) === 200)
    expect(await status(made)).toBe(401)
    await here.stop()
  }),
)

verifies('visible', 'a port that is taken is told, and tried again until it is free', () =>
  inLab(async (lab) => {
    const taken = createServer()
    const port = await new Promise<number>((ready) => taken.listen(0, '127.0.0.1', () => ready((taken.address() as { port: number }).port)))
    await lab.ok(['ls'])
    writeFileSync(join(lab.home, 'config.toml'), `[daemon]\nport = ${port}\n`)
    const child = lab.start(['daemon', 'run'], { cwd: '/' })
    let log = ''
    child.stderr?.on('data', (part: Buffer) => {
      log += part.toString()
    })
    const told = (): string => log + readOr(join(lab.home, 'daemon', 'log'))
    await until('the trouble to be told', () => told().includes(`port ${port} is taken`))
    await new Promise((closed) => taken.close(closed))
    await until('it to listen after all', () => told().includes(`listens on 127.0.0.1:${port}`))
    child.kill('SIGTERM')
    await gone(child.pid ?? 0)
  }),
)

describe.each(['legacy', '2026-07-28'])('an agent that speaks MCP over HTTP, in the era %s', (era) => {
  verifies('self', 'is itself: by its process, whatever its environment says', () =>
    inLab(async (lab) => {
      const here = await daemon(lab)
      const wanted = lab.newDir()
      const plan = [
        ['whoami', {}],
        ['lock', { dir: wanted }],
        ['report', { kind: 'plan', text: 'over HTTP' }],
        ['start_task', { command: ['sh', '-c', 'umask >"$FA_DIR/umask"; exec sleep 3600'], name: 'bg' }],
        ['check_lock', { dir: wanted }],
        ['siblings', {}],
      ]
      const speaker = (name: string, steps: unknown): string[] => [
        process.execPath,
        SPEAKER,
        lab.home,
        era,
        join(lab.agentDir, name),
        JSON.stringify(steps),
      ]
      const answers = (name: string): Promise<Record<string, unknown>[]> =>
        until(`answers to ${name}`, () => readOr(join(lab.agentDir, name))).then((text) => JSON.parse(text) as Record<string, unknown>[])
      const run = (session: string, dir: string, argv: readonly string[]): Promise<string> =>
        lab.ok(['run', '--session', session, '--dir', dir, '--detach', '--', 'sh', '-c', 'umask 0027; exec "$@"', 'sh', ...argv])
      await run('mine', lab.newDir(), speaker('mine', plan))
      const mine = await answers('mine')
      const { pid } = await lab.status('mine')
      expect(mine[0]).toMatchObject({ isError: false, pid, session: 'mine', how: 'cookie' })
      expect(mine[1]).toMatchObject({ isError: false, dir: wanted, kind: 'process', pid, session: 'mine' })
      expect(mine[2]).toMatchObject({ isError: false, session: 'mine', text: 'over HTTP' })
      expect(mine[3]).toMatchObject({ isError: false, session: 'mine.bg' })
      expect(mine[4]).toMatchObject({ state: 'held', own: true })
      expect(mine[5]).toMatchObject({ self: 'mine', total: 0 })
      // What it starts for an agent is as if the agent had: not as the daemon is.
      expect(Number.parseInt(await until('the umask', () => readOr(join(lab.agentDir, 'umask')).trim()), 8)).toBe(0o027)

      // Without any environment its marker still tells; and somebody with a copy of it is nobody.
      const look = [
        ['whoami', {}],
        ['report', { kind: 'plan', text: 'x' }],
      ]
      await run('bare', lab.newDir(), ['env', '-i', ...speaker('bare', look)])
      expect((await answers('bare'))[0]).toMatchObject({ session: 'bare', how: 'marker' })
      const copied = Object.fromEntries(
        readOr(`/proc/${pid}/environ`)
          .split('\0')
          .filter(Boolean)
          .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
      )
      const [command = '', ...args] = speaker('thief', look)
      const thief = lab.start(args, { command, env: copied })
      const stolen = await answers('thief')
      thief.kill('SIGKILL')
      expect(stolen[0]).toMatchObject({ session: null })
      expect(stolen[1]).toMatchObject({ isError: true })

      await here.stop()
      expect(await lab.status('mine.bg')).toMatchObject({ state: 'running' })
      await lab.ok(['stop', 'mine', 'bare'])
    }),
  )
})

verifies('self', 'a retired agent is refused over HTTP as well', () =>
  inLab(async (lab) => {
    const here = await daemon(lab)
    const out = join(lab.agentDir, 'told')
    const go = join(lab.agentDir, 'go')
    const steps = JSON.stringify([
      ['report', { kind: 'plan', text: 'x' }],
      ['message', { to: '@all', text: 'x' }],
    ])
    const script = 'go=$1; shift; while [ ! -e "$go" ]; do sleep 0.05; done; exec "$@"'
    await lab.ok(lab.detached('s', 'sh', '-c', script, 'sh', go, process.execPath, SPEAKER, lab.home, 'legacy', out, steps))
    const { run } = (await lab.status('s')) as unknown as { run: string }
    writeFileSync(join(lab.home, 'runs', run, 'retired'), '')
    mkdirSync(go)
    const answers = JSON.parse(await until('its answers', () => readOr(out))) as Record<string, unknown>[]
    for (const answer of answers) expect(answer).toMatchObject({ isError: true, error: 'held', id: 'caller-retired' })
    await here.stop()
    await lab.ok(['stop', 's', '--grace', '1s'])
  }),
)
