# The developer's door. Every target makes .venv on its own; after that nothing reaches the network.
# Paths are relative throughout, so that a checkout may lie under a folder with spaces.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
# --no-user: a `user = true` in somebody's pip.conf cannot work inside a virtual environment
INSTALL := $(PY) -m pip install -qq --no-user --constraint constraints.txt
# without its dependencies: AgentDojo would bring every model client, and the suites need none
AGENTDOJO := --no-deps --requirement benchmarks/agentdojo/requirements.txt
# an environment of its own: some peers bring pytest plugins, which the tests must not load
PEERS := .venv/peers
INSTALL_PEERS := $(PEERS)/bin/python -m pip install -qq --no-user --constraint constraints.txt
# a line from venv.sh becomes make's own error: one line, exit code 2
VENV = $(call stop,$(shell PYTHON='$(PYTHON)' sh scripts/venv.sh 2>&1))
stop = $(if $1,$(error $1))
# what decides whether an environment is up to date
PINS := pyproject.toml constraints.txt scripts/venv.sh

.PHONY: help demo test check lint bench compare fuzz agentdojo docs clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

demo: .venv/.runtime ## a model-written script works a small shop; you approve its refund
	@$(PY) -m examples.order_desk

# two halves side by side: most of the time a test waits for a jailed process, and the other half can use it. A shell has
# what it starts in the background ignore Ctrl-C, so tests of the command line are in the other half
HALF := tests/attacks tests/behaviour tests/benchmarks
test: lint ## everything: lint, format, types, all tests (about eight minutes)
	@log=$$(mktemp); $(PY) -m pytest -q $(HALF) >"$$log" 2>&1 & half=$$!; \
	$(PY) -m pytest -q tests $(HALF:%=--ignore=%); first=$$?; \
	wait $$half; second=$$?; cat "$$log"; rm -f "$$log"; exit $$((first + second))

check: lint ## what to run before a commit: lint, format, types, architecture
	@$(PY) -m pytest -q tests/architecture

lint: .venv/.dev ## lint, format, strict types
	@$(PY) -m ruff check --quiet --output-format concise .
	@$(PY) -m ruff format --quiet --check . || { echo "ringfence: not formatted; run: .venv/bin/ruff format ." >&2; exit 1; }
	@$(PY) -m basedpyright --level error

bench: .venv/.peers ## ratios against bare baselines and other libraries; BENCH_QUICK=1 for a short run
	@$(PEERS)/bin/python -m benchmarks.bench

compare: .venv/.dev ## this tree against an older commit, taken in turn: make compare BASE=v0.1
	@$(PY) -m benchmarks.compare $(or $(BASE),HEAD~1)

fuzz: .venv/.dev ## the random tests with their full counts (takes long)
	@RINGFENCE_FUZZ=1 $(PY) -m pytest -q -k fuzz -o faulthandler_timeout=7200

agentdojo: .venv/.agentdojo ## 56 tasks of the public AgentDojo suites through ringfence
	@$(PY) -m benchmarks.agentdojo

docs: .venv/.dev ## write the generated parts of the documentation again
	@$(PY) scripts/write_docs.py

clean: ## remove the environment and caches
	@rm -rf .venv .ruff_cache .pytest_cache .hypothesis build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.runtime: $(PINS)
	$(VENV)@:
	@echo "ringfence: installing into .venv (once, about half a minute)" >&2
	@$(INSTALL) --editable .
	@touch $@

.venv/.peers: $(PINS) benchmarks/peers/requirements.txt
	$(VENV)@:
	@echo "ringfence: installing into $(PEERS) (once, about a minute)" >&2
	@$(PY) -m venv --clear $(PEERS)
	@$(INSTALL_PEERS) --editable .
	@if $(INSTALL_PEERS) --requirement benchmarks/peers/requirements.txt; then touch $@; \
	else echo "ringfence: some libraries to compare with cannot be installed here; their rows are left out" >&2; fi

.venv/.agentdojo: .venv/.runtime benchmarks/agentdojo/requirements.txt
	@$(INSTALL) $(AGENTDOJO)
	@touch $@

.venv/.dev: $(PINS) benchmarks/agentdojo/requirements.txt
	$(VENV)@:
	@echo "ringfence: installing into .venv (once, about half a minute)" >&2
	@$(INSTALL) --editable '.[dev]'
	@$(INSTALL) $(AGENTDOJO)
	@touch .venv/.runtime .venv/.agentdojo $@
