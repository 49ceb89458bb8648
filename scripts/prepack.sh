#!/bin/sh
# Builds what `npm pack` and `npm publish` put into the package, on a fresh clone too. Standard output belongs to npm: its last line is the name of the file.
set -eu
cd "$(dirname "$0")/.."
# A dry run of npm still lists what is really there.
export npm_config_dry_run=false
[ -d node_modules/esbuild ] || npm ci --no-audit --no-fund >&2
rm -rf dist
npm run --silent build >&2
