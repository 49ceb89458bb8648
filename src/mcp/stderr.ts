import { writeSync } from 'node:fs'
import { plainParagraph } from '../model/index.ts'
import type { Tell } from './answer.ts'

/** A client that does nothing but wrong is not told so for ever: nobody may read what we write there. */
const MOST_TOLD = 50

/** On stderr, where clients keep what servers have to say. Nobody there is no trouble. */
export function teller(): Tell {
  let told = 0
  return (text) => {
    told++
    if (told > MOST_TOLD) return
    try {
      writeSync(2, `holdfast: ${plainParagraph(text)}${told === MOST_TOLD ? ' (and from now on nothing more is told)' : ''}\n`)
    } catch {
      // There is nobody to tell.
    }
  }
}

/** For somebody who types it. */
export const USAGE = `this is an MCP server: an agent starts it, and speaks to it over stdin and stdout
  claude:  claude mcp add holdfast -- holdfast mcp
  codex:   codex mcp add holdfast -- holdfast mcp, or in config.toml:
             [mcp_servers.holdfast]
             command = "holdfast"
             args = ["mcp"]
it listens now; Ctrl-D ends it`
