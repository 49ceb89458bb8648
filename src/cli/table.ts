import type { Command } from './command.ts'
import { adopt } from './commands/adopt.ts'
import { attach } from './commands/attach.ts'
import { complete } from './commands/complete.ts'
import { completion } from './commands/completion.ts'
import { daemon } from './commands/daemon.ts'
import { discard } from './commands/discard.ts'
import { doctor } from './commands/doctor.ts'
import { events } from './commands/events.ts'
import { feedback } from './commands/feedback.ts'
import { help } from './commands/help.ts'
import { hooks } from './commands/hooks.ts'
import { inbox } from './commands/inbox.ts'
import { keeperCommands } from './commands/keeper.ts'
import { lock } from './commands/lock.ts'
import { locks } from './commands/locks.ts'
import { logs } from './commands/logs.ts'
import { ls } from './commands/ls.ts'
import { mcp } from './commands/mcp.ts'
import { merge } from './commands/merge.ts'
import { message } from './commands/message.ts'
import { prune } from './commands/prune.ts'
import { rebind } from './commands/rebind.ts'
import { reconcile } from './commands/reconcile.ts'
import { rename } from './commands/rename.ts'
import { report } from './commands/report.ts'
import { resolve } from './commands/resolve.ts'
import { restart } from './commands/restart.ts'
import { resume } from './commands/resume.ts'
import { rm } from './commands/rm.ts'
import { run } from './commands/run.ts'
import { send } from './commands/send.ts'
import { service } from './commands/service.ts'
import { shellInit } from './commands/shell-init.ts'
import { siblings } from './commands/siblings.ts'
import { source } from './commands/source.ts'
import { status } from './commands/status.ts'
import { stop } from './commands/stop.ts'
import { task } from './commands/task.ts'
import { tree } from './commands/tree.ts'
import { uninstall } from './commands/uninstall.ts'
import { unlock } from './commands/unlock.ts'
import { version } from './commands/version.ts'
import { wait } from './commands/wait.ts'
import { whoami } from './commands/whoami.ts'
import { work } from './commands/work.ts'
import { worker } from './commands/worker.ts'

/** Every verb, in the order in which lists show it. */
export const TABLE: readonly Command[] = [
  run,
  resume,
  restart,
  attach,
  send,
  stop,
  wait,
  merge,
  discard,
  adopt,
  task,
  ls,
  status,
  tree,
  events,
  logs,
  lock,
  unlock,
  locks,
  whoami,
  siblings,
  report,
  message,
  inbox,
  rebind,
  mcp,
  work,
  feedback,
  worker,
  doctor,
  reconcile,
  prune,
  rm,
  rename,
  resolve,
  hooks,
  daemon,
  service,
  source,
  completion,
  shellInit,
  uninstall,
  help,
  version,
  ...keeperCommands,
  complete,
]
