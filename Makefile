# Two commands do everything on a fresh machine: `make bench` and `make test`.
PYTHON ?= python3
# Optional parts, comma-separated: capture, rl, cluster, partition, cbc, gpu-data, browser, docs.
EXTRAS ?=
# pytest's own arguments, for instance `make test ARGS="-k checker -x"`; -n 0 runs in one process.
ARGS ?=
# A file's tests run in one of as many processes as there are cores: some of them share what is slow.
PARALLEL := -n logical --maxprocesses 4 --dist loadfile
JOBS ?= 2
TIME ?= 1s

# What codespell reads.
PROSE := *.md bench docs heuristics problems results/*.md results/studies results/submissions/*.md solvers

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
comma := ,
empty :=
space := $(empty) $(empty)
extras := $(sort $(subst $(comma),$(space),$(EXTRAS)))
core := .venv/core.stamp
# One stamp a set of extras, so that asking for more installs more.
dev := .venv/dev$(subst $(space),,$(addprefix -,$(extras))).stamp

.PHONY: bench test lint format page docs library constraints clean help

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

bench: $(core)  ## compare on twelve instances, print the leaderboard, write the page
	$(BIN)/placebench run -i quick -m default --time $(TIME) --jobs $(JOBS) --store results/runs
	$(BIN)/placebench leaderboard --quiet --store results/runs

test: $(dev)  ## run the tests (EXTRAS=capture,rl,cluster,partition,cbc,gpu-data,browser,docs adds the optional parts)
	$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

lint: $(dev)  ## ruff, mypy and codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m codespell_lib $(PROSE)

format: $(dev)  ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

page: $(core)  ## rebuild the published leaderboard from the submissions
	$(BIN)/placebench leaderboard --submissions results/submissions

docs: .venv/docs.stamp  ## build the documentation site, docs/_build/html/index.html
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html

library: $(dev)  ## rebuild what is composed and derived in the instance library (FRESH=--fresh: all of it)
	$(BIN)/python -m problems.compose
	$(BIN)/python -m problems.generate.scaling_library
	$(BIN)/python -m problems.describe $(FRESH)
	$(BIN)/python -m problems.spread

constraints: $(dev)  ## pin what is installed now
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' | LC_ALL=C sort -f > constraints.txt

clean:  ## remove the environment, compiled code, the local runs and the site of the documents
	rm -rf .venv .compiled results/runs docs/_build docs/generated

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "placebench needs Python 3.11 or later; say which one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

$(core): .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e .
	@touch $@

.venv/docs.stamp: $(core)
	$(PIP) install -q -c constraints.txt -e ".[docs]"
	@touch $@

# torch comes first and alone: a CPU build that is already at hand satisfies everything after it.
# pytorchcv asks for torchvision, which its model files do not use.
$(dev): $(core)
ifneq ($(filter capture rl,$(extras)),)
	$(PIP) install -q -c constraints.txt "torch>=2.13,<2.14"
endif
	$(PIP) install -q -c constraints.txt -e ".[$(subst $(space),$(comma),$(strip dev $(extras)))]"
ifneq ($(filter capture,$(extras)),)
	$(PIP) install -q -c constraints.txt --no-deps pytorchcv
endif
	@touch $@
