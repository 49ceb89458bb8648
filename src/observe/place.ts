import { readlinkSync } from 'node:fs'
import { readIfFile, readKernel } from '../lib/index.ts'
import type { Place } from '../model/index.ts'

/** Where we are. What cannot be read is left empty, and an empty machine id never proves anything. */
export function readPlace(install: string): Place {
  return {
    install,
    machine: readId('/etc/machine-id') || readId('/var/lib/dbus/machine-id'),
    boot: (readKernel('/proc/sys/kernel/random/boot_id') ?? '').trim(),
    // Where /proc shows another pid namespace than ours, its numbers mean nothing to us.
    pidNamespace: readLink('/proc/self') === String(process.pid) ? readLink('/proc/self/ns/pid') : '',
    timeNamespace: readLink('/proc/self/ns/time'),
  }
}

const ID_BYTES = 4096
const readId = (path: string): string => (readIfFile(path, ID_BYTES, 'followed') ?? '').trim()

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
