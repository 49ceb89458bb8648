import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Lab, until } from './lab.ts'

/** The stand-in agent of requests. Its behaviour is the last word of its command line; the prompt comes on stdin. */
const AGENT = `#!/bin/sh
cat >> "$FA_DIR/prompts"
echo "-- end of prompt --" >> "$FA_DIR/prompts"
commit() { echo "$1" >> "$1"; git add -A && git -c user.name=a -c user.email=a@b commit --quiet -m "$1"; }
for how; do :; done
case $how in
  work) commit work; echo "It is done." ;;
  none) echo "I could not do it. password=hunter2222" ;;
  dirty) echo half > half; echo "I stopped in the middle."; exit 3 ;;
  limit) echo "You've hit your usage limit. Try again in 2 hours."; exit 1 ;;
  report) commit report; "$HF" work finish --summary "the report is written" ;;
  idle) exec sleep 3600 ;;
  server) node -e 'require("http").createServer().listen(0,"127.0.0.1",function(){require("fs").writeFileSync(process.env.FA_DIR+"/port",String(this.address().port))})' & exec sleep 3600 ;;
esac
`

export type WorkRequestJson = {
  readonly id: string
  readonly state: string
  readonly cause: string | null
  readonly reason: string | null
  readonly summary: string | null
  readonly repo: string
  readonly dir: string | null
  readonly branch: string | null
  readonly attempt: number
  readonly session: string
  readonly run: string | null
  readonly feedback: readonly { readonly id: string; readonly state: string; readonly text: string }[]
}

/** A repository, a stand-in agent in config.toml, and a worker's passes in a lab. */
export function workLab(lab: Lab, work = '') {
  const bin = join(lab.agentDir, 'bin')
  const repo = join(lab.agentDir, 'repo')
  mkdirSync(bin)
  mkdirSync(repo)
  mkdirSync(lab.home, { recursive: true, mode: 0o700 })
  writeFileSync(join(bin, 'stand-in'), AGENT)
  chmodSync(join(bin, 'stand-in'), 0o755)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=main')
  writeFileSync(join(repo, 'first'), 'first\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  const env = { PATH: `${bin}:${process.env['PATH']}`, HF: join(process.cwd(), 'bin/holdfast') }
  const behave = (how: string, more = work): void =>
    writeFileSync(
      join(lab.home, 'config.toml'),
      `[harness.stand-in]\ncommand = "stand-in"\nheadless = ["{args}"]\n[work]\nagent = ["stand-in", "${how}"]\n${more}\n`,
    )
  const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await lab.ok([...args, '--json'], { env, cwd: repo })) as T
  const show = (id: string): Promise<WorkRequestJson> => json('work', 'show', id)
  const pass = (): Promise<string> => lab.ok(['worker', 'run', '--once'], { env, cwd: repo })
  return {
    bin,
    repo,
    env,
    git,
    behave,
    json,
    show,
    pass,
    add: async (text: string, ...more: string[]): Promise<string> => (await json<WorkRequestJson>('work', 'add', ...more, text)).id,
    /** Passes until the request is as it should be. */
    passUntil: (id: string, what: string, is: (request: WorkRequestJson) => boolean): Promise<WorkRequestJson> =>
      until(`request ${id} ${what}`, async () => {
        await pass()
        const request = await show(id)
        return is(request) ? request : null
      }),
  }
}
