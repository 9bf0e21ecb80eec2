# `make demo` and `make test` are the two commands; each sets up what it needs first (scripts/setup.sh) and nothing a second time.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# The tools of .venv come first, in every recipe but the set-up's own.
TOOLS := export PATH="$(CURDIR)/.venv/bin:$$PATH";
CXX_SOURCES = $(shell git ls-files '*.cpp' '*.h')

.PHONY: build setup-test demo test lint units sanitized-units sanitized-python format tidy fuzz test-exhaustive test-tf-versions test-aarch64 bench soak clean

build:  ## natif in .venv, built from the tree (incremental)
	@scripts/setup.sh demo

setup-test:
	@scripts/setup.sh test

demo: build  ## eager against native on 1,797 handwritten digits
	@.venv/bin/python examples/digits/run.py

test: setup-test  ## linters, C++ units (plain and under sanitizers), Python tests
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory units
	@$(MAKE) --no-print-directory sanitized-units
	@$(MAKE) --no-print-directory sanitized-python
	@.venv/bin/python -m pytest

lint: setup-test
	@$(TOOLS) ruff check
	@$(TOOLS) ruff format --check
	@$(TOOLS) mypy python scripts
	@$(TOOLS) clang-format --dry-run --Werror $(CXX_SOURCES)

units: setup-test  ## the C++ unit tests, and every header compiled alone
	@$(TOOLS) cmake --preset dev >/dev/null && cmake --build --preset dev --target natif_tests
	@$(TOOLS) ctest --preset dev --parallel

sanitized-units: setup-test  ## the same under the address and undefined-behaviour sanitizers; the runtime's under the thread sanitizer
	@$(TOOLS) cmake --preset asan-ubsan >/dev/null && cmake --build --preset asan-ubsan
	@$(TOOLS) ctest --preset asan-ubsan --parallel
	@$(TOOLS) cmake --preset tsan >/dev/null && cmake --build --preset tsan
	@$(TOOLS) ctest --preset tsan

sanitized-python: setup-test  ## the runtime in Python under the same (SANITIZED="-q tests/situations tests/test_lanes.py": emitted code too)
	@$(TOOLS) cmake --preset asan-ubsan >/dev/null && cmake --build --preset asan-ubsan --target _runtime
	@.venv/bin/python scripts/sanitized_python.py $(SANITIZED)

format: setup-test  ## rewrite all sources in the project's format
	@$(TOOLS) ruff check --fix --quiet; ruff format --quiet; clang-format -i $(CXX_SOURCES)

tidy: units  ## clang-tidy over the C++ sources (slow)
	@$(TOOLS) clang-tidy -p build/dev --quiet $(filter %.cpp,$(CXX_SOURCES))

fuzz: setup-test  ## random programs against eager: every lane, then under tapes, graphs, devices, …; ten minutes each (FUZZ="--minutes 60 --seed 7")
	@.venv/bin/python tests/fuzz/run.py $(FUZZ)
	@.venv/bin/python tests/situations/fuzz_situations.py $(FUZZ)

test-exhaustive: setup-test  ## numerics="fast" on each of the 2³² floats, at each vector level that the processor has (minutes)
	@$(TOOLS) cmake --preset dev >/dev/null && cmake --build --preset dev --target test-exhaustive

test-tf-versions: setup-test  ## the wheel with every TensorFlow that natif knows; writes ci/platform-contract.json (TF="2.16 2.20")
	@.venv/bin/python scripts/tf_versions.py $(TF)

test-aarch64: setup-test  ## emitted code and the kernels' tests, cross-compiled for AArch64 and run under an emulator
	@.venv/bin/python scripts/aarch64.py

bench:  ## every workload against every contender, in an environment of its own (BENCH="--quick", "--only score", "--readme", …)
	@scripts/setup.sh bench
	@.venv/bin/python bench/environment.py $(BENCH)

soak: build  ## many calls, and a process that must not grow (SOAK="--calls 10000000")
	@.venv/bin/python scripts/soak.py $(SOAK)

clean:  ## all that the build made, .venv included
	rm -rf build dist .venv .mypy_cache .pytest_cache .ruff_cache
