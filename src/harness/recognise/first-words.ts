import { fstatSync } from 'node:fs'
import { bytesAt, orNull, withFile } from '../../lib/index.ts'
import { type Fields, fieldsIn } from './disk.ts'

const HEAD_BYTES = 64 * 1024
const MOST_CHARS = 200

/** The beginning of what a person said first in a transcript of lines of JSON; null: nothing that can be told. */
export function firstWordsIn(path: string): string | null {
  const head = orNull(() => withFile(path, 'read', (fd) => bytesAt(fd, 0, Math.min(HEAD_BYTES, fstatSync(fd).size)).toString('utf8'), 'followed'))
  for (const line of (head ?? '').split('\n')) {
    const fields = fieldsIn(line)
    const words = fields === null ? null : wordsOf(saidBy(fields))
    if (words !== null) return words
  }
  return null
}

/** A title, or a text of a person: one line of it. Tags and instruction files that a harness puts first are no words of a person. */
export function wordsOf(text: string | null): string | null {
  const words = (text ?? '').replaceAll(/\s+/g, ' ').trim()
  return words === '' || /^(<|\[|# ?AGENTS\.md|Caveat:|New session\b)/.test(words) ? null : [...words].slice(0, MOST_CHARS).join('')
}

/** Claude Code and its kin (`message`), Codex and its kin (`payload`). */
function saidBy({ type, isMeta, isSidechain, message, payload }: Fields): string | null {
  if (isMeta === true || isSidechain === true) return null
  const said = inside(message) ?? inside(payload)
  if (said === null) return null
  if (said['type'] === 'user_message') return textIn(said['message'])
  return said['role'] === 'user' || (type === 'user' && said['role'] === undefined) ? textIn(said['content']) : null
}

const inside = (value: unknown): Fields | null => (typeof value === 'object' && value !== null ? (value as Fields) : null)

function textIn(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const texts = content.map((part) => inside(part)?.['text']).filter((text) => typeof text === 'string')
  return texts.find((text) => wordsOf(text) !== null) ?? null
}
