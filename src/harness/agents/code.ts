import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { Environment, Harness } from '../../model/index.ts'
import { folderOf, homeOf, textOf } from '../recognise/disk.ts'
import { inRollouts } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { codeUsage } from '../usage/rules.ts'
import { BANNER, ROLLOUT } from './codex.ts'

const PLATFORM = /\/code-(x86_64|aarch64)-[^/]+$/
const PACKAGE = '@just-every/code'
/** It reads what Codex wrote, too. */
const homes = (env: Environment): string[] => [env['CODE_HOME'] || folderOf(env, 'CODEX_HOME', '.code'), join(homeOf(env), '.codex')]

/** Every Code, a fork of Codex. Read in its source (0.6.172); its command line was measured with Codex 0.61, which it goes back to. */
export const code: Harness = {
  name: 'code',
  title: 'Every Code',
  commands: ['coder', 'code'],
  owns: isEveryCode,
  program: {
    names: ['coder'],
    exe: PLATFORM,
    packages: [PACKAGE],
    // VS Code is `code`, and Coder's `coder` serves workspaces.
    idle: words('agent server ssh port-forward gitssh gitaskpass provisioner mcp-server app-server'),
  },
  speech: {
    preset: null,
    resume: ['resume', '{id}', '{args}'],
    chooses: ['resume'],
    continues: ['--last'],
    idAfter: ['resume'],
    forks: [],
    headless: { start: ['exec', '{args}', '-'], resume: ['exec', '{args}', 'resume', '{id}', '-'], prompt: 'stdin', marks: ['exec', 'e'] },
    keeps: {
      flags: words('--oss --full-auto --dangerously-bypass-approvals-and-sandbox --search --json --skip-git-repo-check'),
      valued: words(
        '-c|--config --enable --disable -m|--model -p|--profile -s|--sandbox -a|--ask-for-approval -C|--cd --add-dir --output-schema --color',
      ),
      repeated: words('-c|--config --enable --disable --add-dir'),
      interactive: words('--search -a|--ask-for-approval'),
      headless: words('--json --skip-git-repo-check --output-schema --color'),
      either: [
        words('--dangerously-bypass-approvals-and-sandbox --full-auto -a --ask-for-approval'),
        words('--dangerously-bypass-approvals-and-sandbox --full-auto -s --sandbox'),
      ],
    },
  },
  resumeIn: 'any',
  sessionVariables: words('CODEX_SESSION_ID CODE_BINARY_PATH CODER_MANAGED_BY_NPM'),
  idVariable: 'CODEX_SESSION_ID',
  capture: [{ from: 'output', field: 'thread_id' }, { from: 'banner', line: BANNER }, { from: 'open-file', path: ROLLOUT }, { from: 'variable' }],
  sessions: inRollouts((env) => homes(env).map((home) => join(home, 'sessions'))),
  registry: null,
  zeroAfter: [],
  usage: codeUsage,
  daemonizes: [],
  hooks: null,
}

/** VS Code is `code`, too, and Coder's client is `coder`: its own lies in its package, is named after a platform, or is a script that starts those. */
function isEveryCode(executable: string): boolean {
  const real = orNull(() => realpathSync(executable)) ?? ''
  const text = textOf(real, MAX_SCRIPT_BYTES) ?? ''
  return real.includes(`/${PACKAGE}/`) || PLATFORM.test(real) || (text.startsWith('#!') && text.includes(PACKAGE))
}

const MAX_SCRIPT_BYTES = 256 * 1024
