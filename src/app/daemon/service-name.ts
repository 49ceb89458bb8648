import { join } from 'node:path'
import { sha256 } from '../../lib/index.ts'
import type { ServiceSpec } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Empty for the home that a user has without choosing anything; another one, however it was chosen, has a service of its own. */
export const homeSuffix = ({ home, defaultHome }: Pick<World, 'home' | 'defaultHome'>): string =>
  home === defaultHome() ? '' : `-${sha256(home).slice(0, 8)}`

/** What stands in a unit must be one line of text. */
export function specOf(
  { home, env, assets, own, directories }: Pick<World, 'home' | 'env' | 'assets' | 'own' | 'directories'>,
  name: string,
): ServiceSpec {
  const spec = {
    name,
    home,
    node: own.executable,
    command: directories.realPath(join(assets, 'cli.cjs')),
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
  }
  for (const [what, text] of Object.entries(spec))
    if (/[\p{Cc}\uFFFD]/u.test(text))
      throw new Problem('service-text-invalid', `a service cannot be told a ${what} with such characters: ${JSON.stringify(text)}`)
  return spec
}
