# Every target bootstraps .venv from a bare python3; nothing else is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: help demo test test-slow test-all coverage fuzz test-oldest test-newest test-pandas lint format evidence docs dist lock dev audit clean

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

# One stamp file per set of extras. Modules are compiled when they are imported: most never are.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) install --no-compile -e .
	@touch $@

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(PIP) install --no-compile -e '.[$*]'
	@touch $@

demo: $(VENV)/.all   ## select features on embedded data; prints what was found and writes reports
	$(BIN)/featsieve demo --force

PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses=4 --dist loadfile

test: $(VENV)/.test   ## the tests of every commit, doctests included (under five minutes)
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/.test   ## kills, browsers, real Dask clusters, long property tests, estimator checks
	$(PYTEST) -m slow

test-all: $(VENV)/.test   ## both in one run: what a file makes for its tests is made once
	$(PYTEST)

coverage: $(VENV)/.test   ## all tests with coverage: prints the lines that no test reaches
	$(PYTEST) --cov

fuzz: $(VENV)/.test   ## more than 10,000 tables of every kind for every estimator (half an hour)
	$(BIN)/python benchmarks/fuzz.py --output benchmarks/results/fuzz.md

# Both ends of the supported versions, each in an environment of its own. Test tools are the newest.
OLDEST := .venv-oldest
NEWEST := .venv-newest
PANDAS := .venv-pandas
# With the oldest and the newest Python that docs/policy.md names, as far as they are installed.
PYENV  := $(HOME)/.pyenv/versions
first_python = $(shell for p in $(1) $(PYTHON); do $$p -c '' 2>/dev/null && echo $$p && break; done)
OLDEST_PYTHON ?= $(call first_python,python3.11 $(PYENV)/3.11.*/bin/python)
NEWEST_PYTHON ?= $(call first_python,python3.13 $(PYENV)/3.13.*/bin/python python3.12)
# The authors' numbers, solvers and terms against other code paths, scikit-learn's checks, array
# libraries, tables and models in files. `make test-oldest CROSSCHECK=` runs everything.
CROSSCHECK ?= tests/solvers tests/terms tests/graphs tests/evaluation tests/arrays \
	tests/jasfs/test_paper.py tests/selectors/test_every_selector.py \
	tests/test_ecosystem.py tests/test_array_libraries.py tests/test_sparse_tables.py \
	tests/test_tables.py tests/anndata tests/cli/test_app.py

$(OLDEST)/.ready: pyproject.toml tools/oldest.py
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip --quiet install packaging
	$(OLDEST)/bin/python tools/oldest.py all polars > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip --quiet install --no-compile -c $(OLDEST)/constraints.txt -e '.[test]'
	@touch $@

# Old libraries use what the newer ones below them have deprecated meanwhile: not our doing.
test-oldest: $(OLDEST)/.ready   ## compare numbers and contracts with the oldest supported versions
	@cat $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pytest -n auto --maxprocesses=4 --dist loadfile -W ignore::DeprecationWarning $(CROSSCHECK)

test-newest:     ## the same with the newest releases, whatever the lock says
	$(NEWEST_PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip --quiet install --no-compile --upgrade --upgrade-strategy eager -e '.[test]'
	$(NEWEST)/bin/python -m pip list
	$(NEWEST)/bin/python -m pytest -n auto --maxprocesses=4 --dist loadfile $(CROSSCHECK)

# pip installs an older pandas where anndata does not allow the newest; who has no anndata gets that.
$(PANDAS)/.ready: pyproject.toml
	$(PYTHON) -m venv --clear $(PANDAS)
	$(PANDAS)/bin/python -m pip --quiet install --no-compile -e '.[test]'
	$(PANDAS)/bin/python -m pip --quiet install --no-compile --upgrade --no-deps pandas
	@touch $@

test-pandas: $(PANDAS)/.ready   ## tables with the newest pandas
	$(PANDAS)/bin/python -m pytest -n auto --maxprocesses=4 --dist loadfile -m "not slow" -k "not h5ad" \
		tests/test_tables.py tests/io tests/workflow

lint: $(VENV)/.lint   ## ruff (style and formatting), mypy (types), import-linter (layers and their picture)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/draw_layers.py --check

format: $(VENV)/.lint   ## let ruff rewrite the files
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

evidence: $(VENV)/.test   ## make every page of results again (hours; resumes; needs FEATSIEVE_DATA)
	$(PIP) install -r requirements/genes.txt
	$(BIN)/python benchmarks/evidence.py

docs: $(VENV)/.docs   ## build the HTML documentation into docs/_build/html
	$(BIN)/python -m sphinx -W -q -j auto -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: $(VENV)/.release   ## build sdist and wheel, install them in empty environments and try them there
	$(BIN)/python tools/check_dist.py

lock: $(VENV)/.release   ## write requirements/dev.txt: the newest releases, pinned, with hashes
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --quiet \
		--custom-compile-command 'make lock' --output-file requirements/dev.txt

dev: | $(BIN)/python   ## install exactly what requirements/dev.txt says, instead of the newest
	$(PIP) install --no-compile --require-hashes -r requirements/dev.txt
	$(PIP) install --no-compile --no-deps --no-build-isolation -e .
	@touch $(VENV)/.core $(VENV)/.all $(VENV)/.test $(VENV)/.lint $(VENV)/.docs $(VENV)/.release

audit: $(VENV)/.release   ## look for known vulnerabilities in what requirements/dev.txt pins
	$(BIN)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off -r requirements/dev.txt

clean:           ## remove everything that can be rebuilt
	rm -rf $(VENV) $(OLDEST) $(NEWEST) $(PANDAS) dist docs/_build docs/api docs/auto_examples .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-report
