import { join } from 'node:path'
import type { Harness } from '../../model/index.ts'
import { folderOf } from '../recognise/disk.ts'
import { inProjects } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { piUsage } from '../usage/rules.ts'

/** Pi; measured with 0.87.1. It wipes its command line, and locks nothing. */
export const pi: Harness = {
  name: 'pi',
  title: 'Pi',
  commands: ['pi'],
  program: { names: ['pi'], packages: words('@earendil-works/pi-coding-agent @mariozechner/pi-coding-agent'), ambiguous: true },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--session', '{id}', '{args}'],
    chooses: words('--session-id --session --continue -c --resume -r --fork --no-session'),
    continues: words('--continue -c'),
    idAfter: ['--session-id', '--session'],
    forks: ['--fork'],
    headless: { start: ['-p', '{args}'], resume: ['-p', '--session', '{id}', '{args}'], prompt: 'stdin', marks: ['-p', '--print'] },
    keeps: {
      flags: words(
        '--no-tools|-nt --no-builtin-tools|-nbt --no-extensions|-ne --no-skills|-ns --no-prompt-templates|-np --no-context-files|-nc --approve|-a --no-approve|-na --offline --verbose',
      ),
      valued: words(
        '--provider --model --models --thinking --tools|-t --exclude-tools|-xt --system-prompt --append-system-prompt --extension|-e --skill --prompt-template --session-dir --mode',
      ),
      repeated: words('--append-system-prompt --extension|-e --skill --prompt-template'),
      headless: ['--mode'],
      either: [words('--approve -a --no-approve -na')],
    },
  },
  resumeIn: 'same',
  sessionVariables: words('PI_SESSION_ID PI_SESSION_FILE PI_CODING_AGENT PI_MODEL PI_PROVIDER PI_REASONING_LEVEL AI_AGENT'),
  idVariable: 'PI_SESSION_ID',
  capture: [{ from: 'variable' }],
  sessions: inProjects((env) => join(folderOf(env, 'PI_CODING_AGENT_DIR', '.pi/agent'), 'sessions'), {
    isIts: (name, id) => name.endsWith(`_${id}.jsonl`),
  }),
  registry: null,
  zeroAfter: [],
  usage: piUsage,
  daemonizes: [],
  hooks: null,
}
