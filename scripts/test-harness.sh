#!/bin/sh
# Holdfast against the real agent CLIs, offline: installs those that are named (default: six), then runs the tests. What is no name of one goes to vitest.
set -eu
cd "$(dirname "$0")/.."
agents=''
for word in "$@"; do
  case $word in
    claude|codex|code|gemini|opencode|qwen) agents="$agents $word"; shift ;;
    *) break ;;
  esac
done
[ -d node_modules/vitest ] || npm ci --no-audit --no-fund
npm run --silent build
# shellcheck disable=SC2086 # names, one word each
HOLDFAST_AGENTS_FOUND=$(node scripts/agents.mjs $agents) || { echo 'the agent CLIs could not be installed: see above' >&2; exit 1; }
export HOLDFAST_AGENTS_FOUND
# What was seen is written into docs/reference/agents.md.
exec node_modules/.bin/vitest run --project harness --reporter=default --reporter=./test/agents/reporter.ts "$@"
