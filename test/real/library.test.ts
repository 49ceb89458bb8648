import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { inLab, type Lab } from './lab.ts'

/** What a program of a project that has the package says. */
function answerOf(lab: Lab, program: string, project = lab.newDir()): unknown {
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(resolve('.'), join(project, 'node_modules', 'holdfast'))
  writeFileSync(join(project, 'program.mjs'), program)
  const result = spawnSync(process.execPath, ['program.mjs'], {
    cwd: project,
    env: { ...lab.env, HOME: lab.agentDir, WORK: lab.dir },
    encoding: 'utf8',
  })
  expect(result.status, result.stderr).toBe(0)
  return JSON.parse(result.stdout)
}

const PROGRAM = `
import { openHoldfast, Problem } from 'holdfast'
const holdfast = openHoldfast({ home: process.env.HOLDFAST_HOME })
const started = await holdfast.start({ session: 'lib', dir: process.env.WORK, argv: ['sleep', '1000'] })
const refused = await holdfast.start({ session: 'lib', dir: process.env.WORK, argv: ['sleep', '1'] }).catch((error) => error)
const listed = await holdfast.list()
const tree = await holdfast.tree('lib')
const who = await holdfast.whoAmI()
const others = await holdfast.siblings({ session: 'lib' })
await holdfast.rebind('lib', 'true-lib')
const sent = await holdfast.message({ to: { session: 'lib' }, text: 'hello' })
const read = await holdfast.inbox({ session: 'lib', peek: true })
const report = await holdfast.report('plan', 'x').catch((problem) => problem.exitCode)
await holdfast.rebind('lib', 'lib')
const stopped = await holdfast.stop({ references: ['lib'] })
const ended = await holdfast.wait('lib', 5000)
console.log(JSON.stringify({
  started: started.kind, refused: refused instanceof Problem && refused.exitCode, listed: listed.map((sight) => sight.session.id),
  stopped: stopped[0].end.kind, ended: ended.state, events: (await holdfast.events('lib')).map((event) => event.kind), locks: await holdfast.locks(), changes: await holdfast.reconcile(),
  tree: tree.members.map((member) => member.row.name), litter: (await holdfast.prune(true)).length, findings: (await holdfast.examine()).map((finding) => finding.topic),
  talk: [who.kind, others, sent.reached, read.messages.map((message) => [message.text, message.from.session]), report],
  work: [await holdfast.work.list(), await holdfast.work.show('wnone').catch((problem) => problem.id)],
  task: await holdfast.startTask({ onRetire: 'cancel', argv: ['true'] }).catch((problem) => problem.exitCode), gone: await holdfast.resolveGone('lib').catch((problem) => problem.exitCode),
}))
holdfast.close()
`

test('the same use cases, imported from holdfast, with types', () =>
  inLab(async (lab) => {
    const project = lab.newDir()
    expect(answerOf(lab, PROGRAM, project)).toEqual({
      started: 'running',
      refused: 75,
      listed: ['lib'],
      stopped: 'ended',
      ended: 'stopped',
      events: ['claimed', 'running', 'refused', 'rebound', 'messaged', 'rebound', 'asked', 'ended'],
      talk: ['nobody', { self: 'lib', here: false, unreadable: [], siblings: [] }, ['true-lib'], [['hello', null]], 66],
      locks: [],
      changes: [],
      tree: ['sleep'],
      litter: 0,
      findings: ['agents', 'config', 'containment', 'marker', 'sight', 'daemon', 'tmux', 'notifications'],
      work: [[], 'request-unknown'],
      task: 64,
      gone: 66,
    })
    writeFileSync(
      join(project, 'typed.mts'),
      `import { openHoldfast, type SessionView } from 'holdfast'\nconst sights: Promise<SessionView[]> = openHoldfast().list()\n// @ts-expect-error: a session id is text\nopenHoldfast().status(1)\nexport { sights }\n`,
    )
    const typed = spawnSync(
      resolve('node_modules/.bin/tsc'),
      [
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--moduleResolution',
        'nodenext',
        '--target',
        'es2022',
        '--typeRoots',
        resolve('node_modules/@types'),
        '--types',
        'node',
        'typed.mts',
      ],
      { cwd: project, encoding: 'utf8' },
    )
    expect(typed.stdout + typed.stderr).toBe('')
  }))

const LOCKS = `
import { openHoldfast } from 'holdfast'
const holdfast = openHoldfast({ home: process.env.HOLDFAST_HOME })
const dir = process.env.WORK
const state = async () => { const { state, own } = await holdfast.checkLock(dir); return own ? 'own' : state }
const answers = [await state()]
await holdfast.lock({ dir, reason: 'a build' })
answers.push(await state(), (await holdfast.locks()).map(({ lock, pid }) => [lock.reason, pid === process.pid]))
answers.push((await holdfast.unlock(dir)).length, await state())
const { run } = await holdfast.start({ session: 'lib', dir, argv: ['sleep', '1000'] })
answers.push(await state(), await holdfast.unlock(dir, true).catch((problem) => problem.exitCode), await holdfast.lock({ dir }).catch((problem) => problem.exitCode))
await holdfast.stop({ references: [run.session] })
answers.push(await state(), await holdfast.adopt({ pid: process.ppid }).catch((problem) => problem.exitCode))
console.log(JSON.stringify(answers))
holdfast.close()
`

test('directories are locked, checked and unlocked by a program, which holds them itself', () =>
  inLab(async (lab) => {
    expect(answerOf(lab, LOCKS)).toEqual(['free', 'own', [['a build', true]], 1, 'free', 'held', 75, 75, 'free', 64])
  }))
