# Sourced by demo.sh and test.sh: installs missing packages, configures and builds.
# Not run by itself. Set ONCECHECK_SKIP_SETUP=1 to leave packages alone.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# apt-get runs programs from the sbin folders; a bare environment may lack them.
export PATH="${PATH:-/usr/bin:/bin}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

# Relative paths in the cache: another clone of the same sources finds them again.
export CCACHE_BASEDIR="$root"

# Without a home to write to, ccache would fail the build.
if command -v ccache >/dev/null && ! mkdir -p "$(ccache -k cache_dir)/tmp" 2>/dev/null; then
  export CCACHE_DISABLE=1
fi

jobs=$(nproc 2>/dev/null || echo 2)
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$jobs}"

# stage TEXT: a heading, with the seconds since the start.
stage() { printf '\n== %s (at %ss)\n' "$*" "$SECONDS"; }

die() {
  printf 'oncecheck: %s\n' "$*" >&2
  exit 2
}

# listed_packages USE...: the packages of these uses.
listed_packages() {
  local use package wanted
  while read -r use package; do
    for wanted in "$@"; do
      if [[ $use == "$wanted" ]]; then printf '%s\n' "$package"; fi
    done
  done <"$root/.ci/packages"
}

is_installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# need_packages USE...: installs what is missing. Asks for nothing, and touches no network when all is there.
need_packages() {
  if [[ ${ONCECHECK_SKIP_SETUP:-} == 1 ]]; then return; fi
  local wanted missing=() package
  wanted=$(listed_packages "$@")
  if ! command -v dpkg-query >/dev/null; then
    printf 'Not a Debian system. oncecheck needs what these packages hold: %s\n' "${wanted//$'\n'/ }"
    return
  fi
  for package in $wanted; do
    if ! is_installed "$package"; then missing+=("$package"); fi
  done
  if [[ ${#missing[@]} == 0 ]]; then return; fi

  stage "installing ${missing[*]}"
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    die "these packages are missing, and there is no sudo; as root run: apt-get install ${missing[*]}"
  fi
  local apt=(apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  as_root "${apt[@]}" update </dev/null || die "apt-get update failed; missing packages: ${missing[*]}"
  as_root "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null ||
    die "apt-get install failed; missing packages: ${missing[*]}"
}

# configure PRESET [cmake arguments]; quiet unless it fails.
configure() {
  local preset=$1 log
  shift
  log=$(cmake --preset "$preset" "$@" 2>&1 </dev/null) || {
    printf '%s\n' "$log"
    die "cmake --preset $preset failed"
  }
}

# build PRESET [cmake --build arguments]
build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" "$@" </dev/null
}
