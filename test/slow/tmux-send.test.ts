import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { type Hosted, inHostedLab, TYPIST } from '../real/hosted.ts'
import { type Options, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

type Sent = { session: string; taken: string; why: string }
const send = async (lab: Hosted, session: string, text: string, options: Options = {}): Promise<Sent & { code: number | null }> => {
  const { code, stdout, stderr } = await lab.hf(['send', session, '--json', '--', text], options)
  expect(stdout, stderr).not.toBe('')
  return { code, ...(JSON.parse(stdout) as Sent) }
}

test('one block, however many lines it has, and then Enter', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST))
    await lab.sees('s', 'ready')
    const text = `first line\n\tsecond; "quoted" $HOME \`x\` ü -n\n\nlast`
    expect(await send(lab, 's', text)).toMatchObject({ code: 0, session: 's', taken: 'typed' })
    await until('the block', () => lab.blocks().length > 0)
    expect(lab.blocks()).toEqual([text])
    expect(await lab.ok(['send', 's', '-'], { input: 'from stdin\r\nmore\n' })).toMatch(/^s was typed to: it stood on its screen/)
    expect(lab.blocks()).toEqual([text, 'from stdin\nmore'])
    // In copy mode it would go to tmux.
    lab.tmux('copy-mode', '-t', `=${await lab.tmuxOf('s')}:`)
    expect(await send(lab, 's', 'out of copy mode')).toMatchObject({ code: 0, taken: 'typed' })
    expect(lab.blocks().at(-1)).toBe('out of copy mode')
  }))

verifies(
  'private',
  'nothing can be smuggled in: escape sequences, control characters and endless texts are refused, and nothing of them is typed',
  () =>
    inHostedLab(async (lab) => {
      await lab.ok(lab.hosted('s', ...TYPIST))
      await lab.sees('s', 'ready')
      const before = await lab.screen('s')
      for (const text of ['a\u001B[201~\u0003b', 'a\u0003', 'a\u001A', 'a\u0085b', 'a\u009B201~', '\u007F', ' \n ', '', 'x'.repeat(70_000)]) {
        const { code, stdout } = await lab.hf(['send', 's', '-'], { input: text })
        expect([code, stdout], JSON.stringify(text.slice(0, 20))).toEqual([64, ''])
      }
      expect(await lab.screen('s')).toBe(before)
      expect(lab.blocks()).toEqual([])
    }),
)

test('many at once do not run into each other', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST))
    await lab.sees('s', 'ready')
    const texts = Array.from({ length: 6 }, (_, index) => `sender ${index}\n${String(index).repeat(400)}`)
    const sent = await Promise.all(texts.map((text) => send(lab, 's', text)))
    expect(sent.map(({ taken }) => taken)).toEqual(texts.map(() => 'typed'))
    expect(lab.blocks().toSorted()).toEqual(texts.toSorted())
  }))

test('who reads nothing has not taken it, and Enter is not pressed blind', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('deaf', ...TYPIST, 'deaf'))
    await lab.sees('deaf', 'ready')
    expect(await send(lab, 'deaf', 'hello')).toMatchObject({ code: 75, taken: 'no', why: expect.stringContaining('did not change') })
    // One that only needs a moment is waited for.
    await lab.ok(lab.hosted('slow', ...TYPIST, 'slow'))
    await lab.sees('slow', 'ready')
    expect(await send(lab, 'slow', 'hello slow')).toMatchObject({ code: 0, taken: 'typed' })
    expect(lab.blocks()).toEqual(['hello slow'])
    await lab.ok(['stop', 'deaf', 'slow'])
    expect(await lab.hf(['send', 'slow', 'x'])).toMatchObject({ code: 66 })
  }))

/** A tmux that does not show a screen: from the start, once something was pasted, or once Enter was pressed. */
function blinding(lab: Hosted): (from: 'start' | 'paste' | 'Enter') => Options {
  const [bin, tmux] = [lab.newDir(), spawnSync('which', ['tmux'], { encoding: 'utf8' }).stdout.trim()]
  const script = [
    'case "$*" in',
    '*capture-pane*) [ ! -e "$FA_BLIND" ] || exit 1 ;;',
    `*paste-buffer*) [ "$FA_FROM" != paste ] || : >"$FA_BLIND" ;;`,
    `*send-keys*Enter*) [ "$FA_FROM" != Enter ] || : >"$FA_BLIND" ;;`,
    'esac',
  ]
  writeFileSync(join(bin, 'tmux'), `#!/bin/sh\n${script.join('\n')}\nexec ${tmux} "$@"\n`, { mode: 0o755 })
  return (from) => {
    const blind = join(lab.newDir(), 'blind')
    if (from === 'start') writeFileSync(blind, '')
    return { env: { PATH: `${bin}:${process.env['PATH']}`, FA_BLIND: blind, FA_FROM: from } }
  }
}

verifies('unknown', 'a screen that cannot be seen has not changed: nothing is typed, or nothing entered, and the answer says so', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST))
    await lab.sees('s', 'ready')
    const before = await lab.screen('s')
    const blind = blinding(lab)
    expect(await send(lab, 's', 'one', blind('start'))).toMatchObject({
      code: 75,
      taken: 'no',
      why: 'its screen cannot be seen, so nothing was typed',
    })
    expect(await lab.screen('s')).toBe(before)
    expect(await send(lab, 's', 'two ', blind('paste'))).toMatchObject({
      code: 75,
      taken: 'no',
      why: expect.stringMatching(/its screen could not be seen after that, so Enter was not pressed/) as string,
    })
    expect(lab.blocks()).toEqual([])
    expect(await send(lab, 's', 'three', blind('Enter'))).toMatchObject({
      code: 76,
      taken: 'unknown',
      why: expect.stringMatching(/Enter was pressed, but its screen could not be seen after that/) as string,
    })
    expect(lab.blocks()).toEqual(['two three'])
  }),
)

verifies('unknown', 'a screen that only moves does not say that anything was taken', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST, 'counts'))
    await lab.sees('s', 'ready')
    expect(await send(lab, 's', 'fix the tests')).toMatchObject({
      code: 76,
      taken: 'unknown',
      why: expect.stringContaining('unconfirmed: the screen changed') as string,
    })
  }),
)

verifies('evidence', 'taken for certain is only what its harness reports', () =>
  inHostedLab(async (lab) => {
    const home = lab.newDir()
    const bin = lab.newDir()
    const id = '00000000-0000-4000-8000-00000000abcd'
    mkdirSync(join(home, '.claude'))
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec ${TYPIST.join(' ')} "$FA_HOW" ${id}\n`, { mode: 0o755 })
    const env = { HOME: home, CLAUDE_CONFIG_DIR: '', PATH: `${bin}:${process.env['PATH']}`, FA_HOOK: resolve('dist'), FA_HOW: 'hook' }
    await lab.ok(['hooks', 'install', 'claude'], { env })
    const run = ['run', '--session', 's', '--dir', lab.dir, '--tmux', '--detach', 'claude', '--session-id', id]
    await lab.ok(run, { env })
    await lab.sees('s', 'ready')
    expect(await send(lab, 's', 'a prompt\nof two lines', { env })).toMatchObject({
      code: 0,
      taken: 'yes',
      why: 'its harness has reported the prompt',
    })
    expect(lab.blocks()).toEqual(['a prompt\nof two lines'])
    await lab.ok(['stop', 's'])
    // What somebody else has entered at the same moment, or what stood there with this behind it, proves nothing.
    await lab.ok(run, { env: { ...env, FA_HOW: 'rival' } })
    await lab.sees('s', 'ready')
    expect(await send(lab, 's', 'a prompt', { env })).toMatchObject({
      code: 76,
      taken: 'unknown',
      why: expect.stringContaining('another prompt') as string,
    })
  }),
)

verifies('innocent', 'a question that comes up while it is typed is not answered by it', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST, 'asks'))
    await lab.sees('s', 'ready')
    expect(await send(lab, 's', 'fix the tests')).toMatchObject({
      code: 75,
      taken: 'no',
      why: expect.stringMatching(/stands there, but Enter was not pressed: it waits for an answer/) as string,
    })
    expect(lab.blocks()).toEqual([])
    await lab.ok(['send', 's', '--force', '--', ' at once'])
    expect(lab.blocks()).toEqual(['fix the tests at once'])
  }),
)

verifies('identity', 'typed to, and shown, is the pane of the agent, and none that somebody opened beside it', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', ...TYPIST))
    await lab.sees('s', 'ready')
    const name = await lab.tmuxOf('s')
    lab.tmux('split-window', '-t', `=${name}:`, 'echo another; exec /bin/sh')
    lab.tmux('new-window', '-t', `=${name}:`, 'echo another; exec /bin/sh')
    const made = join(lab.agentDir, 'made')
    expect(await send(lab, 's', `touch ${made}`)).toMatchObject({ code: 0, taken: 'typed' })
    expect(lab.blocks()).toEqual([`touch ${made}`])
    expect(existsSync(made)).toBe(false)
    expect(await lab.screen('s')).not.toContain('another')
    await lab.ok(['stop', 's'])
  }),
)
