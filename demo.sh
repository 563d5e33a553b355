#!/usr/bin/env bash
# Builds oncecheck on a fresh Debian 12 and checks every scenario that comes with it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/.ci/setup.sh"

need_packages build
stage "building build/release/oncecheck"
configure release
build release --target oncecheck
stage "build/release/oncecheck check scenarios/"
exec build/release/oncecheck check scenarios/
