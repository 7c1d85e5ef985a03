# Every target sets up what it needs, says what it does, and starts in seconds the second time.
# Needed on the machine: Python >= 3.11 (with venv), make, a package index known to pip.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo test lint types contracts generated lab docs bench mutations browser lock clean

VENV := $(or $(FORETIDE_VENV),.venv)
BIN := $(VENV)/bin
# numpy on many small arrays: threads of the linear algebra only get in each other's way
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
ARGS ?=

help: ## this list
	@echo "make TARGET [ARGS='more arguments for the tool']"
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: ## three days of a tide in about a minute: no cluster, no Prometheus; writes demo-report/
	@tools/venv.sh run
	@echo "demo: foretide demo --out demo-report $(ARGS)"
	@$(BIN)/foretide demo --out demo-report $(ARGS)

test: ## unit, property and contract tests (the lab's only where its programs are built)
	@tools/venv.sh test
	@tools/test.sh $(ARGS)

lint: ## ruff, yamllint, shellcheck, hadolint, pinned requirements against pyproject
	@tools/venv.sh lint
	@PATH="$(abspath $(BIN)):$$PATH" tools/lint.sh

types: ## mypy, strict
	@tools/venv.sh lint
	@echo "types: mypy"
	@$(BIN)/mypy $(ARGS)

contracts: ## who may import whom (import-linter)
	@tools/venv.sh lint
	@echo "contracts: lint-imports"
	@$(BIN)/lint-imports --no-logo $(ARGS)

generated: ## write the generated files again; with ARGS=--check only compare
	@tools/venv.sh run
	@$(BIN)/python -m tools.generate $(ARGS)

mutations: ## each guard's condition removed in turn: a named test must fail each time
	@tools/venv.sh test
	@echo "mutations: tests/mutations"
	@$(BIN)/python -m pytest -q -m mutation tests/mutations $(ARGS)

browser: ## the reports in a real Chromium
	@tools/venv.sh browser
	@$(BIN)/python -m pytest -q -m browser $(ARGS)

lab: ## build and start a real Kubernetes control plane and Prometheus on loopback, until Ctrl-C
	@tools/venv.sh test
	@$(BIN)/python -m tests.lab $(ARGS)

docs: ## write the generated reference again and run every code block of README and docs
	@tools/venv.sh test
	@$(BIN)/python -m tools.generate
	@$(BIN)/python -m pytest -q tests/docs $(ARGS)

bench: ## what commands, a decision and a fleet cost (benchmarks/README.md)
	@tools/venv.sh test
	@$(BIN)/python -m benchmarks.command_line
	@$(BIN)/python -m benchmarks.decide
	@$(BIN)/python -m benchmarks.controller $(ARGS)

lock: ## resolve pyproject.toml again and pin everything in requirements/
	@tools/venv.sh lock
	@UV="$(BIN)/uv" PYTHON="$(BIN)/python" tools/lock.sh

clean: ## remove the virtual environment, caches and reports of this checkout
	rm -rf $(VENV) demo-report .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
