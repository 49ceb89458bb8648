import { join } from 'node:path'
import type { BegunSince, Environment, Harness } from '../../model/index.ts'
import { absolute, fieldsIn, folderOf, someLines, textOf } from '../recognise/disk.ts'
import { sessionsBy } from '../recognise/find.ts'
import { words } from '../recognise/words.ts'
import { kimiUsage } from '../usage/rules.ts'

/** Kimi Code; measured with 2.1.0. It says its id only when it is done, reads no prompt from stdin, and tells its tools nothing. */
export const kimi: Harness = {
  name: 'kimi',
  title: 'Kimi Code',
  commands: ['kimi'],
  program: { names: ['kimi', 'kimi-code'], packages: ['@moonshot-ai/kimi-code'] },
  speech: {
    preset: null,
    resume: ['--session', '{id}', '{args}'],
    chooses: words('--session -S -r --continue -c'),
    continues: words('--continue -c'),
    idAfter: ['--session', '-S', '-r'],
    forks: [],
    headless: {
      start: ['{args}', '--prompt', '{prompt}'],
      resume: ['--session', '{id}', '{args}', '--prompt', '{prompt}'],
      prompt: 'argument',
      marks: ['-p', '--prompt'],
    },
    keeps: {
      flags: words('-y|--yolo --auto --plan'),
      valued: words('-m|--model --add-dir --skills-dir --output-format'),
      repeated: ['--add-dir', '--skills-dir'],
      headless: ['--output-format'],
      either: [words('-y --yolo --auto --plan')],
    },
  },
  resumeIn: 'same',
  sessionVariables: [],
  idVariable: null,
  capture: [
    { from: 'output', field: 'session_id' },
    { from: 'begun', find: begunSince },
  ],
  sessions: sessionsBy((env, id) => {
    const entry = indexOf(env).findLast((line) => line.includes(id) && fieldsIn(line)?.['sessionId'] === id)
    const { sessionDir, workDir } = fieldsIn(entry ?? '') ?? {}
    const path = absolute(sessionDir)
    return path === null ? null : { id, path, dir: absolute(workDir) }
  }),
  registry: null,
  zeroAfter: [],
  usage: kimiUsage,
  daemonizes: [],
  hooks: null,
}

const indexOf = (env: Environment): string[] => (textOf(join(folderOf(env, 'KIMI_CODE_HOME', '.kimi-code'), 'session_index.jsonl')) ?? '').split('\n')

/** The index tells where a session works, and the first line of its wire when it began. */
function begunSince(env: Environment, { dir, since }: Parameters<BegunSince>[1]): string[] {
  return indexOf(env).flatMap((line) => {
    const { sessionId, sessionDir, workDir } = (line.includes(dir) ? fieldsIn(line) : null) ?? {}
    const folder = absolute(sessionDir)
    if (workDir !== dir || typeof sessionId !== 'string' || folder === null) return []
    const begun = someLines(join(folder, 'agents', 'main', 'wire.jsonl'))[0]?.['created_at']
    return typeof begun === 'number' && begun >= since ? sessionId : []
  })
}
