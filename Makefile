# Penstock: `make demo` shows it, `make test` tests it, `make help` lists the rest. Each target installs what it needs:
# Python packages into .venv, all else that is made into .build, target and results.

PYTHON ?= python3
# rustup's folder may not be on the path of a shell that was open while it was installed.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin
# Caches of pip and matplotlib stay inside the checkout.
export XDG_CACHE_HOME := $(CURDIR)/.build/cache
export MPLCONFIGDIR := $(CURDIR)/.build/cache/matplotlib
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Each worker of the tests, and each process that they start, would compile all that it imports once more.
export PYTHONDONTWRITEBYTECODE :=
export PYTHON

BIN := .venv/bin
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml) $(wildcard python/penstock/workloads/*.cdf)
DEMO := scenarios/netfpga/eight-sources-100us.toml
BENCH_TARGET := .build/bench
CARGO_MUTANTS := .build/cargo-mutants-27.1.0
CARGO_DENY := .build/cargo-deny-0.20.2
CARGO_SEMVER := .build/cargo-semver-checks-0.51.0
# Cargo counts its own jobs.
CARGO := MAKEFLAGS= cargo
# Each is checked by itself: their files have the same names.
PAPERS_WITH_CODE := $(sort $(dir $(wildcard papers/*/*.py)))

.DELETE_ON_ERROR:
# The oldest Rust, and the crates for crates.io.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml)
PUBLISHED := penstock-schemes penstock-wire penstock-domain penstock-jobs penstock-endpoint penstock-switch penstock-sim penstock-conformance

.PHONY: testbed-packages tested quick engines capi engine-c crates publish-crates release-check semver lab lab-test wheel help demo check test verify fuzz mutate deny bench docs arena lint test-rust test-docs test-python test-unit test-testbed testbed-beside testbed-again test-cores check-build check-test check-lab check-wheel clean verify-science verify-rust \
        verify-frames verify-papers verify-tools verify-bench verify-cores portable

help:
	@echo 'make demo     build all, run the eight-source experiment, print its summary and draw its figures'
	@echo 'make check    between two edits: lint, format, types, and the unit tests in Rust and in Python; leaves out whole runs, commands,'
	@echo '              conformance, fingerprints, documentation and the cores. The tests in Python take the extension as it was built last;'
	@echo '              it is built only where there is none. A minute after a change in Python or in one crate that few use;'
	@echo '              some more after one in schemes or sim, since all crates that use them are checked again'
	@echo 'make quick    the extension in seconds after an edit of a scheme or the engine, without the last optimisations: half as fast'
	@echo 'make engines  the extension as it is in wheels, with an engine for each scheme: runs take a fifth less time, the build three times as long'
	@echo 'make test-unit   the unit tests in Python alone'
	@echo 'make test     lint, format, types, Rust and Python tests, documentation, the cores in lock step (unless nothing that'
	@echo '              they are built from has changed since they passed here)'
	@echo 'make verify   the long checks: the tests, make lab-test, make fuzz, 100 million wrong frames, property tests with many more cases,'
	@echo '              the papers with all seeds and controls, tuning with all its seeds, signals to every command, TCP beside'
	@echo '              that of ns-3 (its wheel needs g++ and python3-dev, and goes into .build/ns3), sweeps killed at random moments, sweeps on Ray clusters that'
	@echo '              lose workers and nodes (in .build/ray), how well two workers share runs, the costs of large networks and of a million flows, make wheel, make deny, the bench held to'
	@echo '              its ceilings, the cores in lock step for longer, in Icarus Verilog, proved and placed, make mutate, and the'
	@echo '              set-ups of the papers in RTL at full length, which take hours'
	@echo 'make fuzz     200 000 mutated scenarios, laid out and run with overflow checks'
	@echo 'make portable the crates without a standard library, with the oldest Rust, in a browser, and the decoder of frames in miri'
	@echo 'make deny     licences and sources of the crates that Penstock is built from'
	@echo 'make semver   what a user of the published crates would have to change since the last release, or since SINCE=COMMIT'
	@echo 'make mutate   every change of an operator or constant in the calculators, in Rust and in the cores, must fail a test'
	@echo 'make bench    instructions and time of a packet hop'
	@echo 'make docs     the documentation, into site/; make test makes a draft, where one figure stands for several, into .build/pages/site'
	@echo 'make arena    every scheme on every workload of the arenas, for reports in the documentation: 20 minutes of the processors a line rate for three seeds, and more for the tuned schemes'
	@echo 'make lab      the laboratory, a page for a browser, into python/penstock/lab/page (needs Node); then: penstock lab'
	@echo 'make lab-test its tests in Debian'"'"'s chromium: each control, and the numbers of penstock run to the last bit'
	@echo 'make wheel    wheels for Linux on x86-64 and arm64 into .build/wheels, each for every Python from 3.11 on; the one for this'
	@echo '              machine is installed into a clean environment without Rust, and tried'
	@echo 'make capi     the schemes as a library for C into .build/capi: header, static and shared library, pkg-config'
	@echo 'make engine-c the same of the simulator, for programs in C and C++, into .build/engine'
	@echo 'make testbed-packages   the Debian packages that penstock testbed needs (as root; else it says which)'
	@echo 'make lint     lint, format and type checks alone'
	@echo 'make clean    remove everything that was made'

demo: .venv/.extension
	$(BIN)/penstock run $(DEMO) --out results/demo --force

# The stamps of the others go: what measures or ships needs `.venv/.extension`.
quick: .venv/.installed
	$(CARGO) build --locked --quiet --profile quick -p penstock-python --features one-engine
	rm -f .venv/.extension .venv/.tested
	cp target/quick/lib_core.so python/penstock/_core.abi3.so

# It builds no release profile, and no extension where there is one, so that it is quick when no crate has changed that many
# others use. `make help` says what it leaves out.
check: lint test-unit
	cargo test --locked --quiet --lib --bins --features penstock-schemes/one-engine
	@echo 'make check: all passed'

# Two at a time: a compiler at its last crate, a linker and a test that waits leave a processor to others. The testbed waits most
# of its minutes, and is the third. It runs in real time: what fails there beside the others is run again with the machine to itself.
test: .venv/.dev check-test
	@$(MAKE) --no-print-directory --jobs=3 testbed-beside test-cores lint test-rust test-docs test-python
	@test -e $(TESTBED_PASSED) || $(MAKE) --no-print-directory testbed-again
	@echo 'make test: all passed'

# The types that tools/generate_types.py writes are checked by python/tests/test_types.py: the declarations are read from the
# extension, which lint does without.
lint: .venv/.dev check-test
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/python tools/check_invariants.py
	$(BIN)/python tools/pin_hashes.py --check
	$(BIN)/python tools/lesson_notebooks.py --check
	$(BIN)/python tools/front_page.py --check
	$(BIN)/python -m ruff check python tools bench papers rtl lab/tests
	$(BIN)/python -m ruff format --check python tools bench papers rtl lab/tests
	$(BIN)/python -m mypy python/penstock python/tests tools bench/peers
	$(BIN)/python -m mypy rtl/tools
	for paper in $(PAPERS_WITH_CODE); do $(BIN)/python -m mypy $$paper*.py || exit; done

# With one engine for all schemes; the engines of the wheels, one for each scheme, are held by the fingerprints in verify-science.
test-rust: check-test
	$(CARGO) test --locked --features penstock-schemes/one-engine
	$(CARGO) package --locked --offline --allow-dirty --no-verify --quiet $(PUBLISHED:%=-p %)

test-python: tested .venv/.dev
	$(BIN)/python -m pytest -q --numprocesses auto --dist loadgroup -m 'not namespaces and not science'

# With the extension that is there, of whatever sources: it is the Python code that has changed.
test-unit: .venv/.dev $(if $(wildcard python/penstock/_core.abi3.so),,tested)
	$(BIN)/python -m pytest -q --numprocesses auto --dist loadgroup -m unit

test-testbed: tested .venv/.dev
	$(BIN)/python -m pytest -q -m namespaces

# A cache of pytest's other than that of the tests that run meanwhile: it knows which failed; if none ran, all are run again.
PYTEST_TESTBED := $(BIN)/python -m pytest -q -m namespaces -o cache_dir=$(CURDIR)/.build/testbed
TESTBED_PASSED := .build/testbed/passed
testbed-beside: tested .venv/.dev
	@rm -rf $(dir $(TESTBED_PASSED))
	@if PENSTOCK_INVALID_RUNS_FAIL=1 $(PYTEST_TESTBED); then mkdir -p $(dir $(TESTBED_PASSED)) && touch $(TESTBED_PASSED); \
	else echo 'make test: those tests of the testbed that failed are run again at the end, with the machine to themselves'; fi

testbed-again:
	$(PYTEST_TESTBED) --last-failed

# They take minutes, and few changes reach them.
test-cores:
	@$(PYTHON) rtl/tools/passed.py ask || $(MAKE) -C rtl test

# Debian's packages for `penstock testbed`; the extension and the tests do without.
testbed-packages:
	@tools/check.sh testbed

# Not with --quiet: then it counts no warnings, and --strict lets a broken link pass.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file
docs: .venv/.extension .venv/.dev
	$(BIN)/python tools/generate_docs.py .build
	$(MKDOCS) .build/mkdocs.yml
	# The laboratory is part of the site where `make lab` has built it.
	if [ -f $(LAB_PAGE)/index.html ]; then cp -r $(LAB_PAGE) site/lab; fi

# That every page can be made and no link is broken. One of the figures that need hundreds of runs stands for all: readers get those of `docs`.
test-docs: tested .venv/.dev
	$(BIN)/python tools/generate_docs.py .build/pages --draft
	$(MKDOCS) .build/pages/mkdocs.yml

# A run that is there already is not repeated.
arena: .venv/.engines
	for rate in 10g 100g 400g; do $(BIN)/penstock arena $$rate --seeds 3 --tune 32 --out .build/arena/$$rate --resume || exit; done

# With overflow checks, as the release build has none.
fuzz: check-build
	cargo run --locked --profile overflow -p penstock-fuzz -- --inputs 200000

verify: test docs verify-science fuzz lab-test verify-rust verify-frames verify-papers verify-tools wheel deny portable verify-bench verify-cores mutate
	$(MAKE) -C rtl experiment

# Tests in Python with many seeds, of whole papers, of long theory.
verify-science: .venv/.engines .venv/.dev
	$(BIN)/python -m pytest -q --numprocesses auto --dist loadgroup -m science --ignore=python/tests/test_fingerprints.py
	$(BIN)/python -m pytest -q --numprocesses auto python/tests/test_fingerprints.py

verify-rust: check-test
	PROPTEST_CASES=2000 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=true cargo test --locked
	cargo test --locked -p penstock-runner --test runner threads -- --ignored
	cargo test --locked --release -p penstock-sim --features penstock-schemes/one-engine --test sim -- --ignored
	PROPTEST_CASES=10000 cargo test --locked --release -p penstock-sim --features penstock-schemes/one-engine --test sim conserve
	$(MAKE) crates

verify-frames: check-test
	WIRE_FUZZ_INPUTS=100000000 cargo test --locked --quiet --profile overflow -p penstock-wire --test wire fuzz

verify-papers: .venv/.engines
	$(BIN)/penstock reproduce --controls --out results/reproduce --force
	$(BIN)/python tools/front_page.py --check --claims results/reproduce/reproduce.json

verify-tools: .venv/.engines .venv/.dev
	$(BIN)/python tools/plan_growth.py
	$(BIN)/python tools/check_tuning.py
	$(BIN)/python tools/headroom_endurance.py
	$(BIN)/python tools/signal_trial.py
	$(BIN)/python tools/capi_floats.py
	$(BIN)/python tools/check_ns3.py
	$(BIN)/python bench/peers/check_peers.py
	$(BIN)/python tools/sweep_trial.py
	$(BIN)/python tools/check_ray.py
	.build/ray/bin/python tools/sweep_efficiency.py --ray
	$(BIN)/python tools/million_flows.py
	$(BIN)/python tools/large_networks.py

verify-bench:
	$(MAKE) bench BENCH_OPTIONS=--check

verify-cores:
	$(MAKE) -C rtl operations fourstate releases example prove report

# The state machines that the cores are held to, then the cores; .cargo/mutants.toml says what is mutated, and what no
# test can see. (3: every mutant is caught, some of them because their tests do not end.)
mutate: $(CARGO_MUTANTS)/bin/cargo-mutants check-test
	$(CARGO_MUTANTS)/bin/cargo-mutants mutants --no-shuffle --output .build || test $$? = 3
	test ! -s .build/mutants.out/missed.txt
	$(MAKE) -C rtl mutate

$(CARGO_MUTANTS)/bin/cargo-mutants: | check-build
	cargo install --locked --quiet --root $(CARGO_MUTANTS) --version 27.1.0 cargo-mutants

# Licences, doubled and banned crates, where crates come from: deny.toml. Known holes in them are asked elsewhere: their
# database is no part of a checkout.
deny: $(CARGO_DENY)/bin/cargo-deny
	$(CARGO_DENY)/bin/cargo-deny --locked --all-features check licenses bans sources
	$(CARGO_DENY)/bin/cargo-deny --manifest-path rtl/cosim/Cargo.toml --config deny.toml --locked check licenses bans sources

$(CARGO_DENY)/bin/cargo-deny: | check-build
	cargo install --locked --quiet --root $(CARGO_DENY) --version 0.20.2 cargo-deny

# The published crates since a release: a change that breaks a user asks for another version. Before the first release, say SINCE=COMMIT.
SINCE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2> /dev/null)
semver: $(CARGO_SEMVER)/bin/cargo-semver-checks
	@test -n '$(SINCE)' || { echo 'there is no release to compare with: make semver SINCE=COMMIT'; exit 2; }
	$(CARGO_SEMVER)/bin/cargo-semver-checks semver-checks --baseline-rev '$(SINCE)' $(PUBLISHED:%=--package %)

# Each published crate is packed and built alone; publish-crates uploads them, those first on which others depend.
crates: check-build
	$(CARGO) package --locked --allow-dirty --quiet $(PUBLISHED:%=-p %)

publish-crates: check-build
	$(CARGO) publish --locked $(PUBLISHED:%=-p %)

# What a release needs, as far as it can be tried without publishing: the workflows' faults, the repository's layout, the wheels' texts.
RELEASE := .build/release/bin
release-check: .build/release/.done crates
	$(RELEASE)/zizmor --offline --quiet --min-severity medium .github
	$(RELEASE)/sp-repo-review .
	ls .build/wheels/*.whl > /dev/null || $(MAKE) wheel
	$(RELEASE)/twine check --strict .build/wheels/*.whl

.build/release/.done: requirements/release.txt | check-build
	$(PYTHON) -m venv .build/release
	$(RELEASE)/python -m pip install --quiet --require-hashes -r requirements/release.txt
	touch $@

$(CARGO_SEMVER)/bin/cargo-semver-checks: | check-build
	cargo install --locked --quiet --root $(CARGO_SEMVER) --version 0.51.0 cargo-semver-checks

# Callgrind knows no instructions newer than x86-64-v2's, hence a separate build.
bench: check-build
	@tools/check.sh bench
	RUSTFLAGS='-C target-cpu=x86-64-v2' cargo build --locked --release -p penstock-bench --target-dir $(BENCH_TARGET)
	$(BENCH_TARGET)/release/penstock-bench $(BENCH_OPTIONS)

# docs/how-to/call-schemes-from-c.md
CAPI := .build/capi
capi: check-build
	$(CARGO) build --locked --quiet --release -p penstock-capi
	mkdir -p $(CAPI)/include $(CAPI)/lib/pkgconfig
	cp crates/capi/include/penstock.h $(CAPI)/include
	cp target/release/libpenstock.so target/release/libpenstock.a $(CAPI)/lib
	sed 's|@prefix@|$(abspath $(CAPI))|; s|@version@|$(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml)|' crates/capi/penstock.pc.in > $(CAPI)/lib/pkgconfig/penstock.pc

# docs/how-to/use-the-engine-from-c.md
ENGINE := .build/engine
engine-c: check-build
	$(CARGO) build --locked --quiet --release -p penstock-engine
	mkdir -p $(ENGINE)/include $(ENGINE)/lib/pkgconfig
	cp crates/engine/include/penstock_engine.h $(ENGINE)/include
	cp target/release/libpenstock_engine.so target/release/libpenstock_engine.a $(ENGINE)/lib
	sed 's|@prefix@|$(abspath $(ENGINE))|; s|@version@|$(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml)|' crates/engine/penstock_engine.pc.in > $(ENGINE)/lib/pkgconfig/penstock_engine.pc

# The page: the engine as WebAssembly, the JavaScript around it, TypeScript in one file. Nothing else needs Node.
LAB_PAGE := python/penstock/lab/page
LAB_TABLES := .build/lab/theory
LAB_DRAWN := .build/lab/thumbnails.json
LAB_WASM := target/wasm32-unknown-unknown/web/penstock_web.wasm
LAB_SOURCES := $(filter-out %.d.ts,$(wildcard lab/src/*)) lab/build.mjs lab/index.html lab/icon.svg lab/gallery.json $(wildcard lab/lessons/*.json) $(wildcard examples/foreign/*.py)

lab: $(LAB_PAGE)/index.html

$(LAB_WASM): $(RUST_SOURCES) | check-lab
	cargo build --locked --quiet --profile web --target wasm32-unknown-unknown -p penstock-web
	@touch $@

lab/generated/engine.js: $(LAB_WASM) lab/bindgen/Cargo.lock lab/bindgen/src/main.rs
	cargo run --locked --quiet --manifest-path lab/bindgen/Cargo.toml --target-dir target/bindgen -- $(LAB_WASM) lab/generated

lab/node_modules/.made: lab/package-lock.json | check-lab
	cd lab && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

# Margins, switching lines and trajectories for the page, which computes no theory.
$(LAB_TABLES)/.made: tools/lab_tables.py lab/gallery.json $(wildcard python/penstock/theory/*.py python/penstock/theory/models/*.py) | .venv/.extension
	$(BIN)/python tools/lab_tables.py $(LAB_TABLES)
	@touch $@

# Each scenario of the gallery as a small picture: half a minute of runs.
$(LAB_DRAWN): lab/thumbnails.mjs lab/src/layout.ts lab/gallery.json lab/generated/engine.js lab/node_modules/.made $(wildcard scenarios/*.toml scenarios/*/*.toml)
	mkdir -p $(@D)
	node lab/thumbnails.mjs $@

$(LAB_PAGE)/index.html: $(LAB_SOURCES) lab/generated/engine.js lab/node_modules/.made $(LAB_TABLES)/.made $(LAB_DRAWN) $(wildcard scenarios/*.toml scenarios/*/*.toml)
	cd lab && npm run --silent check && npm run --silent build -- ../$(LAB_PAGE) ../$(LAB_TABLES) ../$(LAB_DRAWN)
	@touch $@

# Where the crates run besides: without a standard library, with the oldest Rust that Cargo.toml names, in a page that gives
# them nothing; and the decoder of frames in an interpreter that sees undefined behaviour.
BARE := penstock-schemes penstock-wire penstock-domain penstock-jobs penstock-endpoint penstock-switch
portable: $(LAB_WASM)
	rustup target add thumbv7em-none-eabi
	cargo build --locked --target thumbv7em-none-eabi $(BARE:%=-p %)
	rustup toolchain install $(MSRV) --profile minimal
	cargo +$(MSRV) check --locked --workspace
	node lab/imports.mjs $(LAB_WASM)
	rustup toolchain install nightly --profile minimal --component miri --component rust-src
	MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=4 cargo +nightly miri test --locked -p penstock-wire --lib

.venv/.lab: requirements/lab.txt .venv/.dev
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/lab.txt
	@touch $@

lab-test: lab .venv/.extension .venv/.lab
	$(BIN)/python -m pytest -q lab/tests

# Wheels that need no newer C library than Rust's own 2.17, by zig's linker. Data files and the laboratory's page, where it is built,
# are inside. Those for macOS and Windows: .github/workflows/wheels.yml.
WHEELS := .build/wheels
wheel: .venv/.wheel | check-wheel
	rm -rf $(WHEELS)
	for machine in $$(tools/check.sh machines); do \
	    PATH="$(CURDIR)/$(BIN):$$PATH" MAKEFLAGS= $(BIN)/python -m maturin build --quiet --release --locked --zig \
	        --target $$machine-unknown-linux-gnu --compatibility manylinux_2_17 --out $(WHEELS) || exit; \
	done
	$(BIN)/python tools/check_wheel.py $(WHEELS)

.venv/.wheel: requirements/wheel.txt .venv/.run
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/wheel.txt
	@touch $@

check-wheel:
	@tools/check.sh wheel

check-lab:
	@tools/check.sh lab

check-build:
	@tools/check.sh

check-test:
	@tools/check.sh test

# Stamps say that a step is done. They lie in .venv, so that a build without it starts from nothing.
.venv/.made: | check-build
	$(PYTHON) -m venv .venv
	@touch $@

# Python compiles a module when it is first imported; to compile all that is installed would take half of the time.
.venv/.run: requirements/run.txt .venv/.made
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/run.txt
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.run
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/dev.txt
	@touch $@

# One engine for all schemes, which is compiled in a third of the time of one for each: decision 35. Python compiles the modules of
# a run now, and not at each run where PYTHONDONTWRITEBYTECODE is set: that costs a second.
DEVELOP := MAKEFLAGS= VIRTUAL_ENV="$(CURDIR)/.venv" PIP_QUIET=1 $(BIN)/python -m maturin develop --release --locked
.venv/.extension: $(RUST_SOURCES) pyproject.toml .venv/.run
	$(DEVELOP) --features one-engine
	@$(BIN)/python -c '$(LOADED)'
	@rm -f .venv/.engines .venv/.tested
	@touch $@

# For tests: that of `make demo` where it is of these sources. Else one of the crates that the tests in Rust are compiled with, in a
# minute more than these; `penstock-web` is named so that the same features of libraries are.
tested: .venv/.installed
	@$(MAKE) --no-print-directory --silent --question .venv/.extension || $(MAKE) --no-print-directory .venv/.tested
.venv/.tested: $(RUST_SOURCES) .venv/.installed
	$(CARGO) build --locked --quiet --lib -p penstock-python -p penstock-web --features penstock-python/one-engine
	rm -f .venv/.extension
	cp target/debug/lib_core.so python/penstock/_core.abi3.so
	@touch $@

# The package as a wheel that has the path of its code alone, and no extension, which is copied there.
.venv/.installed: pyproject.toml .venv/.run
	rm -rf .build/installed
	$(BIN)/python -m maturin pep517 write-dist-info --metadata-directory .build/installed --interpreter $(BIN)/python
	echo '$(CURDIR)/python' > .build/installed/penstock.pth
	cd .build/installed && touch "$$(echo penstock-*.dist-info)/RECORD" && $(CURDIR)/$(BIN)/python -m zipfile -c penstock-0-py3-none-any.whl *
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --force-reinstall .build/installed/penstock-0-py3-none-any.whl
	@touch $@

# An engine for each scheme, as in the wheels.
engines: .venv/.engines
.venv/.engines: .venv/.extension
	$(DEVELOP)
	@touch $@

LOADED := import penstock.cli.run, penstock.cli.report, penstock.figures, matplotlib.backends.backend_agg, matplotlib.backends.backend_svg

clean:
	rm -rf .venv .build target results site .mypy_cache .pytest_cache lab/node_modules lab/generated $(LAB_PAGE)
	$(MAKE) -C rtl clean
	find python -name '*.so' -exec rm {} +
	find . -name .ruff_cache -prune -exec rm -rf {} +
