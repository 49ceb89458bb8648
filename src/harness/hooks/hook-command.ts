import type { HookEvent } from '../../model/index.ts'

/**
 * The line of sh that a harness runs at an event. Outside a run it does nothing but for a prompt, nor when Holdfast is no longer there. Before a tool
 * nothing is forked: the script is read into the shell that the harness has started anyway.
 */
export function hookCommand(script: string, harness: string, event: HookEvent): string {
  const path = `'${script.replaceAll("'", `'\\''`)}'`
  const call = event === 'before-tool' ? `{ set -- ${harness} ${event}; . ${path}; }` : `sh ${path} ${harness} ${event}`
  // A prompt of a plain agent may be for a conversation that a live session has: the script looks.
  const guard = event === 'prompt' ? '' : `[ -z "\${HOLDFAST_FENCE-}" ] || `
  return `${guard}[ ! -r ${path} ] || ${call}`
}

/** Whoever installed it, and wherever it was then. */
export const isHookCommand = (command: string): boolean =>
  /^(\[ -z "\$\{HOLDFAST_FENCE-\}" \] \|\| )?\[ ! -r '/.test(command) && command.includes('/hook.sh')

/** A file that has only ours in it. */
export const isHookFile = (text: string): boolean => text.includes(`\${HOLDFAST_FENCE-}`) && text.includes('/hook.sh')
