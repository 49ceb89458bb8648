import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'

/** What the kernel takes as the path of a socket, with its closing zero. Node cuts a longer one off without a word. */
const SOCKET_PATH_BYTES = 107

/** A path by which a socket in the folder can be bound or reached, however long the folder's own is. */
export function reach(folder: string, name: string): { readonly path: string; close(): void } {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return { path, close: () => {} }
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) }
}
