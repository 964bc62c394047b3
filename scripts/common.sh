# Shared by the scripts, which source it: the path of the checkout, and its setup.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${KASEN_BUILD:-$top/build}
cd "$top"

say() { printf '%s\n' "$*" >&2; }

# No `| grep -q` here: it leaves at its first match, and what wrote into the pipe fails then.
installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == 'install ok installed' ]]; }
can_be_had() {
  local told
  told=$(apt-cache policy "$1" 2>/dev/null)
  [[ $told == *'Candidate: '* && $told != *'Candidate: (none)'* ]]
}

# A line of scripts/packages.txt may name several packages: the first one that can be had.
missing_packages() {
  local line name chosen
  sed '/^#/d' scripts/packages.txt | while read -r line; do
    chosen=
    for name in ${line//|/ }; do
      installed "$name" && continue 2
      if [[ -z $chosen ]] && can_be_had "$name"; then chosen=$name; fi
    done
    printf '%s\n' "${chosen:-${line%% *}}"
  done
}

install_packages() {
  local missing run=()
  if ! command -v dpkg-query >/dev/null; then
    say "Packages of this system are not installed here; docs/install.md has their names. Building with what is there."
    return 0
  fi
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  if (($(id -u) != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      run=(sudo)
    else
      say "These Debian packages are missing; install them as root and run this again:"
      say "  apt-get install ${missing[*]}"
      exit 69
    fi
  fi
  say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${run[@]}" apt-get update -qq >&2
  mapfile -t missing < <(missing_packages)  # by the lists that are there now
  DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# Several files as one unit compile sooner, but a compiler cache works better with each file by itself.
unity() { command -v ccache >/dev/null && [[ -z ${CCACHE_DISABLE:-} ]] && echo off || echo on; }

# Runs a command whose output is worth reading only if it fails.
quietly() { "$@" >"$top/.setup.log" 2>&1 || { cat "$top/.setup.log" >&2; exit 70; }; }

configure() {
  [[ -f $build/build.ninja ]] || quietly meson setup "$build" "-Dunity=$(unity)" "$@"
}

compile() {
  quietly ninja -C "$build" build.ninja  # configures again where meson.build files have changed
  [[ $(ninja -C "$build" -n "$@" | tail -n 1) == *'no work to do'* ]] && return 0
  say "Building in ${build#"$top/"}: minutes, the first time"
  if [[ -t 2 ]]; then
    ninja -C "$build" "$@" >&2  # with its own line of progress
  else
    ninja -C "$build" --quiet "$@" >&2
  fi
}

# Real data for the tests, if it lies beside the checkout.
find_data() {
  if [[ -z ${KASEN_DATA:-} && -d $top/../shared/data ]]; then
    KASEN_DATA=$(cd "$top/../shared/data" && pwd)
    export KASEN_DATA
  fi
}
