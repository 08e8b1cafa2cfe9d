# Everything lives in this folder: the virtual environment, every cache, every download.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export XDG_CACHE_HOME := $(CURDIR)/.cache
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_CACHE_DIR := $(CURDIR)/.cache/uv
export UV_LINK_MODE := copy
export npm_config_cache := $(CURDIR)/.cache/npm
# Compiled modules are kept beside their sources: a start is three times as fast.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check format bench clean

# The showcase's servers go into .cache; those that cannot be installed are shown as unavailable.
demo: $(VENV)/.run
	@PATH="$$($(BIN)/python scripts/servers.py || true):$$PATH" \
		SHOWCASE_MEMORY="$(CURDIR)/.cache/memory.jsonl" \
		$(BIN)/toolyard serve examples/showcase --http 8080

# Everything but the long ones in four minutes; ALL=1 for everything, ARGS for something.
CHOSEN := $(if $(ARGS),$(ARGS),--dist loadfile $(if $(ALL),-n auto,-n 3 -m "not long"))
test: $(VENV)/.dev
	$(BIN)/python -m pytest -q $(CHOSEN)
	@$(if $(ALL)$(ARGS),,echo "The long tests were left out: make test ALL=1 runs them too.")

check: $(VENV)/.dev
	$(BIN)/python scripts/check.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/biome check --write

bench: $(VENV)/.dev
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .cache dist build

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "toolyard needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --cache-dir .cache/pip uv

# The build hook makes the page: what it is made from counts as well.
PAGE := $(shell find frontend -path frontend/node_modules -prune -o -type f -print) hatch_build.py

$(VENV)/.run: $(BIN)/uv pyproject.toml constraints.txt $(PAGE)
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt --group dev
	@touch $@
