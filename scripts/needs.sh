# What the tests need beyond npm. Installed where that is allowed (root, apt), otherwise named; with CI=true a missing one is a failure.
# Sourced. `need PROGRAM PACKAGE WHY`.
hf_missing=''
need() {
  command -v "$1" >/dev/null 2>&1 && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing $2 ($3)"
    { apt-get install -y --no-install-recommends "$2" || { apt-get update && apt-get install -y --no-install-recommends "$2"; }; } >/dev/null 2>&1
    command -v "$1" >/dev/null 2>&1 && return 0
  fi
  hf_missing="$hf_missing $1"
  echo "SKIP: there is no $1 here (package $2), so $3 cannot be tested" >&2
}
