import { flag, type Option, value } from '../options.ts'

/** How a run shall be started: shared by run, resume and restart. */
export const CHOICES: readonly Option[] = [
  value('dir', 'DIR', 'directory', 'work in this directory, which is held as long as anything of the run lives'),
  flag('detach', 'run in the background, with a log and without a terminal or stdin', 'd'),
  flag('tmux', "run in a pane of Holdfast's own tmux server, where people can join it"),
  flag('takeover', 'end a live owner with all it started, see it gone, and replace it'),
  flag('attach', 'join a live owner in its pane, or follow its log'),
  value('wait', 'DURATION', 'text', 'wait so long for a live owner to end'),
  flag('force', 'like --takeover; also replace an owner that cannot be proven dead, in your name'),
  flag('share', 'work beside the session that holds the directory; both show it'),
  flag('allow-unmanaged', 'work beside agents that Holdfast did not start; the record names them'),
  value('until', 'WHEN', ['harness', 'tree'], 'end with the agent (harness, the default), or with its last process (tree)'),
  flag('independent', 'do not end with the session that this run is started in'),
  value('timeout', 'DURATION', 'text', 'end the run after this time; needs no daemon'),
  value('budget', 'LIMIT', 'text', 'end the run when its agent has used so many tokens (200k, 1.5M) or US dollars ($2, $0.50)'),
  value('prompt', 'TEXT', 'text', 'run the agent without a terminal on this prompt'),
  value('prompt-file', 'FILE', 'file', 'the same with the prompt in a file; - reads stdin'),
  value('grace', 'DURATION', 'text', 'time between TERM and KILL when a takeover ends the old owner (10s)'),
]
