# Everything lives in this folder: the virtual environment, every cache, every download.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STEP := $(PYTHON) scripts/step.py
export XDG_CACHE_HOME := $(CURDIR)/.cache
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_CACHE_DIR := $(CURDIR)/.cache/uv
export UV_LINK_MODE := copy
export npm_config_cache := $(CURDIR)/.cache/npm
# Compiled modules are kept beside their sources: a start is three times as fast.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-cluster test check format bench clean

# The showcase's servers go into .cache; those that cannot be installed are shown as unavailable.
# PORT=9000 serves elsewhere; `exec`, so that Ctrl-C ends the server and make says nothing of it.
PORT ?= 8080
demo: $(VENV)/.run
	@$(BIN)/python scripts/servers.py --check || \
		$(STEP) "Fetching five published servers (about 45 MB, once)" -- $(BIN)/python scripts/servers.py || true
	@PATH="$$($(BIN)/python scripts/servers.py --path):$$PATH" \
		SHOWCASE_MEMORY="$(CURDIR)/.cache/memory.jsonl" \
		exec $(BIN)/toolyard serve examples/showcase --http $(PORT)

# nginx, Redis and two replicas on this machine.
demo-cluster: $(VENV)/.run
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[redis]'
	@TOOLYARD="$(CURDIR)/$(BIN)/toolyard" examples/cluster/serve.sh 8080

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
	@echo "Everything goes into this folder: .venv, .cache and frontend/node_modules."
	@$(STEP) "Making a virtual environment" -- $(PYTHON) -m venv $(VENV)
	@$(STEP) "Fetching the installer (about 25 MB, once)" -- $(BIN)/python -m pip install --quiet --cache-dir .cache/pip uv

# The build hook makes the page: what it is made from counts as well.
PAGE := $(shell find frontend -path frontend/node_modules -prune -o -type f -print) hatch_build.py

$(VENV)/.run: $(BIN)/uv pyproject.toml constraints.txt $(PAGE)
	@$(STEP) "Fetching packages and building the page (about 100 MB, once)" -- $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@$(STEP) "Fetching what the tests need (about 170 MB, once)" -- $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt --group dev
	@touch $@
