import { join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { Harness } from '../../model/index.ts'
import { grokHooks } from '../hooks/hook-rules.ts'
import { absolute, folderOf, isFolder, namesIn } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { grokUsage } from '../usage/rules.ts'

/** Grok Build; measured with 1.0.41. */
export const grok: Harness = {
  name: 'grok',
  title: 'Grok Build',
  commands: ['grok'],
  program: { names: ['grok'], packages: ['@xai-official/grok'], dirOptions: ['--cwd'] },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--resume', '{id}', '{args}'],
    chooses: words('--session-id -s --resume -r --continue -c --fork-session'),
    idAfter: words('--session-id -s --resume -r'),
    forks: ['--fork-session'],
    headless: {
      start: ['--prompt-file', '/dev/stdin', '{args}'],
      resume: ['--resume', '{id}', '--prompt-file', '/dev/stdin', '{args}'],
      prompt: 'stdin',
      marks: words('-p --single --prompt-file --prompt-json'),
    },
    keeps: {
      flags: words(
        '--always-approve --disable-web-search --no-plan --no-subagents --no-alt-screen --minimal --fullscreen --include-partial-messages',
      ),
      valued: words(
        '-m|--model --permission-mode --agent --agents --sandbox --tools --disallowed-tools --allow --deny --rules --reasoning-effort|--effort --max-turns --cwd --leader-socket --system-prompt-override --output-format',
      ),
      repeated: ['--allow', '--deny'],
      interactive: words('--no-alt-screen --minimal --fullscreen'),
      headless: words('--output-format --include-partial-messages'),
      either: [words('--always-approve --permission-mode'), words('--minimal --fullscreen')],
    },
  },
  resumeIn: 'any',
  sessionVariables: words('GROK_AGENT GROK_SESSION_ID GROK_HOOK_* GROK_WORKSPACE_ROOT'),
  idVariable: 'GROK_SESSION_ID',
  capture: [{ from: 'output', field: 'sessionId' }, { from: 'variable' }],
  sessions: sessionsBy((env, id) => {
    const root = join(folderOf(env, 'GROK_HOME', '.grok'), 'sessions')
    const project = namesIn(root).find((name) => isFolder(join(root, name, id)))
    return project === undefined ? null : { id, path: join(root, project, id), dir: absolute(orNull(() => decodeURIComponent(project))) }
  }),
  registry: null,
  zeroAfter: [],
  usage: grokUsage,
  daemonizes: [],
  hooks: grokHooks,
}
