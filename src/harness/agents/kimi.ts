import { join } from 'node:path'
import type { Harness } from '../../model/index.ts'
import { absolute, fieldsIn, folderOf, textOf } from '../recognise/disk.ts'
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
  capture: [{ from: 'output', field: 'session_id' }],
  sessions: sessionsBy((env, id) => {
    const index = textOf(join(folderOf(env, 'KIMI_CODE_HOME', '.kimi-code'), 'session_index.jsonl')) ?? ''
    const entry = index.split('\n').findLast((line) => line.includes(id) && fieldsIn(line)?.['sessionId'] === id)
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
