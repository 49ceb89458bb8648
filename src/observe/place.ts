import { readFileSync, readlinkSync } from 'node:fs'
import type { Place } from '../model/index.ts'

/** Where we are. What cannot be read is left empty, and an empty machine id never proves anything. */
export function readPlace(install: string): Place {
  return {
    install,
    machine: readLine('/etc/machine-id') || readLine('/var/lib/dbus/machine-id'),
    boot: readLine('/proc/sys/kernel/random/boot_id'),
    // Where /proc shows another pid namespace than ours, its numbers mean nothing to us.
    pidNamespace: readLink('/proc/self') === String(process.pid) ? readLink('/proc/self/ns/pid') : '',
    timeNamespace: readLink('/proc/self/ns/time'),
  }
}

function readLine(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return ''
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
