import type { OwnProcess } from '../model/index.ts'
import { ignoredSignals, terminalName, unreadVariables } from './caller.ts'
import { isHelper } from './processes.ts'

export const ownProcess: OwnProcess = {
  pid: process.pid,
  executable: process.execPath,
  platform: process.platform,
  parent: () => process.ppid,
  uid: () => process.geteuid?.() ?? 0,
  umask: () => process.umask(),
  verb: () => process.argv[2] ?? '',
  workingDirectory: () => process.cwd(),
  terminal: terminalName,
  parentIgnores: () => ignoredSignals(process.ppid),
  unreadVariables,
  isHelper: () => isHelper(),
}
