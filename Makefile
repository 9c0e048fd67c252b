# Everything is done inside .venv, which is made on first use and made again when it no longer fits.
# Needs a POSIX shell, Python 3.11 or later, pip and make. `make help` lists what there is.

VENV := .venv
PY   := $(VENV)/bin/python

# Chosen among these, the newest wins; on a tie the first. `make run PYTHON=/path/to/python` decides otherwise.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11

# Passed through: `make run ARGS="--port 9000"`, `make pytest ARGS="-k gate"`, `make lock ARGS=--upgrade`.
ARGS ?=

# `make machine HISTORIES=5000` takes about ten minutes for a thousand.
HISTORIES ?= 500

PIP := $(PY) -m pip --disable-pip-version-check --no-input install --quiet

# Kept, whatever the caller's habit is: the tests start hundreds of processes, and each would compile the tree anew.
unexport PYTHONDONTWRITEBYTECODE

# Every commit of every test waits for its file to be on the disk. Where there is a folder in memory with two GiB to
# spare the tests write there; those about disks that fail or fill bring their own.
SCRATCH := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 2097152 { print "/dev/shm" }')
ifneq ($(SCRATCH),)
pytest: export PYTEST_DEBUG_TEMPROOT ?= $(SCRATCH)
endif

# A stamp says: the lock of this name is installed here. The dev lock contains the runtime lock.
RUNTIME := $(VENV)/.installed-runtime
MODELS  := $(VENV)/.installed-models
DEV     := $(VENV)/.installed-dev
PLACE   := $(VENV)/.installed-in

.DEFAULT_GOAL := help
.PHONY: help run models test lint types contracts pytest slow soak machine disk format bench lock clean

# The scripts in .venv and its link to this tree hold absolute paths: after a move or a copy, install again; and
# when the Python it was made with is gone, make it again.
ifneq ($(shell test -x $(PY) && cat $(PLACE) 2>/dev/null),$(CURDIR))
.PHONY: $(RUNTIME) $(MODELS) $(DEV)
endif

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

run: $(RUNTIME) ## install what is needed, then start the service (ARGS= is passed to `casebound up`)
	@exec $(VENV)/bin/casebound up $(ARGS)

models: $(MODELS) ## install the clients of OpenAI, Anthropic and Google, for a model instead of playbooks

# The two that take long share the processors.
test: lint contracts ## install what is needed, then every check that a change has to pass
	@$(MAKE) --no-print-directory -j 2 types pytest

lint: $(DEV) ## ruff: rules and format
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(DEV) ## basedpyright, strict
	$(PY) -m basedpyright --pythonpath $(PY)

contracts: $(DEV) ## import-linter: who may import whom
	$(PY) $(VENV)/bin/lint-imports --no-cache

pytest: $(DEV) ## the tests alone (ARGS= is passed to pytest)
	$(PY) -m pytest -n 4 $(ARGS)

slow: $(DEV) ## the tests that take long, beside those of `make test`
	$(PY) -m pytest -n 4 -m slow $(ARGS)

disk: $(DEV) ## every single write and sync of the store fails, every length is the last (five minutes; Linux, a C compiler)
	$(PY) -m tests.faults.disk

soak: $(DEV) ## kill the service at random moments, 1,000 times (ARGS="--kills 10000 --minutes 60 --seed 7")
	$(PY) -m tests.faults.kills $(ARGS)

machine: $(DEV) ## any history of the store, as many as HISTORIES= says
	MACHINE_EXAMPLES=$(HISTORIES) $(PY) -m pytest -n 0 --timeout=0 -rP tests/faults/machine $(ARGS)

format: $(DEV) ## put the code into the form that lint wants
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(DEV) ## speed and size, as a table (ARGS= is passed on)
	$(PY) -m bench $(ARGS)

# uv keeps the versions that are in the lock unless it is told ARGS=--upgrade. Whatever index a developer has
# configured, the locks hold versions and hashes only; the last line makes sure of it.
COMPILE := $(PY) -m uv --no-config --quiet pip compile --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(ARGS) pyproject.toml

lock: $(DEV) ## resolve the dependencies again and write the lock files (ARGS=--upgrade takes newer ones)
	$(PIP) uv
	$(COMPILE) --group install --output-file requirements.lock
	$(COMPILE) --group install --group dev --constraint requirements.lock --output-file requirements-dev.lock
	$(COMPILE) --all-extras --constraint requirements-dev.lock --output-file requirements-models.lock
	@! grep -nE '://|file:|^-|^/| @ ' requirements.lock requirements-dev.lock requirements-models.lock \
	  || { echo 'make lock: the lines above hold an address or a path; a lock holds versions and hashes only.' >&2; exit 1; }

clean: ## remove .venv and what the tools leave behind (never a database)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- installing ------------------------------------------------------------------------------------------

# Where Python comes without ensurepip (Debian without python3-venv) its own pip fills the environment.
$(PY):
	@best= best_minor=10; \
	for python in $(PYTHON); do \
	  minor=$$("$$python" -c 'import sqlite3, ssl, sys, venv; print(sys.version_info[1] if sys.version_info[0] == 3 else 0)' 2>/dev/null) || continue; \
	  if [ "$$minor" -gt "$$best_minor" ]; then best=$$python; best_minor=$$minor; fi; \
	done; \
	if [ -z "$$best" ]; then \
	  echo 'casebound needs Python 3.11 or later, with its venv, ssl and sqlite3 modules; none was found.' >&2; \
	  for python in $(PYTHON); do \
	    version=$$("$$python" -V 2>/dev/null) && echo "  $$python is $$version" >&2; \
	  done; \
	  echo 'Install one, or name it: make run PYTHON=/path/to/python3.12' >&2; \
	  exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$best" -V) ..."; \
	if "$$best" -c 'import ensurepip' 2>/dev/null; then \
	  "$$best" -m venv --clear $(VENV); \
	else \
	  "$$best" -m venv --clear --without-pip $(VENV) && \
	  "$$best" -m pip --python $(PY) --disable-pip-version-check --no-input install --quiet --require-hashes -r requirements.lock || { \
	    rm -rf $(VENV); \
	    echo "$$best has neither ensurepip nor a pip that can fill $(VENV) (22.3 or later)." >&2; \
	    echo 'Install one of them (on Debian and Ubuntu: apt-get install python3-venv), then try again.' >&2; \
	    exit 1; \
	  }; \
	fi

$(RUNTIME): $(PY) requirements.lock pyproject.toml
	@echo 'Installing what the service needs (once, about a minute) ...'
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@printf '%s' '$(CURDIR)' > $(PLACE)
	@touch $@

$(MODELS): $(RUNTIME) requirements-models.lock
	@echo 'Installing the clients of providers of models ...'
	@$(PIP) --require-hashes -r requirements-models.lock
	@touch $@

$(DEV): $(PY) requirements-dev.lock pyproject.toml
	@echo 'Installing what the service and its tests need (once, a minute or two) ...'
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@printf '%s' '$(CURDIR)' > $(PLACE)
	@touch $(RUNTIME) $@
