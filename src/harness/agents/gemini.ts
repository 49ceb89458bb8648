import { join } from 'node:path'
import type { Harness } from '../../model/index.ts'
import { geminiHooks } from '../hooks/hook-rules.ts'
import { absolute, fieldsOf, folderOf, namesIn, someLines, textOf } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { geminiUsage } from '../usage/rules.ts'

/** Gemini CLI; measured with 0.61. Only its hooks are told the id. */
export const gemini: Harness = {
  name: 'gemini',
  title: 'Gemini CLI',
  commands: ['gemini'],
  program: { names: ['gemini'], packages: ['@google/gemini-cli'] },
  speech: {
    preset: ['--session-id', '{id}'],
    resume: ['--resume', '{id}', '{args}'],
    chooses: words('--session-id --resume -r --session-file --list-sessions --delete-session'),
    idAfter: words('--session-id --resume -r'),
    forks: [],
    headless: { start: ['{args}'], resume: ['--resume', '{id}', '{args}'], prompt: 'stdin', marks: ['-p', '--prompt'] },
    keeps: {
      flags: words('--skip-trust -s|--sandbox -y|--yolo --screen-reader --raw-output --accept-raw-output-risk'),
      valued: words(
        '-m|--model --approval-mode --policy --admin-policy --allowed-mcp-server-names --allowed-tools -e|--extensions --include-directories -o|--output-format',
      ),
      repeated: words('--policy --admin-policy --allowed-mcp-server-names --allowed-tools -e|--extensions --include-directories'),
      headless: ['-o|--output-format', '--raw-output', '--accept-raw-output-risk'],
      either: [words('-y --yolo --approval-mode')],
    },
  },
  resumeIn: 'same',
  sessionVariables: words('GEMINI_CLI GEMINI_CLI_NO_RELAUNCH GEMINI_SESSION_ID GEMINI_PROJECT_DIR GEMINI_CWD GEMINI_PLANS_DIR'),
  idVariable: null,
  capture: [{ from: 'output', field: 'session_id' }],
  sessions: sessionsBy((env, id) => {
    const root = join(folderOf(env, 'GEMINI_CLI_HOME', ''), '.gemini')
    for (const project of namesIn(join(root, 'tmp'))) {
      const chats = join(root, 'tmp', project, 'chats')
      for (const name of namesIn(chats)) {
        const path = join(chats, name)
        if (name.endsWith(`-${id.slice(0, 8)}.jsonl`) && someLines(path)[0]?.['sessionId'] === id) return { id, path, dir: projectDir(root, project) }
      }
    }
    return null
  }),
  registry: null,
  zeroAfter: [],
  usage: geminiUsage,
  daemonizes: [],
  hooks: geminiHooks,
}

/** Its folder is a short name, of which the directory is told next to it. */
function projectDir(root: string, project: string): string | null {
  const told = absolute(textOf(join(root, 'tmp', project, '.project_root'))?.trim())
  const projects = fieldsOf(join(root, 'projects.json'))?.['projects']
  const entries: readonly [string, unknown][] = typeof projects === 'object' && projects !== null ? Object.entries(projects) : []
  return told ?? absolute(entries.find(([, name]) => name === project)?.[0])
}
