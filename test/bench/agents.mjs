// What a busy user has on disk: many projects, many conversations; and stand-ins for agents that carry some of them.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const idOf = (kind, index) => `${kind}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const at = () => new Date().toISOString()

const claudeLine = () =>
  `${JSON.stringify({ type: 'assistant', timestamp: at(), message: { id: `m${Math.random()}`, content: 'x'.repeat(800), usage: { input_tokens: 100, output_tokens: 10 } } })}\n`
const codexLine = () => {
  const usage = { input_tokens: Math.floor(Math.random() * 1e6), cached_input_tokens: 0, output_tokens: 10 }
  const info = { total_token_usage: usage, last_token_usage: { ...usage, input_tokens: 100 } }
  return `${JSON.stringify({ timestamp: at(), type: 'event_msg', payload: { type: 'token_count', info, more: 'x'.repeat(800) } })}\n`
}

/** `burn` lets each live conversation grow by a line, as it does between two looks. */
export function layAgents(folder, { projects, rollouts, sessions }) {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  for (const name of ['claude', 'codex']) writeFileSync(join(bin, name), '#!/bin/sh\nexec sleep 3600\n', { mode: 0o755 })
  const project = (index) => join(folder, 'claude', 'projects', `-home-user-project-${index}`)
  for (let index = 0; index < projects; index++) {
    mkdirSync(project(index), { recursive: true })
    writeFileSync(join(project(index), `${idOf('a', index)}.jsonl`), claudeLine().repeat(100))
  }
  const rollout = (index) => {
    const day = join(folder, 'codex', 'sessions', '2026', '01', String((index % 25) + 1).padStart(2, '0'))
    mkdirSync(day, { recursive: true })
    return join(day, `rollout-2026-01-01T00-00-00-${idOf('b', index)}.jsonl`)
  }
  for (let index = 0; index < rollouts; index++)
    writeFileSync(rollout(index), `${JSON.stringify({ type: 'session_meta', payload: { id: idOf('b', index) } })}\n${codexLine().repeat(50)}`)
  const half = Array.from({ length: sessions / 2 }, (_, index) => index * 2)
  return {
    env: { PATH: `${bin}:${process.env.PATH}`, CLAUDE_CONFIG_DIR: join(folder, 'claude'), CODEX_HOME: join(folder, 'codex') },
    commands: half.flatMap((index) => [
      ['claude', '--resume', idOf('a', index)],
      ['codex', 'resume', idOf('b', index)],
    ]),
    burn: () => {
      for (const index of half) {
        appendFileSync(join(project(index), `${idOf('a', index)}.jsonl`), claudeLine())
        appendFileSync(rollout(index), codexLine())
      }
    },
  }
}
