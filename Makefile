# A bare machine needs Python 3.11 or later (with venv), make, and the package registries.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.requirements-run-stamp
STAMP := $(VENV)/.requirements-stamp
BENCH := .venv-bench
BENCH_STAMP := $(BENCH)/.requirements-stamp

.PHONY: setup-run setup bench-setup system demo test lint nightly bench-extraction clean

# What running needs; pip gets setuptools and wheel to unpack the demo's source archives.
setup-run: $(RUN_STAMP)

$(RUN_STAMP): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "Python 3.11 or later is needed: name one, as make demo PYTHON=python3.12")'
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet -r requirements.txt -c requirements-dev.txt \
	  setuptools wheel
	touch $@

# What development and tests need on top.
setup: $(STAMP)

$(STAMP): $(RUN_STAMP) requirements-dev.txt requirements-onnx.txt
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt -r requirements-onnx.txt
	touch $@

# What the benchmarks need, in a virtual environment of their own: `.venv-bench/bin/python -m
# benchmarks.change` and the like.
bench-setup: $(BENCH_STAMP)

$(BENCH_STAMP): requirements-bench.txt requirements-onnx.txt requirements.txt
	$(BENCH)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet -r requirements-bench.txt -r requirements-onnx.txt \
	  -c requirements-dev.txt
	$(BENCH)/bin/python -m pip install --quiet --no-deps readability-lxml==0.9
	touch $@

# nginx and Chromium for the tests that need them, and what Playwright's driver links to; only root
# can install. Without what they recommend: printers, a notification daemon and the like.
system:
	@export PATH="$$PATH:/usr/sbin:/sbin"; missing=(); \
	for tool in nginx chromium; do command -v $$tool >/dev/null || missing+=($$tool); done; \
	ldconfig -p | grep -q 'libatomic\.so\.1' || missing+=(libatomic1); \
	if (( $${#missing[@]} == 0 )); then exit 0; fi; \
	if (( $$(id -u) != 0 )); then \
	  echo "not installed: $${missing[*]}; tests that need them are skipped and counted"; \
	  exit 0; fi; \
	apt-get update --quiet; \
	DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends \
	  "$${missing[@]}"

# Two releases of a real documentation on loopback, with the real model; a minute or two.
# PORT=8000 names the port of its web server; else it takes one that is free.
demo: setup-run
	$(BIN)/python -m demo $(if $(PORT),--port $(PORT))

# All tests but the nightly ones; PYTEST_ADDOPTS="-k demo" and the like choose among them.
# Two at a time, each file in one process: it may start a server or build on an earlier test.
# In their order, which tests/conftest.py sets: the longest file must not come last.
test: setup system
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict

nightly: setup system
	$(BIN)/python -m pytest -m nightly --numprocesses 2 --dist loadfile --no-loadscope-reorder \
	  --no-header -v --durations=10 2>&1 | tee docs/nightly.log

# Builds the pages at its first run (some minutes); writes docs/benchmarks/extraction.md.
bench-extraction: bench-setup
	$(BENCH)/bin/python -m benchmarks.extraction --unseen

clean:
	rm -rf build dist *.egg-info .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)*/*' -prune -exec rm -rf {} +
