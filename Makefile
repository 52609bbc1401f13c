# Two commands are enough: `make run` and `make test`. Each creates .venv when it is not there, and adds to it what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := .venv-core
LOWEST := .venv-lowest
OTHER_PYTHONS := 3.12 3.13
# A Python of pyenv, where there is one, else that of the PATH.
python_of = $(firstword $(wildcard $(HOME)/.pyenv/versions/$(1).*/bin/python) $(shell command -v python$(1)))
TEST_TOOLS := pytest pytest-xdist hypothesis
# Byte code is written when a module is first imported: most of what torch and its like bring is never imported.
PIP_INSTALL := -m pip --disable-pip-version-check install -qq --no-compile
BENCH ?= $(addprefix benchmarks/,refinement.py isomorphism.py stwin.py mlp.py ntwin.py speed_page.py)
# `make test TESTS=tests/graphs` runs a part, WORKERS=0 in one process.
TESTS ?=
WORKERS ?= 2
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal
# What CONTRIBUTING.md says about markers. Tests with generated examples come twice: with few examples, then with many.
QUICK := -m "not slow and not exhaustive" --hypothesis-profile=few
REST := -m "slow or exhaustive or hypothesis" --durations=10

# Real data where a shared folder lies beside the project; whoever sets TWINWL_DATA decides otherwise.
ifeq ($(origin TWINWL_DATA),undefined)
ifneq ($(wildcard ../shared/data/.),)
export TWINWL_DATA := $(abspath ../shared/data)
endif
endif

# Without extras: all tests but those of layers that no extra comes near.
TESTS_OF_CORE := $(filter-out $(addprefix tests/,compilation isomorphism refinement),\
  $(patsubst %/,%,$(wildcard tests/*/)) $(wildcard tests/test_*.py)) src
# With the lowest versions: what reaches into other packages. The rest is about twinwl's own arithmetic.
TESTS_OF_LOWEST := $(addprefix tests/,graphs datasets/catalogue datasets/formats estimators files cli report \
  stwin/test_classifier.py baselines/test_kernels.py baselines/test_gnn_rows.py evaluation/test_evaluate.py)

# With other Pythons: those of core with RDKit and Parquet, and what is promised to be the same everywhere.
TESTS_OF_OTHER_PYTHONS := $(TESTS_OF_CORE) tests/refinement tests/isomorphism/test_hashing.py

.PHONY: help install environments run test test-all test-rest test-core test-lowest lint bench compare docs
.DEFAULT_GOAL := help

help:
	@echo "make run          a model trained and explained beside 1-WL, on built-in data, and a page (report.html)"
	@echo "make test         the tests, but for slow and exhaustive ones (TESTS=path for a part)"
	@echo "make test-all     all tests, and the ten slowest; test-rest: those that make test leaves out"
	@echo "make test-core    the tests where no extra is installed, in $(CORE)"
	@echo "make test-lowest  the tests with the lowest versions that are allowed, in $(LOWEST)"
	@echo "make test-3.12    the tests of core with another Python, in .venv-3.12; likewise test-3.13"
	@echo "make lint         style, types and layers"
	@echo "make docs         the site, in docs/_build/html; all its examples are run"
	@echo "make bench        the measurements in benchmarks/ (BENCH=file for one)"
	@echo "make compare      a few cases of benchmarks/ against the commit BASE, as ratios"
	@echo "make install      the whole environment in $(VENV) only (PYTHON=python3.12 to choose one)"

install: $(VENV)/.installed-all

# What test-core, test-lowest and the tests with other Pythons that are here need, besides.
environments: $(CORE)/.installed $(LOWEST)/.installed \
  $(foreach version,$(OTHER_PYTHONS),$(if $(call python_of,$(version)),.venv-$(version)/.installed))

run: $(VENV)/.installed-run
	@$(BIN)/twinwl demo

test: $(VENV)/.installed-test
	$(PYTEST) $(QUICK) $(TESTS)

test-all: $(VENV)/.installed-test
	$(PYTEST) --durations=10 $(TESTS)

test-rest: $(VENV)/.installed-test
	$(PYTEST) $(REST) $(TESTS)

test-core: $(CORE)/.installed
	$(CORE)/bin/python -m pytest -q -r fE -p no:cacheprovider -n 2 --dist worksteal $(QUICK) \
	  $(or $(TESTS),$(TESTS_OF_CORE))

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -q -r fE -p no:cacheprovider -W ignore::DeprecationWarning -n 2 --dist worksteal \
	  $(QUICK) $(or $(TESTS),$(TESTS_OF_LOWEST))

$(addprefix test-,$(OTHER_PYTHONS)): test-%: .venv-%/.installed
	.venv-$*/bin/python -m pytest -q -r fE -p no:cacheprovider -n 2 --dist worksteal $(QUICK) \
	  $(or $(TESTS),$(TESTS_OF_OTHER_PYTHONS))

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check-size
	$(BIN)/codespell src tests benchmarks docs examples *.md

compare: $(VENV)/.installed-lint
	$(BIN)/python benchmarks/compare_commits.py $(or $(BASE),HEAD~1)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

bench: $(VENV)/.installed-test
	@set -e; for script in $(BENCH); do echo "== $$script"; $(BIN)/python $$script; done

# A stamp makes every later call instant. The constraint decides which build of torch is taken.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "twinwl needs Python 3.11 or later; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-run: EXTRAS := neural
$(VENV)/.installed-test: EXTRAS := neural,baselines,chem,cluster,test
$(VENV)/.installed-lint: EXTRAS := neural,baselines,chem,cluster,test,dev
$(VENV)/.installed-docs: EXTRAS := neural,chem,docs
$(VENV)/.installed-all: EXTRAS := neural,baselines,chem,cluster,test,dev,docs
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing what make $* needs into $(VENV) (once)"
	@$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@ $(if $(filter %-all,$@),$(addprefix $(VENV)/.installed-,run test lint docs))

# These are made anew whenever what they are made from changes, so that nothing is left over in them.
$(CORE)/.installed: pyproject.toml constraints.txt
	@echo "installing into $(CORE) (once)"
	@$(PYTHON) -m venv --clear $(CORE)
	@$(CORE)/bin/python $(PIP_INSTALL) -c constraints.txt -e . $(TEST_TOOLS)
	@touch $@

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	@echo "installing into $(LOWEST) (once)"
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python $(PIP_INSTALL) -c constraints-lowest.txt torch
	@$(LOWEST)/bin/python $(PIP_INSTALL) -c constraints-lowest.txt \
	  -e '.[neural,baselines,chem,parquet]' pandas $(TEST_TOOLS)
	@touch $@

.venv-%/.installed: pyproject.toml constraints.txt
	@echo "installing into .venv-$* (once)"
	@$(or $(call python_of,$*),python$*) -m venv --clear .venv-$*
	@.venv-$*/bin/python $(PIP_INSTALL) -c constraints.txt -e '.[chem,parquet]' pandas $(TEST_TOOLS)
	@touch $@
