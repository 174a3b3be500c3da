# make run | test | lint | bench | golden     (Python >= 3.11 and make are all it needs)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: run venv test lint bench bench-peers golden clean
run: venv
	$(BIN)/headway serve

venv: $(VENV)/.run
$(VENV)/.run: requirements.txt pyproject.toml
	@echo "Installing Headway into $(VENV): one to two minutes, about 0.9 GB."
	@$(PYTHON) -c 'import sys; sys.exit("Headway needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Say make PYTHON=python3.12, for example." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	@echo "Installing what the tests need: about a minute, 0.4 GB."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=25

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(VENV)/.dev
	$(BIN)/python -m bench

bench-peers: $(VENV)/.dev
	-$(BIN)/python -m bench.peers install  # what could not be installed, the next line tells
	$(BIN)/python -m bench.peers run

golden: $(VENV)/.dev
	$(BIN)/python -m pytest tests/golden --refresh-golden

clean:
	rm -rf $(VENV) build *.egg-info
