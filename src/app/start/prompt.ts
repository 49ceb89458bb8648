import { Problem } from '../../model/index.ts'

/** What Linux allows one word of a command line, with room for its end. */
const MAX_ARGUMENT = 128 * 1024 - 1

/** Where a harness takes its prompt as an argument only. */
export function unfitAsArgument(prompt: Uint8Array, title: string): Problem | null {
  if (prompt.includes(0)) return new Problem('prompt-not-text', `the prompt has a NUL byte, and ${title} takes its prompt as an argument`)
  if (prompt.length > MAX_ARGUMENT)
    return new Problem(
      'prompt-too-long',
      `${title} takes its prompt as an argument, which may be ${MAX_ARGUMENT} bytes long; this one has ${prompt.length}`,
      {
        hint: 'put it into a file in the directory, and tell the agent to read that',
      },
    )
  return null
}
