import { describe, expect, test } from 'vitest'
import { HARNESSES, harnessNamed } from '../../../src/harness/index.ts'

const ID = '7db0e0a7-4f6b-4dd5-a6d9-9f4c79dfa904'

/** The line of its output that tells the id, as each of them wrote it, cut to what matters. */
const SAID: Readonly<Record<string, string>> = {
  claude: `{"type":"system","subtype":"init","cwd":"/w","session_id":"${ID}","tools":["Bash"]}`,
  codex: `{"type":"thread.started","thread_id":"${ID}"}`,
  code: `{"type":"thread.started","thread_id":"${ID}"}`,
  gemini: `{"type":"init","timestamp":"2026-11-16T10:28:22.142Z","session_id":"${ID}","model":"gemini-2.5-flash"}`,
  qwen: `{"type":"system","subtype":"init","uuid":"${ID}","session_id":"${ID}","cwd":"/w"}`,
  opencode: `{"type":"step_start","timestamp":1794824917750,"sessionID":"${ID}","part":{"id":"prt_1e3e","messageID":"msg_1e3e"}}`,
  kilo: `{"type":"step_start","timestamp":1794825014000,"sessionID":"${ID}","part":{"id":"prt_1e3e","messageID":"msg_1e3e"}}`,
  copilot: `{"type":"result","timestamp":"2026-11-16T10:28:34.532Z","sessionId":"${ID}","exitCode":0}`,
  kimi: `{"role":"meta","type":"session.resume_hint","session_id":"${ID}","command":"kimi -r ${ID}"}`,
  droid: `{"type":"result","subtype":"success","is_error":false,"num_turns":2,"session_id":"${ID}"}`,
  grok: `{"type":"end","stopReason":"end_turn","sessionId":"${ID}","num_turns":1}`,
}

describe('the id in its output', () => {
  const speaking = HARNESSES.flatMap(({ name, capture }) => capture.flatMap((one) => (one.from === 'output' ? [[name, one.field] as const] : [])))
  test.each(speaking)('%s: %s', (name, field) => {
    expect((JSON.parse(SAID[name] ?? '{}') as Record<string, unknown>)[field]).toBe(ID)
  })
  test('is recorded of no other', () => expect(speaking.map(([name]) => name).sort()).toEqual(Object.keys(SAID).sort()))
})

describe('the id in the name of a file that codex has open', () => {
  const pattern = harnessNamed('codex')?.capture.flatMap((one) => (one.from === 'open-file' ? [one.path] : []))[0]
  test.each<[string, string | undefined]>([
    [`/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T10-28-16-${ID}.jsonl`, ID],
    [`/home/dev/.codex/sessions/2026/11/16/rollout-2026-11-16T10-28-16-${ID}.jsonl (deleted)`, undefined],
    [`/home/dev/.codex/thread-writer-locks/${ID}.lock`, undefined],
    [`/w/notes-${ID}.jsonl`, undefined],
  ])('%s', (path, id) => expect(pattern?.exec(path)?.[1]).toBe(id))
})
