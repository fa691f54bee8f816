#!/usr/bin/env bash
# Builds the engine of the page into the directory $1. It takes a Rust compiler with the sources of its standard library:
# the one on the path after `rustup component add rust-src`, or the compiler of Debian's rustc-web.
set -euo pipefail

sources() { [ -d "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]; }

# The newest lld that Debian has can read the objects of its newest compiler.
install() {
    { [ "$(id -u)" = 0 ] && command -v apt-get; } >/dev/null ||
        { echo "the sources of Rust's standard library are missing: rustup component add rust-src" >&2; exit 1; }
    apt-get update -qq
    apt-get install -y -qq rustc-web cargo-web rust-web-src "$(apt-cache pkgnames lld- | sort -V | tail -n 1)" >/dev/null
}

if ! sources rustc && command -v rustup >/dev/null; then
    rustup component add rust-src >&2 || true
fi
if sources rustc; then
    bin=$(dirname "$(command -v rustc)")
else
    sources /usr/bin/rustc || install
    bin=/usr/bin
fi
rustc=$bin/rustc
host=$("$rustc" -vV | sed -n 's/^host: //p')
# rustup's compiler brings its linker.
linker=$("$rustc" --print sysroot)/lib/rustlib/$host/bin/rust-lld
[ -x "$linker" ] || linker=$(compgen -c wasm-ld | sort -V | tail -n 1)

echo "building the engine of the page: some minutes the first time"
exec env -u CARGO RUSTC="$rustc" RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" CARGO_TARGET_DIR="$1" \
    RUSTFLAGS="-Ctarget-feature=+bulk-memory,+simd128 -Zunstable-options -Cpanic=immediate-abort" \
    "$bin/cargo" rustc --quiet --locked --profile web -p lightlag-web --crate-type cdylib --target wasm32-unknown-unknown \
    -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size
