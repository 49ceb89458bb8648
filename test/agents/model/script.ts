/**
 * A prompt is a script for the model: its directives are the steps, one for each answer.
 * `[[run: command]]` calls the harness's shell tool, `[[bg: command]]` with its own background flag, `[[mcp: name {"json": …}]]` a tool of an
 * MCP server, `[[say: text]]` is the last word,
 * `[[hang]]` begins an answer and never ends it, `[[gate: name]]` holds the next step back until the test opens that gate.
 */
export type Step =
  | { readonly kind: 'call'; readonly command: string; readonly background: boolean }
  | { readonly kind: 'mcp'; readonly name: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'hang' }
export type GatedStep = { readonly step: Step; readonly gate: string | null }

const DIRECTIVE = /\[\[\s*(run|bg|mcp|say|hang|gate)\s*:?\s*([\s\S]*?)\]\]/g

export function stepsOf(prompt: string): GatedStep[] {
  const steps: GatedStep[] = []
  let gate: string | null = null
  for (const [, word = '', rest = ''] of prompt.matchAll(DIRECTIVE)) {
    const text = rest.trim()
    if (word === 'gate') gate = text
    else {
      steps.push({ step: stepOf(word, text), gate })
      gate = null
    }
  }
  return steps
}

function stepOf(word: string, text: string): Step {
  if (word === 'hang') return { kind: 'hang' }
  if (word === 'mcp') {
    const [, name = '', args = ''] = /^(\w+)\s*([\s\S]*)$/.exec(text) ?? []
    return { kind: 'mcp', name, args: JSON.parse(args || '{}') as Record<string, unknown> }
  }
  return word === 'say' ? { kind: 'say', text } : { kind: 'call', command: text, background: word === 'bg' }
}

/** What a harness offers the model. */
export type Tool = { readonly name: string; readonly schema: Schema | null; readonly form: 'function' | 'local_shell' | 'freeform' }
export type Schema = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** A tool call, or words, or nothing ever. */
export type Answer =
  | { readonly kind: 'call'; readonly tool: Tool; readonly args: Readonly<Record<string, unknown>>; readonly command: string }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'hang' }

/** The answer to a prompt after so many tool results. */
export function answerTo(prompt: string, results: number, tools: readonly Tool[]): { readonly answer: Answer; readonly gate: string | null } {
  // A request without tools is the harness asking for a title or a summary: the script is not for it.
  if (tools.length === 0) return { answer: { kind: 'say', text: 'a title' }, gate: null }
  const next = stepsOf(prompt)[results]
  if (next === undefined) return { answer: { kind: 'say', text: `done after ${results} tool results` }, gate: null }
  const { step, gate } = next
  if (step.kind === 'mcp') return { answer: callOfMcp(step.name, step.args, tools), gate }
  if (step.kind !== 'call') return { answer: step, gate }
  const tool = shellOf(tools)
  if (tool === undefined) return { answer: { kind: 'say', text: `no shell among ${tools.map(({ name }) => name).join(', ')}` }, gate }
  return { answer: { kind: 'call', tool, args: argumentsFor(tool.schema, step.command, step.background), command: step.command }, gate }
}

/** Harnesses put the server's name before that of its tool, each in its own way. */
function callOfMcp(name: string, args: Readonly<Record<string, unknown>>, tools: readonly Tool[]): Answer {
  const tool = tools.find((one) => one.name === name || one.name.endsWith(`__${name}`))
  if (tool === undefined) return { kind: 'say', text: `no tool ${name} among ${tools.map((one) => one.name).join(', ')}` }
  return { kind: 'call', tool, args, command: '' }
}

/** What harnesses call their shell, the most certain first. */
const SHELLS = ['Bash', 'bash', 'exec_command', 'shell_command', 'shell', 'local_shell', 'run_shell_command']
const shellOf = (tools: readonly Tool[]): Tool | undefined =>
  SHELLS.map((name) => tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined)

/** The command where the schema wants it, and something for whatever else it insists on. */
function argumentsFor(schema: Schema | null, command: string, background: boolean): Record<string, unknown> {
  const args: Record<string, unknown> = {}
  for (const [name, wanted] of Object.entries(schema?.properties ?? {})) {
    const type = (Array.isArray(wanted.type) ? wanted.type[0] : wanted.type)?.toLowerCase()
    if (name === 'command' || name === 'cmd') args[name] = type === 'array' ? ['bash', '-lc', command] : command
    else if (background && type === 'boolean' && /background/i.test(name)) args[name] = true
    else if (schema?.required?.includes(name)) args[name] = fillerFor(wanted, type)
  }
  return args
}

function fillerFor({ enum: choices }: Schema, type: string | undefined): unknown {
  if (choices !== undefined) return choices[0]
  return { boolean: false, number: 30, integer: 30, array: [], object: {} }[type ?? ''] ?? 'filler'
}
