import type { Harness } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** The first executable of an agent that is on PATH, by name and path; null: it is not installed. */
export function installedAgent(
  { directories, env }: Pick<World, 'directories' | 'env'>,
  { commands, owns }: Harness,
): { readonly command: string; readonly path: string } | null {
  for (const command of commands) {
    const path = directories.program(command, '/', env['PATH'])
    if (path !== null && owns?.(path) !== false) return { command, path }
  }
  return null
}
