#!/usr/bin/env bash
# Builds everything with warnings as errors and runs every test.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/.ci/setup.sh"

usage() {
  cat <<'TEXT'
usage: ./test.sh [--sanitizers] [--clang]

  --sanitizers  also run the tests with the address and undefined behaviour sanitizers (all but those labelled slow)
                and those of parallel code with the thread sanitizer
  --clang       also build with clang++

Single tests: ctest --preset ci -R NAME
TEXT
}

sanitizers=0
clang=0
for argument in "$@"; do
  case $argument in
    --sanitizers) sanitizers=1 ;;
    --clang) clang=1 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && die "unknown option $argument" ;;
  esac
done

# Runs a test preset. The thread sanitizer of GCC 12 stops on kernels that spread addresses widely: there, ask for fixed ones.
run_tests() {
  local fixed=()
  if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
  "${fixed[@]}" ctest --preset "$1" -j "$jobs" "${@:2}" </dev/null
}

uses=(build test)
if [[ $clang == 1 ]]; then uses+=(clang); fi
need_packages "${uses[@]}"

stage "release: build"
configure ci
build ci

if [[ $clang == 1 ]]; then
  stage "clang: build"
  configure clang -DONCECHECK_WERROR=ON
  build clang --target oncecheck

  # The same check and the same seed give the same bytes, whichever compiler built the tool and however many threads run.
  stage "g++ against clang++: the same bytes"
  for preset in ci clang; do
    "build/$preset/oncecheck" check scenarios/ --threads 1 --quiet --json "build/$preset/check.json" --no-times >/dev/null
    "build/$preset/oncecheck" simulate scenarios/ --runs 200 --seed 3 --quiet --json "build/$preset/simulate.json" --no-times >/dev/null
  done
  build/ci/oncecheck check scenarios/ --threads 4 --quiet --json build/ci/check4.json --no-times >/dev/null
  cmp build/ci/check.json build/clang/check.json
  cmp build/ci/check.json build/ci/check4.json
  cmp build/ci/simulate.json build/clang/simulate.json
fi

if [[ $sanitizers == 1 ]]; then
  stage "address and undefined behaviour sanitizers"
  configure asan -DONCECHECK_WERROR=ON
  build asan --target oncecheck_tests
  run_tests asan -LE '^slow$'

  stage "thread sanitizer"
  configure tsan -DONCECHECK_WERROR=ON -DONCECHECK_ONLY_TESTS=determinism_test
  build tsan --target oncecheck_tests
  run_tests tsan -R determinism
fi

# Last, so that its summary closes the output.
stage "release: all tests"
run_tests ci
