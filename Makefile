# Two commands do everything on a fresh machine with Python 3.11, its venv module and make:
#   make demo    trains, builds and runs the digits example
#   make test    lint, strict types and a selection of the tests, in ten minutes on two cores
# `make test-all` runs every test, which takes an hour: docs/testing.md says what is left out otherwise.
# `make test-gpu` runs what is about GPUs, on a Vulkan device (Mesa's lavapipe will do) and through NVIDIA's assembler.
# All first create .venv, install the project into it and compile its modules to bytecode (again when pyproject.toml, the CMake files or the
# list of modules change). Nothing is written outside the checkout: caches and temporary files go to .cache.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
PYTEST_ARGS ?=
SELECTION ?=
JOBS ?= 2
REPORT_ARGS ?=

ENVIRONMENT := .venv
INSTALLED := $(ENVIRONMENT)/.installed
GPU_TOOLS := $(ENVIRONMENT)/.gpu-check
MPI := $(ENVIRONMENT)/.mpi
TYPED := .cache/typed
PACKAGE := frontend dialects passes runtime cli
MODULES := .cache/modules
PY := $(ENVIRONMENT)/bin/python

export TMPDIR := $(CURDIR)/.cache/tmp
export XDG_CACHE_HOME := $(CURDIR)/.cache
export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Modules are compiled once, also where the environment asks for nothing to be written: tests start processes.
export PYTHONDONTWRITEBYTECODE :=
# The environment's own commands (adze, iree-run-module, ruff, ...) come first.
export PATH := $(CURDIR)/$(ENVIRONMENT)/bin:$(PATH)

.PHONY: help install demo test test-all test-gpu lint format typecheck unit gpu-report bench bench-quick clean FORCE

help:
	@echo "make demo | test | test-all | test-gpu | gpu-report | lint | format | typecheck | unit | bench | bench-quick | clean"

# Debian splits venv: without python3-venv, an environment without pip is filled by the system's pip.
$(PY):
	@mkdir -p "$(TMPDIR)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: $(PYTHON) is not Python 3.11 or newer; try: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -m venv $(ENVIRONMENT) \
	  || { $(PYTHON) -m venv --clear --without-pip $(ENVIRONMENT) \
	       && $(PYTHON) -m pip --python $(PY) install --quiet pip; } \
	  || { rm -rf $(ENVIRONMENT); \
	       echo "error: cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }

# An editable install maps each module to its file, so it is made again when files come, go or move.
# Modules of other packages are compiled to bytecode when they are first imported: most never are.
$(MODULES): FORCE
	@mkdir -p $(@D)
	@find $(PACKAGE) -name '*.py' | sort | cmp --silent - $@ \
	  || find $(PACKAGE) -name '*.py' | sort > $@

$(INSTALLED): pyproject.toml CMakeLists.txt $(wildcard cmake/*) $(MODULES) | $(PY)
	@mkdir -p "$(TMPDIR)"
	$(PY) -m pip install --quiet --no-compile --editable '.[test]'
	$(PY) -m compileall -q -j 2 $(PACKAGE)
	@touch $@

install: $(INSTALLED)

demo: $(INSTALLED)
	@mkdir -p "$(TMPDIR)"
	@$(PY) examples/digits/demo.py

# MPI comes with test-all alone: `make test` exchanges arrays between threads, by the same code but the engine's.
$(MPI): $(INSTALLED)
	$(PY) -m pip install --quiet --no-compile --editable '.[test,mpi]'
	@touch $@

test-all: $(MPI)

# Types are checked beside the tests: mypy uses one core while the first tests are collected.
test test-all: lint
	@$(MAKE) --no-print-directory --jobs=2 typecheck unit SELECTION=$(if $(filter test-all,$@),--all)

lint: $(INSTALLED)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

format: $(INSTALLED)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# A plain copy of the package as the wheel lays it out; CMake's data files do not matter here.
typecheck: $(INSTALLED)
	@mkdir -p "$(TMPDIR)"
	@rm -rf $(TYPED)
	@$(PY) -m pip install --quiet --no-compile --no-deps --no-build-isolation --config-settings=wheel.cmake=false \
	  --target $(TYPED) .
	$(PY) -m mypy

unit: $(INSTALLED)
	@mkdir -p "$(TMPDIR)"
	$(PY) -m pytest -n $(JOBS) --dist worksteal $(SELECTION) $(PYTEST_ARGS)

# ptxas and spirv-val go into the environment; a driver for Vulkan is the system's, and is only asked for.
$(GPU_TOOLS): $(INSTALLED)
	$(PY) -m pip install --quiet --no-compile --editable '.[test,gpu-check]'
	@touch $@

test-gpu: $(GPU_TOOLS)
	@mkdir -p "$(TMPDIR)"
	@$(PY) -m tests.gpu.drivers
	$(PY) -m pytest -n $(JOBS) --dist worksteal --all -m "vulkan or gpu" $(PYTEST_ARGS)

# What a GPU does, as a page to send: `make gpu-report REPORT_ARGS="--device vulkan:0"`.
gpu-report: $(GPU_TOOLS)
	@mkdir -p "$(TMPDIR)"
	$(PY) -m tests.gpu.report $(REPORT_ARGS)

# NPBENCH=folder adds NPBench's kernels; BENCH_ARGS are those of benchmarks/run.py.
bench: $(INSTALLED)
	@mkdir -p "$(TMPDIR)"
	$(PY) benchmarks/run.py $(if $(NPBENCH),--npbench "$(NPBENCH)") $(BENCH_ARGS)
	$(PY) benchmarks/call_overhead.py
	$(PY) benchmarks/compile_overhead.py

bench-quick: $(INSTALLED)
	@mkdir -p "$(TMPDIR)"
	$(PY) benchmarks/run.py --quick --seconds 0.3 $(BENCH_ARGS)

clean:
	rm -rf .venv .cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
