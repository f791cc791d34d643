# Every target bootstraps .venv from a bare python3; nothing else is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: help demo test lint format bench docs clean

help:            ## list the targets
	@grep -E '^[a-z]+: .*##|^[a-z]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

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
	$(BIN)/featsieve demo

test: $(VENV)/.test   ## run the whole test suite (doctests included)
	$(BIN)/python -m pytest -n auto --maxprocesses=4 --dist loadfile

lint: $(VENV)/.lint   ## ruff (style and formatting) and mypy (types)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint   ## let ruff rewrite the files
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.core   ## quality and speed tables (the real data sets need FEATSIEVE_DATA)
	@echo "Planted features (2 minutes), speed (2 minutes), peers (10 minutes), quality (10 minutes), label-free (15 minutes)."
	$(BIN)/python -W ignore benchmarks/planted.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/label_free.py

docs: $(VENV)/.docs   ## build the HTML documentation into docs/_build/html
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:           ## remove everything that can be rebuilt
	rm -rf $(VENV) docs/_build docs/api docs/auto_examples .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-report
