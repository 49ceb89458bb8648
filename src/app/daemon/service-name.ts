import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceSpec } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { homePath } from '../world/home.ts'
import type { World } from '../world/world.ts'

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Empty for the home that a user has without choosing anything; another one, however it was chosen, has a service of its own. */
export const homeSuffix = ({ home }: Pick<World, 'home'>): string => (home === realOf(homePath(undefined, {})) ? '' : `-${digest(home).slice(0, 8)}`)

/** What stands in a unit must be one line of text. */
export function specOf({ home, env, assets }: Pick<World, 'home' | 'env' | 'assets'>, name: string): ServiceSpec {
  const spec = { name, home, node: process.execPath, command: realOf(join(assets, 'cli.cjs')), path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' }
  for (const [what, text] of Object.entries(spec))
    if (/[\p{Cc}\uFFFD]/u.test(text))
      throw new Problem('service-text-invalid', `a service cannot be told a ${what} with such characters: ${JSON.stringify(text)}`)
  return spec
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
