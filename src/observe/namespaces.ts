import { readdirSync, readlinkSync } from 'node:fs'
import { readKernelFile } from '../lib/index.ts'

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

/** One pid means that it lives in the initial namespace. */
function isInitial(pid: string): boolean {
  const pids = pidsOf(pid)
  return pids === 'vanished' || pids?.length === 1
}

/** Everybody may read by which pids somebody is known, the outermost first; null: it cannot be told. */
function pidsOf(pid: string): number[] | 'vanished' | null {
  try {
    const pids = /^NSpid:\s*(\d[\d\s]*)$/m.exec(readKernelFile(`/proc/${pid}/status`).toString('latin1'))?.[1]
    return pids === undefined ? null : pids.trim().split(/\s+/).map(Number)
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '') ? 'vanished' : null
  }
}

/** By our pids, those who have this pid in another namespace; null: not everybody can be asked. Only meaningful from the initial one. */
export function namesakesOf(pid: number): number[] | null {
  if (isHiding()) return null
  const all = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(pidsOf)
    .filter((pids) => pids !== 'vanished')
  const told = all.filter((pids) => pids !== null)
  if (told.length < all.length) return null
  return told.flatMap(([outer, ...inner]) => (outer !== undefined && inner.includes(pid) ? [outer] : []))
}

/** With hidepid, /proc leaves others out without a word. Being root need not help: it may be root of a user namespace only. */
export const isHiding = (): boolean =>
  readKernelFile('/proc/self/mountinfo')
    .toString('utf8')
    .split('\n')
    .some((line) => / - proc /.test(line) && /\bhidepid=(?!0|off)/.test(line))
