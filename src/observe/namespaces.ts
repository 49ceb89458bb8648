import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The same number on every Linux: the one that sees all processes. */
export const INITIAL_PID_NAMESPACE = 'pid:[4026531836]'

/** Whether nobody lives in that pid namespace. What cannot be read is taken to live there. Only meaningful from the initial one. */
export function isNamespaceGone(namespace: string): boolean {
  if (namespace === '' || isHiding()) return false
  return readdirSync('/proc').every((entry) => !/^\d+$/.test(entry) || isElsewhere(entry, namespace))
}

function isElsewhere(pid: string, namespace: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) !== namespace
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    return code === 'ENOENT' || code === 'ESRCH' || isInitial(pid)
  }
}

/** Everybody may read by how many pids somebody is known: one means that it lives in the initial namespace. */
function isInitial(pid: string): boolean {
  try {
    const pids = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? ''
    return /^\d+$/.test(pids.trim())
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** With hidepid, /proc leaves others out without a word. Being root need not help: it may be root of a user namespace only. */
export const isHiding = (): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => / - proc /.test(line) && /\bhidepid=(?!0|off)/.test(line))
