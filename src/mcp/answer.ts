import { type CallToolResult, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { Problem, plain } from '../model/index.ts'
import { faultOf, jsonText, problemJson } from '../show/index.ts'

/** Tells whoever reads stderr. */
export type Tell = (text: string) => void

export type Answer = Readonly<Record<string, unknown>>

/** What a tool answers: its object, and the same as text for clients that know no objects. A refusal is an answer too, and nothing is ever thrown. */
export async function answered(tell: Tell, work: () => Promise<Answer>): Promise<CallToolResult> {
  try {
    const answer = await work()
    return { content: [{ type: 'text', text: jsonText(answer) }], structuredContent: { ...answer } }
  } catch (error) {
    const problem = forAgents(problemOf(error, tell))
    return { content: [{ type: 'text', text: sentences(problem) }], structuredContent: problemJson(problem), isError: true }
  }
}

/** A person is told how to end whoever is in the way; an agent is told to talk. */
const forAgents = (problem: Problem): Problem =>
  ENDS_OTHERS.test(problem.hint ?? '') ? new Problem(problem.id, problem.message, { hint: TALK, detail: problem.detail, cause: problem }) : problem
const ENDS_OTHERS = /holdfast (stop|unlock|resolve)\b|--(force|takeover|share)\b/
const TALK = 'ask whoever has it (message), wait, or work elsewhere; to end it is for a person to decide'

/** What reading a resource answers; where it cannot, the client is told why. */
export async function readOr<T>(uri: string, tell: Tell, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const problem = problemOf(error, tell)
    if (problem.kind === 'notFound') throw new ResourceNotFoundError(uri, sentences(problem))
    const code = problem.kind === 'badCommand' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    throw new ProtocolError(code, sentences(problem), problemJson(problem))
  }
}

/** A bug is told without its stack, which is for whoever reads stderr. */
function problemOf(error: unknown, tell: Tell): Problem {
  if (error instanceof Problem) return error
  const fault = faultOf(error)
  if (fault !== null) return fault
  tell(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  return new Problem('unexpected-error', `a bug in Holdfast: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
}

const sentences = ({ message, hint }: Problem): string => (hint === null ? plain(message) : `${plain(message)}\n${plain(hint)}`)
