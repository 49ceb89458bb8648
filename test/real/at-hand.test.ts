import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, type Lab, readOr, until } from './lab.ts'
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

const ID = '0b9e2f7c-1111-4222-8333-444455556666'

/** A lab with a stand-in for claude and the command itself on its PATH. */
const withClaude = (body: (lab: Lab, env: NodeJS.ProcessEnv, bin: string) => Promise<void>): Promise<void> =>
  inLab(async (lab) => {
    const bin = join(lab.agentDir, 'bin')
    mkdirSync(bin)
    copyFileSync('test/fixtures/claude', join(bin, 'claude'))
    chmodSync(join(bin, 'claude'), 0o755)
    symlinkSync(COMMAND, join(bin, 'holdfast'))
    spawnSync('mkfifo', [join(lab.agentDir, 'never')])
    const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: lab.agentDir, CLAUDE_CONFIG_DIR: join(lab.agentDir, 'config'), FA_DO: 'wait' }
    await body(lab, env, bin)
  })

test('a list tells of agents that Holdfast did not start', () =>
  withClaude(async (lab, env, bin) => {
    const plain = spawn(join(bin, 'claude'), ['--resume', ID], { cwd: lab.dir, env: { ...lab.env, ...env }, stdio: 'ignore' })
    try {
      await until('it to be listed', async () => (await lab.ok(['ls', '--unmanaged'], { env })).includes(String(plain.pid)))
      // Other tests may have agents of their own at the same time.
      expect(await lab.ok(['ls'], { env })).toMatch(/\n\n\d+ agents? that Holdfast did not start: holdfast ls --unmanaged\n/)
      expect(await lab.ok(['ls', '--json'], { env })).toBe('[]\n')
    } finally {
      plain.kill('SIGKILL')
      await once(plain, 'exit')
    }
  }))

verifies('one-owner', 'with hooks, a plain agent in the conversation of a live session is warned at its prompt, and no other one', () =>
  withClaude(async (lab, env) => {
    await lab.ok(['hooks', 'install', 'claude'], { env })
    const settings = JSON.parse(readFileSync(join(env['CLAUDE_CONFIG_DIR'] ?? '', 'settings.json'), 'utf8')) as {
      hooks: { UserPromptSubmit: { hooks: { command: string }[] }[] }
    }
    const command = settings.hooks.UserPromptSubmit[0]?.hooks[0]?.command ?? ''
    const prompt = (id: string) => {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
        env: { ...lab.env, ...env },
        input: JSON.stringify({ session_id: id, prompt: 'go on' }),
        encoding: 'utf8',
        timeout: 60_000,
      })
      return { status, stdout, stderr }
    }
    const SILENT = { status: 0, stdout: '', stderr: '' }
    expect(prompt(ID)).toEqual(SILENT)
    await lab.ok(['run', '-d', '--session', 'api', '--dir', lab.dir, '--', 'claude', '--session-id', ID, '-p', 'x'], { env })
    await until('its conversation', async () => ((await lab.status('api')) as unknown as { nativeId: string }).nativeId === ID)
    const warned = prompt(ID)
    expect(warned.status).toBe(0)
    expect(JSON.parse(warned.stdout)).toMatchObject({
      systemMessage: expect.stringMatching(/^Holdfast: session api \(pid \d+\) is alive in this conversation.*holdfast resume api --takeover$/),
    })
    expect(prompt(`1${ID.slice(1)}`)).toEqual(SILENT)
    await lab.ok(['stop', 'api'], { env })
    expect(prompt(ID)).toEqual(SILENT)
    await lab.ok(['hooks', 'uninstall', 'claude'], { env })
  }),
)

for (const [shell, start, init] of [
  ['bash', ['bash', '--norc', '-i'], 'eval "$(holdfast shell-init bash)"'],
  ['zsh', ['zsh', '-f', '-i'], 'eval "$(holdfast shell-init zsh)"'],
  ['fish', ['fish', '--no-config', '-i'], 'holdfast shell-init fish | source'],
] as const)
  test.skipIf(spawnSync(shell, ['-c', 'true']).status !== 0)(
    `${shell}: agents that are started by hand run through Holdfast, and pipes, scripts and one-shot words do not`,
    () =>
      withClaude(async (lab, env) => {
        const assignments = Object.entries({ ...env, FA_DIR: lab.agentDir, HOLDFAST_HOME: lab.home }).map(([name, value]) => `${name}=${value}`)
        await onTerminal(lab, ['env', ...assignments, ...start], async (terminal) => {
          const sessions = async (): Promise<number> => (JSON.parse(await lab.ok(['ls', '--all', '--json'])) as unknown[]).length
          const says = async (line: string, text: string): Promise<void> => {
            terminal.type([line, 'Enter'])
            await terminal.sees(text)
          }
          // Typed before the shell is ready, it is read all the same; the answer is not in what was typed.
          await says(`${init}; echo rea''dy`, 'ready')
          const argv = (): string => readOr(join(lab.agentDir, 'argv')).trim()
          await says(`FA_DO=end claude --version; echo one''=done`, 'one=done')
          expect(argv()).toBe('--version')
          await says(`echo hello | FA_DO=end claude -p two; echo two''=done`, 'two=done')
          expect(argv()).toBe('-p\ntwo')
          await says(`FA_DO=end HOLDFAST_BYPASS=1 claude three; echo three''=done`, 'three=done')
          await says(`FA_DO=end command claude four; echo four''=done`, 'four=done')
          await says(`FA_DO=end sh -c 'claude five'; echo five''=done`, 'five=done')
          expect(argv()).toBe('five')
          expect(await sessions()).toBe(0)
          terminal.type(['claude six', 'Enter'])
          await until('the session', async () => (await sessions()) === 1)
          await until('its argv', () => argv().includes('six') && argv().includes('--session-id'))
          const [{ session }] = JSON.parse(await lab.ok(['ls', '--json'])) as [{ session: string }]
          await lab.ok(['stop', session])
          await says(`echo over''=done`, 'over=done')
        })
      }),
  )
