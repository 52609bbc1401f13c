# Two commands are enough: `make run` and `make test`. Each creates .venv when it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check
EXTRAS := neural,baselines,chem,cluster,dev,docs
CORE := .venv-core
LOWEST := .venv-lowest
TEST_TOOLS := pytest pytest-xdist hypothesis
BENCH ?= $(addprefix benchmarks/,refinement.py isomorphism.py stwin.py mlp.py ntwin.py speed_page.py)
# `make test TESTS=tests/graphs` runs a part. One process is quickest while most of a first run is compiling
# kernels, which every further process would do again: measured 17 s against 25 s with two on two cores.
TESTS ?=
WORKERS ?= 0

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

.PHONY: help install environments run test test-core test-lowest lint bench compare docs
.DEFAULT_GOAL := help

help:
	@echo "make run          1-WL and the Twin-GNNs on built-in data, and a page about it (report.html)"
	@echo "make test         run the tests (TESTS=path for a part)"
	@echo "make test-core    the tests where no extra is installed, in $(CORE)"
	@echo "make test-lowest  the tests with the lowest versions that are allowed, in $(LOWEST)"
	@echo "make lint         style, types and layers"
	@echo "make docs         the site, in docs/_build/html; all its examples are run"
	@echo "make bench        the measurements in benchmarks/ (BENCH=file for one)"
	@echo "make compare      a few cases of benchmarks/ against the commit BASE, as ratios"
	@echo "make install      the environment in $(VENV) only (PYTHON=python3.12 to choose one)"

install: $(INSTALLED)

# What test-core and test-lowest need, besides.
environments: $(CORE)/.installed $(LOWEST)/.installed

run: $(INSTALLED)
	@$(BIN)/twinwl demo

test: $(INSTALLED)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(TESTS)

test-core: $(CORE)/.installed
	$(CORE)/bin/python -m pytest -q -r fE -p no:cacheprovider -n 2 --dist loadfile \
	  $(or $(TESTS),$(TESTS_OF_CORE))

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -q -r fE -p no:cacheprovider -W ignore::DeprecationWarning -n 2 --dist loadfile \
	  $(or $(TESTS),$(TESTS_OF_LOWEST))

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src tests benchmarks docs examples *.md

compare: $(INSTALLED)
	$(BIN)/python benchmarks/compare_commits.py $(or $(BASE),HEAD~1)

docs: $(INSTALLED)
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

bench: $(INSTALLED)
	@set -e; for script in $(BENCH); do echo "== $$script"; $(BIN)/python $$script; done

# The stamp makes every later call instant. torch comes first and alone, so that the constraint decides
# which build is taken before anything else asks for one.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "twinwl needs Python 3.11 or later; set PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (once)"
	@$(PIP) install -qq -c constraints.txt torch==2.13.0
	@$(PIP) install -qq -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@

# Made anew whenever what they are made from changes, so that nothing is left over in them.
$(CORE)/.installed: pyproject.toml constraints.txt
	@echo "installing into $(CORE) (once)"
	@$(PYTHON) -m venv --clear $(CORE)
	@$(CORE)/bin/python -m pip --disable-pip-version-check install -qq -c constraints.txt -e . $(TEST_TOOLS)
	@touch $@

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	@echo "installing into $(LOWEST) (once)"
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python -m pip --disable-pip-version-check install -qq -c constraints-lowest.txt torch
	@$(LOWEST)/bin/python -m pip --disable-pip-version-check install -qq -c constraints-lowest.txt \
	  -e '.[neural,baselines,chem,parquet]' pandas $(TEST_TOOLS)
	@touch $@
