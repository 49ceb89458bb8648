#!/bin/sh
# Everything the tests need, then all of them. `sh scripts/test.sh` on a fresh clone does its own set-up.
set -eu
cd "$(dirname "$0")/.."
. scripts/needs.sh

need git git 'worktrees'
need tmux tmux 'a run on a terminal'
need strace strace 'which signals are sent'
need unshare util-linux 'pid reuse and foreign namespaces'
need prlimit util-linux 'the marker'
need setpriv util-linux 'other users'
need perl perl-base 'agents that adopt orphans or hear every signal'
need python3 python3-minimal 'an agent without its first thread'
need bash bash 'completion in bash'
need zsh zsh 'completion in zsh'
need fish fish 'completion in fish'
need groff groff-base 'the man page'
need systemd-run systemd 'a scope of the user'"'"'s own systemd'
if [ -n "$hf_missing" ] && [ "${CI:-}" = true ]; then
  echo "missing:$hf_missing" >&2
  exit 1
fi
[ -d node_modules/vitest ] || npm ci --no-audit --no-fund
npm run --silent build
echo 'about 12 minutes on two quiet cores, 20 on busy ones; each file is told when it is through'
HOLDFAST_TEST_MISSING="$hf_missing" exec node_modules/.bin/vitest run --project fast --project real --project alone "$@"
