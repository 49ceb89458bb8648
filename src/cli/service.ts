import { installService, serviceStatus, uninstallService, type World } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { installedText, removedText, serviceJson, serviceText } from '../show/index.ts'
import type { Parsed } from './options.ts'
import { paintFor, print, printJson } from './out.ts'

/** `service install|uninstall|status`: the daemon as a service of this user. */
export async function serviceVerb(world: World, { words, flags }: Parsed): Promise<number> {
  const [what, ...more] = words
  const force = flags.has('force')
  const json = flags.has('json')
  if (more.length > 0 || !['install', 'uninstall', 'status'].includes(what ?? ''))
    throw new Problem('verb-unknown', 'service takes install, uninstall or status')
  if (what === 'install') {
    const installed = await installService(world, force)
    if (json) printJson(installed)
    else print(installedText(installed))
    return exitCode.done
  }
  if (what === 'uninstall') {
    const removed = await uninstallService(world, force)
    if (json) printJson(removed)
    else print(removedText(removed))
    return exitCode.done
  }
  if (force) throw new Problem('option-misplaced', '--force is for install and uninstall')
  const status = await serviceStatus(world)
  if (json) printJson(serviceJson(status))
  else print(serviceText(status, paintFor(1)))
  return status.disagreement !== null || (status.unreachable !== null && status.file !== 'absent') ? exitCode.unavailable : exitCode.done
}
