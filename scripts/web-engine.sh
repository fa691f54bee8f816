#!/usr/bin/env bash
# Builds the engine of the page: web-engine.sh DIRECTORY. web-engine.sh --check only reports whether this machine can build
# it without new system packages, and what is missing.
#
# It takes a Rust compiler with one of these, in this order:
# - the sources of the standard library (rust-src): the engine is smaller;
# - the standard library for wasm32-unknown-unknown, which rustup adds;
# - Debian's compiler for the web, rustc-web, with its sources.
set -euo pipefail

TARGET=wasm32-unknown-unknown

sysroot() { "$1" --print sysroot 2>/dev/null; }
has_sources() { [ -d "$(sysroot "$1")/lib/rustlib/src/rust/library" ]; }
has_target() { compgen -G "$(sysroot "$1")/lib/rustlib/$TARGET/lib/libstd-*.rlib" >/dev/null; }
host() { "$1" -vV | sed -n 's/^host: //p'; }
may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# rustup's compiler brings its linker, others use LLVM's.
linker() {
    local own
    own=$(sysroot "$1")/lib/rustlib/$(host "$1")/bin/rust-lld
    if [ -x "$own" ]; then echo "$own"; else { compgen -c wasm-ld || true; } | sort -V | tail -n 1; fi
}

# Whether a compiler can build the standard library, which takes unstable options.
SMALL="-Zunstable-options -Cpanic=immediate-abort"
builds_std() {
    # shellcheck disable=SC2086 # two words
    has_sources "$1" && [ -n "$(linker "$1")" ] && RUSTC_BOOTSTRAP=1 "$1" $SMALL --print sysroot >/dev/null 2>&1
}

missing() {
    cat >&2 <<TEXT
the page of the studio needs Rust's standard library for $TARGET and a linker, which this compiler lacks. Install them:
  rustup       rustup target add $TARGET
  Debian       apt-get install rustc-web cargo-web rust-web-src lld
  Fedora       dnf install rust-std-static-$TARGET lld
  Arch Linux   pacman -S rust-wasm lld
  Alpine       apk add rust-wasm lld
TEXT
    exit 1
}

if [ "$1" = --check ]; then
    builds_std rustc || has_target rustc || command -v rustup >/dev/null || missing
    exit
fi

rustc=rustc
if ! builds_std rustc && ! has_target rustc && command -v rustup >/dev/null; then
    echo "rustup target add $TARGET: the page needs Rust's standard library for browsers"
    rustup target add $TARGET || true
fi
if ! builds_std rustc && ! has_target rustc; then
    rustc=/usr/bin/rustc
    if ! builds_std $rustc; then
        may_install || missing
        apt-get update -qq
        # The newest lld can read the objects of the newest compiler.
        packages=(rustc-web cargo-web rust-web-src "$(apt-cache pkgnames lld- | sort -V | tail -n 1)")
        echo "apt-get install -y ${packages[*]}: the page needs Rust's standard library for browsers"
        apt-get install -y -qq "${packages[@]}" >/dev/null
    fi
fi
rustc=$(command -v $rustc)

echo "building the engine of the page: some minutes the first time"
options=(--locked --profile web -p lightlag-web --crate-type cdylib --target $TARGET)
features="-Ctarget-feature=+bulk-memory,+simd128"
linker=$(linker "$rustc")
run=(env -u CARGO RUSTC="$rustc" CARGO_TARGET_DIR="$1")
[ -z "$linker" ] || run+=(CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker")
if builds_std "$rustc"; then
    exec "${run[@]}" RUSTC_BOOTSTRAP=1 RUSTFLAGS="$features $SMALL" \
        "$(dirname "$rustc")/cargo" rustc "${options[@]}" \
        -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size
fi
# The square root by an instruction is an unstable feature of libm.
exec "${run[@]}" RUSTC_BOOTSTRAP=1 RUSTFLAGS="$features" "$(dirname "$rustc")/cargo" rustc "${options[@]}"
