import type { ServiceInstalled, ServiceRemoved, ServiceStatus } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'

export const installedText = ({ name, path, did, replaced, pid, notes }: ServiceInstalled): string[] => [
  `${name} ${did === 'nothing' ? 'was installed already' : `was ${did}`}: ${plain(path)}`,
  ...(replaced === null ? [] : [`the daemon that was started by hand (pid ${replaced}) was stopped, and the service's took its place`]),
  ...(pid === null ? [] : [`the daemon runs (pid ${pid}), and will at every login`]),
  ...notes.map(plain),
]

export const removedText = ({ name, path, did, notes }: ServiceRemoved): string[] => [
  did === 'nothing' ? `${name} was not installed` : `${name} was stopped and removed (${plain(path)}); all sessions go on`,
  ...notes.map(plain),
]

export function serviceText(status: ServiceStatus, paint: Paint): string[] {
  const { name, path, file, unit, unreachable, disagreement } = status
  const state = unit === null ? `cannot be asked: ${plain(unreachable ?? '')}` : `${unit.enabled ? 'enabled' : 'not enabled'}, ${plain(unit.state)}`
  const lines = [
    `${paint.bold(name)}: ${file === 'absent' ? 'not installed' : 'installed'} (${state})`,
    ...(file === 'absent' ? [] : [`  ${plain(path)}${fileNote(status)}`]),
    `  ${runsText(status)}`,
  ]
  return disagreement === null ? lines : [...lines, `  ${paint.yellow(plain(disagreement))}`]
}

function fileNote({ file, current, name }: ServiceStatus): string {
  if (file === 'edited') return ' (edited since Holdfast wrote it)'
  if (file === 'foreign') return ' (not written by Holdfast)'
  return current ? '' : ` (of another Holdfast, or for another Node: holdfast service install brings ${name} up to date)`
}

function runsText({ runs, daemon }: ServiceStatus): string {
  const pid = pidOf(daemon)
  const who = pid === null ? '' : `the daemon runs (pid ${pid})`
  if (runs === 'service') return `${who}, started by the service`
  if (runs === 'by-hand') return `${who}, started by hand`
  return runs === 'nothing'
    ? 'no daemon runs'
    : who === ''
      ? 'whether a daemon runs cannot be told'
      : `${who}; whether the service started it cannot be told`
}

export const serviceJson = ({ daemon, unit, ...status }: ServiceStatus): Record<string, unknown> => ({
  manager: 'systemd',
  name: status.name,
  path: status.path,
  installed: status.file !== 'absent',
  file: status.file,
  current: status.current,
  enabled: unit?.enabled ?? null,
  active: unit?.active ?? null,
  state: unit?.state ?? null,
  servicePid: unit?.pid ?? null,
  trouble: unit?.trouble ?? null,
  unreachable: status.unreachable,
  runs: status.runs,
  pid: pidOf(daemon),
  startedBy: typeof daemon === 'object' && daemon !== null ? daemon.startedBy : null,
  disagreement: status.disagreement,
})

function pidOf(daemon: ServiceStatus['daemon']): number | null {
  if (daemon === null || typeof daemon === 'string') return null
  const { pid } = daemon.process
  return pid
}
