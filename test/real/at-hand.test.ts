import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, readOr, until } from './lab.ts'
import { onTerminal } from './terminal.ts'

test('a prompt is said on the command line, and a detached start says what follows it', () =>
  inLab(async (lab) => {
    const bin = join(lab.agentDir, 'bin')
    mkdirSync(bin)
    copyFileSync('test/fixtures/claude', join(bin, 'claude'))
    chmodSync(join(bin, 'claude'), 0o755)
    const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: lab.agentDir, CLAUDE_CONFIG_DIR: join(lab.agentDir, 'config'), FA_DO: 'end' }
    const said = await lab.ok(['run', '-d', '--session', 's', '--dir', lab.dir, '--prompt', '-x "mend" $HOME', 'claude'], { env })
    expect(said).toMatch(/^started s \(pid \d+\) in .*; holdfast logs -f s follows it\n$/)
    await until('the prompt', () => readOr(join(lab.agentDir, 'prompt')) === '-x "mend" $HOME')
    expect(await lab.refused(['run', '--prompt', 'x', '--prompt-file', 'y', 'claude'], { env })).toMatchObject({ id: 'options-exclusive' })
    expect(await lab.refused(['run', '--prompt', ' ', 'claude'], { env })).toMatchObject({ id: 'prompt-empty' })
  }))

verifies('visible', 'a list that is watched ends with q and leaves the terminal as it was; a pipe gets no escape codes', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '-d', '--name', 'watched', '--dir', lab.dir, '--', 'sleep', '1000'])
    await onTerminal(lab, ['env', 'PS1=prompt> ', 'bash', '--norc', '-i'], async (terminal) => {
      await terminal.sees('prompt>')
      for (const [key, code] of [
        ['q', 0],
        ['C-c', 0],
      ] as const) {
        terminal.type([`clear; before=$(stty -g); ${COMMAND} ls --watch; echo "left=$? $([ "$before" = "$(stty -g)" ] && echo same)"`, 'Enter'])
        await terminal.sees(/q ends this list[\s\S]*watched .*running/)
        expect(terminal.modes()).toBe('1 0 0')
        terminal.type([key])
        await terminal.sees(`left=${code} same`)
        expect(terminal.modes()).toBe('0 0 1')
        expect(terminal.screen()).not.toContain('q ends this list')
      }
      // Ended by another program, it leaves the terminal as well.
      terminal.type([`clear; ${COMMAND} ls --watch; echo "left=$?"`, 'Enter'])
      await terminal.sees('q ends this list')
      const shell = terminal.pid()
      process.kill(Number(readOr(`/proc/${shell}/task/${shell}/children`).trim()), 'SIGTERM')
      await terminal.sees('left=143')
      expect(terminal.modes()).toBe('0 0 1')
    })
    const child = lab.start(['ls', '--watch'])
    let out = ''
    child.stdout?.on('data', (data: Buffer) => {
      out += data.toString()
    })
    await until('two lists', () => out.split('watched').length > 2)
    child.kill('SIGTERM')
    expect(out).not.toContain('\u001B')
    await lab.ok(['stop', 'watched'])
  }),
)
