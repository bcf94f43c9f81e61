# The commands a developer needs; `make` alone lists them.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
CORPUS ?= ../shared/corpus
STEP := testdata/frontends/transformer_train_step

.DEFAULT_GOAL := help
.PHONY: help setup demo test slow check lint types format golden programs bench corpus clean

help:  ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is needed; or: make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m compileall -q hlopass
	@touch $@

setup: $(READY)  ## Make the virtual environment and install what is needed

demo: $(READY)  ## Donate a real train step's state, and prove that it is reused
	@mkdir -p build
	$(BIN)/hlopass rewrite $(STEP).mlir --donate $(STEP).donate.json \
		-o build/train_step.mlir --report build/train_step.json --verify

test: $(READY)  ## Run the tests
	$(BIN)/python -m pytest -n 2

slow: $(READY)  ## Run the tests that take long
	$(BIN)/python -m pytest -m slow

check: lint types test  ## Lint, types and tests: what must be green

lint: $(READY)  ## Check style and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: $(READY)  ## Check types
	$(BIN)/mypy

format: $(READY)  ## Format the code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

golden: $(READY)  ## Rewrite the whole-text goldens; then read the diff
	$(BIN)/python -m pytest -n 2 --update-golden tests/test_golden.py

programs: $(READY)  ## Generate testdata/frontends again
	$(BIN)/python testdata/frontends/generate.py

bench: $(READY)  ## Measure, as ratios
	$(BIN)/python bench/pairing.py
	$(BIN)/python bench/rewrite.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/verify.py

corpus: $(READY)  ## Run hlopass over modules that frontends wrote; CORPUS=FOLDER
	$(BIN)/python bench/corpus.py $(CORPUS)

clean:  ## Remove what was built
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
