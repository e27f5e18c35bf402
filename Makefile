# Two commands do all of their own set-up: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint types check benchmark clean

demo: $(READY)  ## run every baseline on the spot check and print the scores
	@$(BIN)/python -m touche.demo

test: $(READY)  ## run the tests; with TOUCHE_DATA also those on official data
	$(BIN)/pytest

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy

check: lint types test

clean:
	rm -rf $(VENV) build dist

$(READY): pyproject.toml constraints.txt pyserini.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "touche-baselines needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	$(BIN)/pip install --quiet --no-deps --requirement pyserini.txt
	@touch $@
