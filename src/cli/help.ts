export const HELP = `holdfast: exactly one live owner on every coding-agent session, and nothing left behind when it ends

start and end
  run [options] AGENT [ARGS…]   start a session: claude, codex, gemini, opencode, qwen, copilot… in that agent's own words
  run [options] -- COMMAND…     the same with any command, as it stands
      --session S  --name N  --dir D  --worktree[=BRANCH]  --detach  --tmux  --until harness|tree  --timeout DURATION  --independent
      --prompt-file F  without a terminal, with the prompt in F (- for stdin)     --budget TOKENS  end it when it has burned so much
      beside others in its directory: --share (with a session) | --allow-unmanaged (with an agent that is none)
      when it has a live owner: --takeover | --attach | --wait DURATION; --force also overrides what cannot be proven
  resume S [options] [-- ARGS…] go on with a session, by any id it ever had, in its directory; --last, or no S for a list
  restart S                     stop it and start it anew
  attach S                      join a session in its tmux pane (run --tmux; C-b d leaves), or follow a detached one
  send S TEXT|- [--force]       type one block into its pane, then Enter; says whether it was taken
  stop S… | --all [--grace D]   end the whole tree, and prove it
  wait S [--timeout D]          wait for the end, give its exit code
  adopt PID [--session S]       take an agent in that runs already, with its tree
  task start [--name N] [--on-retire cancel|adopt] -- COMMAND…     a background run of the session around you; task ls

see
  ls [--all] [--watch]          sessions          status S            everything about one
  ls --unmanaged                agents that Holdfast did not start (ls --all shows them too)
  tree S [--suspects]           its processes     events [S] [-f]     what happened
  logs S [-f] [-n N]            its output        locks               directories in use, by whom, and the proof

directories
  lock D [--reason R] [--pid P] [--ttl DURATION]     hold it by hand: as long as your shell, that process, or the time
  lock --check D                0 free, 75 held, 76 cannot be told       unlock D [--force]

together
  whoami                        which session you are in, and what proves it
  siblings [--session S] [--here]     who else is alive: what it does, where, on which branch, with which locks and ports
  report [--result] TEXT        what you are about to do, or what came of it, for your siblings to see
  message S|--all|--here TEXT   to a session that lives       inbox [--wait [--timeout D]] [--peek]   what was sent to you
  rebind --session S --to ID    its true id is another one: everything moves there, the old one still finds it
  mcp                           all of this for an agent, over stdio

tend
  doctor [--fix]                what is so here, what is wrong, what to do
  reconcile                     converge now      prune [--dry-run]   remove what the dead left
  hooks install|uninstall HARNESS…     have an agent CLI report its session, and ask before each tool call; hooks ls
  service install|uninstall|status     the daemon as a service of yours: at every login, and again when it fails
  resolve S --gone              testify that what cannot be proven gone is gone
  daemon start|stop|status      have all of this happen without being asked; daemon run: in the foreground. Nothing needs it
  stop --suspect PID…           end who only looks related       version, help

everywhere: --json (for programs), --home DIR · DURATION: 30s, 5m, 1h30m · options in full: docs/commands.md
exit codes: 0 done · 64 usage · 66 no such session · 69 store or daemon unavailable · 70 bug · 75 held by a live owner ·
            76 cannot be proven dead · 79 survivors remain · a foreground run gives the agent's own code`
