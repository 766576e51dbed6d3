#!/bin/sh
# Checks that the machine has the programs that build Penstock, and says (or, where it may, does) what mends a lack.
#
#   tools/check.sh           for the build: Rust, Python with venv, a C compiler
#   tools/check.sh test      for the tests, too: rustfmt, clippy; tshark and the programs of the testbed, without which some
#                            tests are skipped
#   tools/check.sh testbed   and the programs that the testbed starts
#   tools/check.sh cores     for the tests of the cores, too: Icarus Verilog
#   tools/check.sh lab       for the laboratory and its tests, too: Rust for WebAssembly, Node with npm, chromium
#   tools/check.sh bench     for the bench, too: valgrind
#   tools/check.sh wheel     and Rust's library for the machines that wheels are built for
#   tools/check.sh machines  prints the machines whose library is there, and checks nothing
#
# Debian packages are installed if this runs as root, otherwise the command is printed. Nothing is installed that is there.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
lacks=0

# The machines that wheels for Linux are built for, by Rust's names.
machines="x86_64 aarch64"
has_library() {
    ls "$(rustc --print sysroot)/lib/rustlib/$1" >/dev/null 2>&1
}
if [ "${1:-build}" = machines ]; then
    for machine in $machines; do
        if has_library "$machine-unknown-linux-gnu"; then echo "$machine"; fi
    done
    exit 0
fi

# lack WHAT COMMAND: says what is missing and the one command that mends it.
lack() {
    lacks=1
    printf 'penstock: %s.\n  mend it with:  %s\n' "$1" "$2" >&2
}

# need_package PACKAGE WHAT TEST...: installs a Debian package if TEST fails and we may.
need_package() {
    package=$1 what=$2
    shift 2
    if "$@" >/dev/null 2>&1; then return; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        printf 'penstock: %s; installing %s\n' "$what" "$package" >&2
        if { apt-get install -y --no-install-recommends "$package" ||
             { apt-get update && apt-get install -y --no-install-recommends "$package"; }; } >&2 && "$@" >/dev/null 2>&1; then
            return
        fi
    fi
    lack "$what" "sudo apt-get install $package"
}

# want_package PACKAGE WHAT TEST...: as need_package, but without it tests are skipped, which is no lack.
want_package() {
    package=$1 what=$2
    shift 2
    if "$@" >/dev/null 2>&1; then return; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        printf 'penstock: %s; installing %s\n' "$what" "$package" >&2
        if { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" ||
             { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package"; }
           } >&2 && "$@" >/dev/null 2>&1; then
            return
        fi
    fi
    printf 'penstock: %s, and its tests are skipped.\n  mend it with:  sudo apt-get install %s\n' "$what" "$package" >&2
}

compiles() {
    folder=$(mktemp -d)
    printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' >"$folder/t.c"
    cc -o "$folder/t" "$folder/t.c"
    status=$?
    rm -rf "$folder"
    return $status
}

# The oldest Rust that builds Penstock stands in Cargo.toml and nowhere else.
msrv=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null; then
    lack "cargo is not there (Rust $msrv or later is needed; Debian 12's own is older)" \
        "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
elif found=$(cargo --version | cut -d' ' -f2 | cut -d- -f1) &&
     [ "$(printf '%s\n%s\n' "$msrv" "$found" | sort -V | head -n1)" != "$msrv" ]; then
    lack "cargo is $found, $msrv or later is needed" "rustup update stable && rustup default stable"
elif [ "${1:-build}" = test ] || [ "${1:-build}" = cores ]; then
    for component in fmt clippy; do
        if cargo "$component" --version >/dev/null 2>&1; then continue; fi
        package=$component
        if [ "$component" = fmt ]; then package=rustfmt; fi
        printf 'penstock: installing the Rust component %s\n' "$package" >&2
        rustup component add "$package" >&2 || lack "$package is not there" "rustup component add $package"
    done
fi

need_package python3 "$python is not there" command -v "$python"
if command -v "$python" >/dev/null; then
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        need_package python3-venv "$python cannot make virtual environments" "$python" -c 'import ensurepip, venv'
    else
        lack "$python is older than 3.11" "make PYTHON=python3.11 ${MAKECMDGOALS:-demo}"
    fi
fi
need_package build-essential "there is no working C compiler (cc)" compiles
if [ "${1:-build}" = test ]; then
    want_package tshark "tshark is not there" command -v tshark
fi
if [ "${1:-build}" = test ] || [ "${1:-build}" = testbed ]; then
    want_package iproute2 "ip is not there" command -v ip
    want_package iperf3 "iperf3 is not there" command -v iperf3
    want_package ethtool "ethtool is not there" command -v ethtool
    want_package iputils-ping "ping is not there" command -v ping
fi
if [ "${1:-build}" = bench ]; then
    need_package valgrind "valgrind is not there" command -v valgrind
fi
if [ "${1:-build}" = wheel ]; then
    for machine in $machines; do
        target=$machine-unknown-linux-gnu
        if has_library "$target"; then continue; fi
        printf 'penstock: installing Rust for %s\n' "$target" >&2
        if ! command -v rustup >/dev/null || ! rustup target add "$target" >&2; then
            printf 'penstock: there is no Rust for %s, and no wheel.\n  mend it with:  rustup target add %s\n' "$target" "$target" >&2
        fi
    done
fi
if [ "${1:-build}" = lab ]; then
    if ! has_library wasm32-unknown-unknown; then
        printf 'penstock: installing Rust for wasm32-unknown-unknown\n' >&2
        if command -v rustup >/dev/null; then
            rustup target add wasm32-unknown-unknown >&2 ||
                lack "Rust for WebAssembly is not there" "rustup target add wasm32-unknown-unknown"
        else
            lack "Rust for WebAssembly is not there, and without rustup it cannot be installed" \
                "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
        fi
    fi
    need_package nodejs "Node is not there" command -v node
    need_package npm "npm is not there" command -v npm
    want_package chromium "chromium is not there" command -v chromium
fi
if [ "${1:-build}" = cores ]; then
    need_package iverilog "Icarus Verilog (iverilog) is not there" command -v iverilog
fi
exit $lacks
