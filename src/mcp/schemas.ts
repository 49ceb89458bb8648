import * as z from 'zod'
import { ID_GRAMMAR, ID_PATTERN, policy } from '../model/index.ts'

/** What a command line could not have said either: the store and the kernel end a text at a NUL. */
const withoutNul = (text: string): boolean => !text.includes('\0')
const text = (most: number) => z.string().min(1).max(most).refine(withoutNul, 'it has no NUL in it')

const MAX_PATH = 4096
const MAX_REASON = 200
/** All of them together fit into a line, however they are written. */
const MAX_WORDS = 64
const MAX_WORD = 2 * 1024

const name = z.string().regex(ID_PATTERN, `it is ${ID_GRAMMAR}`)
const A_SESSION = 'a session: its id, a name or former id of it, or the beginning of one'

export const reference = name.describe(A_SESSION)
/** No session is called so. */
export const EVERYBODY = { '@all': 'all', '@here': 'here' } as const
export const addressee = z
  .union([z.enum(['@all', '@here']), name])
  .describe(`${A_SESSION}; or "@all", or "@here" for those in your repository or directory tree`)
export const taskName = name.max(60).describe('its name in your session')
export const directory = text(MAX_PATH).regex(/^\//, 'it begins with /').describe('an absolute path')
export const reason = text(MAX_REASON).describe('why, for those who are refused meanwhile')
export const command = z
  .array(z.string().max(MAX_WORD).refine(withoutNul, 'it has no NUL in it'))
  .min(1)
  .max(MAX_WORDS)
  .describe('program and arguments; no shell is between')
export const messageText = text(policy.messageBytes)
export const sayingText = text(policy.sayingBytes)
export const requestName = name.describe('a request; at least four characters of its id')
export const resultText = text(policy.sayingBytes).describe('what came of it')
export const waitSeconds = z
  .number()
  .min(0)
  .max(policy.mcpWaitMs / 1000)
  .default(0)
  .describe('how long to wait for one, if there is none yet')
