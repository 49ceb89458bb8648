import { join } from 'node:path'
import type { BegunSince, Environment, Harness } from '../../model/index.ts'
import { droidHooks } from '../hooks/hook-rules.ts'
import { firstDir, homeOf, namesIn, someLines } from '../recognise/disk.ts'
import { inProjects } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { droidUsage } from '../usage/rules.ts'

const stored = (env: Environment): string => join(homeOf(env), '.factory', 'sessions')

/** Droid; measured with 0.215, but for resuming: that asks its cloud. `-r` is a session to `droid`, and an effort to `droid exec`. */
export const droid: Harness = {
  name: 'droid',
  title: 'Droid',
  commands: ['droid'],
  program: { names: ['droid'], packages: ['@factory/cli'], idle: ['daemon'], dirOptions: ['--cwd'] },
  speech: {
    preset: null,
    resume: ['--resume', '{id}', '{args}'],
    chooses: words('--resume -r resume --session-id -s --fork'),
    idAfter: words('--resume -r resume --session-id -s'),
    forks: ['--fork'],
    headless: { start: ['exec', '{args}'], resume: ['exec', '--session-id', '{id}', '{args}'], prompt: 'stdin', marks: ['exec'] },
    keeps: {
      flags: words('--use-spec --disable-builtin-skills --skip-permissions-unsafe'),
      valued: words(
        '--auto --settings --append-system-prompt --append-system-prompt-file --cwd -m|--model --reasoning-effort --spec-model --spec-reasoning-effort --only-tools --add-tools --remove-tools -o|--output-format',
      ),
      interactive: ['--settings'],
      headless: words(
        '--skip-permissions-unsafe -m|--model --reasoning-effort --spec-model --spec-reasoning-effort --only-tools --add-tools --remove-tools -o|--output-format',
      ),
      either: [words('--auto --skip-permissions-unsafe')],
    },
  },
  resumeIn: 'same',
  sessionVariables: words('DROID_PARENT_SESSION_ID FACTORY_SESSION_* FACTORY_EXEC_TARGET_AUTONOMY FACTORY_PROJECT_DIR FACTORY_BACKGROUND_PID'),
  idVariable: null,
  capture: [
    { from: 'output', field: 'session_id' },
    { from: 'begun', find: begunSince },
  ],
  sessions: inProjects(stored),
  registry: null,
  zeroAfter: ['SIGTERM'],
  usage: droidUsage,
  daemonizes: [],
  hooks: droidHooks,
}

/** A folder for each directory. The first line of a session tells where it works, and its first message when it began. */
function begunSince(env: Environment, { dir, since }: Parameters<BegunSince>[1]): string[] {
  const folder = join(stored(env), dir.replaceAll('/', '-'))
  return namesIn(folder).flatMap((name) => {
    const lines = name.endsWith('.jsonl') ? someLines(join(folder, name)) : []
    const said = lines.map(({ timestamp }) => (typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN)).find((at) => at > 0)
    return firstDir(lines) === dir && said !== undefined && said >= since ? name.slice(0, -'.jsonl'.length) : []
  })
}
