import { installService, serviceStatus, uninstallService, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { installedText, removedText, serviceJson, serviceText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed } from '../options.ts'
import { paintFor, print, printJson } from '../out.ts'

const FORCE = flag('force', 'replace or remove a unit that was edited, or that is not ours')

export const service: Command = {
  name: 'service',
  group: 'maintenance',
  rare: true,
  summary: 'have systemd start the daemon at every login',
  arguments: [],
  options: [],
  subs: [
    { name: 'install', summary: 'install and start the service, or bring it up to date', arguments: [], options: [FORCE], run: installVerb },
    { name: 'uninstall', summary: "end the service's daemon and remove the unit", arguments: [], options: [FORCE], run: uninstallVerb },
    { name: 'status', summary: 'tell whether it is installed, enabled and active', arguments: [], options: [], run: statusVerb },
  ],
  more: () => ({
    description: [
      'The daemon becomes a systemd user unit: it begins when you log in, and is started again when it fails.',
      'Sessions outlive it, since only the daemon itself ends with the unit.',
      'A daemon that was started by hand is stopped first.',
      'Without a systemd of the user nothing is written, and daemon start works without one.',
    ],
    examples: [
      ['service install', 'The daemon runs from now on, and after every login.'],
      ['service status', 'The status tells which daemon holds the home and what does not fit together.'],
    ],
    exits: {
      done: 'the service is as asked',
      badCommand: 'wrong words, or a unit that was edited or is not ours',
      unavailable: 'systemd does not answer, the daemon did not start, or status found a contradiction',
      unproven: 'whether a daemon holds this home cannot be told',
    },
  }),
}

async function installVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'service install')
  const installed = await installService(world, parsed.flags.has('force'))
  if (parsed.flags.has('json')) printJson(installed)
  else print(installedText(installed))
  return exitCode.done
}

async function uninstallVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'service uninstall')
  const removed = await uninstallService(world, parsed.flags.has('force'))
  if (parsed.flags.has('json')) printJson(removed)
  else print(removedText(removed))
  return exitCode.done
}

async function statusVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'service status')
  const status = await serviceStatus(world)
  if (parsed.flags.has('json')) printJson(serviceJson(status))
  else print(serviceText(status, paintFor(1)))
  return status.disagreement !== null || (status.unreachable !== null && status.file !== 'absent') ? exitCode.unavailable : exitCode.done
}
