#!/bin/sh
# The main job on the embedded store, with a stand-in agent: start, a duplicate resume refused with the holder named, a takeover with
# its report, a stop with its proof. Does its own set-up; leaves nothing behind.
set -eu
cd "$(dirname "$0")/.."
[ -d node_modules/esbuild ] || npm ci --no-audit --no-fund
npm run --silent build

hf_demo=$(mktemp -d)
export HOLDFAST_HOME="$hf_demo/home"
mkdir "$hf_demo/project"
trap 'bin/holdfast stop --all >/dev/null 2>&1 || :; rm -rf "$hf_demo"' EXIT
show() {
  printf '\n$ holdfast %s\n' "$*"
  set +e
  bin/holdfast "$@" 2>&1
  hf_code=$?
  set -e
  [ "$hf_code" = 0 ] || printf '(exit %s)\n' "$hf_code"
}

cat >"$hf_demo/agent" <<'X'
#!/bin/sh
# A stand-in for a coding agent: a dev server in a session of its own, a review in the background, and a conversation.
setsid sleep 3600 &
sleep 3600 &
echo "agent $$ at work"
wait
X
chmod +x "$hf_demo/agent"

echo '# An agent starts on a session, with a dev server and a background review:'
show run --session demo --dir "$hf_demo/project" --detach -- "$hf_demo/agent"
show ls
show tree demo
echo
echo '# The same session is resumed from another terminal. Not twice:'
show resume demo --detach
echo
echo '# Unless you say so. Then the old agent and all it started are seen gone first:'
show resume demo --takeover --detach
show events demo
echo
echo '# Stop means: the whole tree was seen gone:'
show stop demo
show status demo
show ls --all
