/** A simple command of a script, in words. */
export type Command = readonly string[]

const MAX_SCRIPT = 64 * 1024
/** The operators between simple commands. A subshell and a substitution begin with one. */
const OPERATOR = /^(?:&&|\|\||;;|\$\(|[;&|()\n`])/
const REDIRECTION = /^\d*(?:>>|>&|<<<|<<|<&|<>|>\||[<>])/
/** Words that stand before a command. */
const PREFIX = /^(if|then|elif|else|while|until|do|!|\{|time|exec|command|builtin)$/
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

/**
 * The simple commands of a shell script, as far as they can be told without running it. Values of variables are unknown, but for the arguments of the
 * script (`positional`, from $0 on).
 */
export function commandsIn(script: string, positional: readonly string[] = []): Command[] {
  const commands: Command[] = []
  let words: string[] = []
  const end = (): void => {
    const command = withoutPrefix(words)
    if (command.length > 0) commands.push(command)
    words = []
  }
  let rest = script.slice(0, MAX_SCRIPT).replaceAll('\\\n', '')
  while (rest !== '') {
    const blank = /^(?:[ \t]+|#[^\n]*)/.exec(rest)?.[0]
    const operator = blank === undefined ? OPERATOR.exec(rest)?.[0] : undefined
    const redirection = blank ?? operator ?? REDIRECTION.exec(rest)?.[0]
    if (operator !== undefined) end()
    if (redirection !== undefined) {
      rest = rest.slice(redirection.length)
      // The file that it names is no argument.
      if (blank === undefined && operator === undefined) rest = rest.replace(/^[ \t]+/, '').slice(wordAt(rest.replace(/^[ \t]+/, '')).length)
      continue
    }
    const { length, text } = wordAt(rest)
    words.push(...expanded(text, positional))
    rest = rest.slice(Math.max(1, length))
  }
  end()
  return commands
}

/** One word, without its quotes. */
function wordAt(text: string): { readonly length: number; readonly text: string } {
  let at = 0
  let word = ''
  while (at < text.length) {
    const char = text[at] ?? ''
    if (/[\s;&|()<>`]/.test(char)) break
    if (char === '$' && text[at + 1] === '(') break
    if (char === "'" || char === '"') {
      const close = closeOf(text, at)
      word += char === "'" ? text.slice(at + 1, close) : text.slice(at + 1, close).replaceAll(/\\(["\\$`])/g, '$1')
      at = close + 1
    } else if (char === '\\') {
      word += text[at + 1] ?? ''
      at += 2
    } else {
      word += char
      at += 1
    }
  }
  return { length: at, text: word }
}

/** Where a quote ends; a script that leaves it open ends there. */
function closeOf(text: string, from: number): number {
  const quote = text[from]
  for (let at = from + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1
    else if (text[at] === quote) return at
  }
  return text.length
}

function expanded(word: string, positional: readonly string[]): readonly string[] {
  if (/^\$(@|\*|\{[@*]\})$/.test(word)) return positional.slice(1)
  const place = /^\$(?:(\d)|\{(\d+)\})$/.exec(word)
  return [place === null ? word : (positional[Number(place[1] ?? place[2])] ?? word)]
}

function withoutPrefix(words: readonly string[]): Command {
  const at = words.findIndex((word) => !PREFIX.test(word) && !ASSIGNMENT.test(word))
  return at < 0 ? [] : words.slice(at)
}
