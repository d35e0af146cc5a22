#!/bin/sh
# Installs the program for the user who runs this, from a release, after it has compared the archive's checksum:
#
#   curl -fsSL https://github.com/earshot-ai/earshot/releases/latest/download/install.sh | sh
#
#   EARSHOT_VERSION=0.1.0        a version other than the newest
#   EARSHOT_BIN=/usr/local/bin   where to (default: ~/.local/bin)
#   EARSHOT_RELEASES=URL         a mirror, in place of …/earshot/releases
set -eu

main() {
  releases=${EARSHOT_RELEASES:-https://github.com/earshot-ai/earshot/releases}
  bin=${EARSHOT_BIN:-$HOME/.local/bin}
  at=$releases/latest/download
  [ -z "${EARSHOT_VERSION:-}" ] || at=$releases/download/v${EARSHOT_VERSION#v}
  system=$(system) # alone, so that a failure ends the script
  machine=$(machine)
  file=earshot_${system}_$machine.tar.gz

  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  fetch "$at/$file" "$scratch/$file"
  fetch "$at/checksums.txt" "$scratch/checksums.txt"
  want=$(awk -v file="$file" '$2 == file { print $1 }' "$scratch/checksums.txt")
  [ -n "$want" ] || fail "checksums.txt does not name $file"
  [ "$(sum "$scratch/$file")" = "$want" ] || fail "the checksum of $file is not that of checksums.txt: nothing was installed"

  tar -xzf "$scratch/$file" -C "$scratch" earshot
  mkdir -p "$bin"
  install -m 0755 "$scratch/earshot" "$bin/.earshot.new"
  mv -f "$bin/.earshot.new" "$bin/earshot" # at once, also where the old one runs
  "$bin/earshot" version
  case ":$PATH:" in
    *":$bin:"*) echo "next: earshot demo" ;;
    *) echo "next: $bin/earshot demo, or put $bin on your PATH" ;;
  esac
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

system() {
  case $(uname -s) in
    Linux) echo linux ;;
    Darwin) echo darwin ;;
    *) fail "there is no archive for $(uname -s) here; on Windows use the zip or scoop" ;;
  esac
}

machine() {
  case $(uname -m) in
    x86_64 | amd64) echo amd64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) fail "there is no archive for $(uname -m)" ;;
  esac
}

fetch() {
  if command -v curl >/dev/null; then
    curl -fsSL -o "$2" "$1" || fail "cannot fetch $1"
  else
    wget -qO "$2" "$1" || fail "cannot fetch $1"
  fi
}

sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

main # at the end, so that half a script does nothing
