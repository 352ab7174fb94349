# What one does with a working copy of Aldis; `make` alone lists it. Needs make and a Python from 3.11 on.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
PYTHONPATH :=
export PYTHONPATH

BIN := .venv/bin
PIP_TOOLS := pip-tools==7.6.2
PIP_AUDIT := pip-audit==2.10.1
CYCLONEDX := cyclonedx-bom==7.5.0
# Where the prices of models come from; raise it, and run `make prices`.
GENAI_PRICES := genai-prices==0.2.3
# What an image may have besides, each with a lock file of its own; the tests have all of it.
EXTRAS := mcp postgres code ddgs recall
# Where `make wheel` leaves the package.
DIST := dist
# Where the packages lie that `make agentdojo` needs besides.
DOJO := .venv/agentdojo
# How long a round `make chaos` plays; `make chaos KILLS=500 SEEDS=10000` is a long one.
KILLS := 60
SEEDS := 1000
# The local index and wheels of the machine stay out of the lock files; its pip settings are honoured otherwise.
COMPILE = .venv/lock/bin/python -m piptools compile --quiet --generate-hashes --strip-extras --allow-unsafe \
	--no-header --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --annotation-style line $(ARGS)

.PHONY: help install install-dev chat run test quick tests coverage check lint types imports format bench chaos soak fuzz transcripts agentdojo agentdojo-install wheel audit lock pages settings translations prices clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

install: ## Set up .venv with what Aldis needs to run
	@.ci/venv

install-dev: ## The same, with the tools of tests and checks
	@.ci/venv dev

chat: install ## Talk to Aldis in this terminal; ARGS="--once 'What is 17*23?'" and others go to the command
	@$(BIN)/python -m bot chat $(ARGS)

run: install ## Answer in Signal, as the variables and .env say
	@$(BIN)/python -m bot run $(ARGS)

# Five workers whatever the machine has: the stories with real processes wait more than they compute. They come first
# (tests/conftest.py), and who has nothing left to do takes from who has: the end must not be one long story alone.
test: install-dev ## Check everything and run every test
	@$(MAKE) --no-print-directory --jobs=2 check tests

# Which tests are fast is a rule: tests/conftest.py, `is_quick`.
quick: install-dev ## Lint, import contracts and the fast unit tests, in less than half a minute
	@$(MAKE) --no-print-directory --jobs=2 lint imports
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --quick $(ARGS)

tests: install-dev
	@$(BIN)/python -m pytest -q -n 5 --dist worksteal $(ARGS)

coverage: install-dev ## The same tests with their branch coverage, which takes a third longer; fails under 95 %
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m coverage run -m pytest -q -n 4 $(ARGS)
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report >.venv/coverage.txt || { cat .venv/coverage.txt; exit 1; }
	@echo "branch coverage: $$($(BIN)/python -m coverage report --format=total) %"

check: lint types imports ## Lint, types and import contracts

lint: install-dev ## Style and likely mistakes (ruff)
	@$(BIN)/python -m ruff check --quiet .
	@$(BIN)/python -m ruff format --check --quiet . || { echo "some files are not formatted: make format"; exit 1; }

types: install-dev ## Types, strictly (basedpyright)
	@$(BIN)/python -m basedpyright --pythonpath $(BIN)/python >.venv/types.txt || { cat .venv/types.txt; exit 1; }

imports: install-dev ## Who may import whom (import-linter)
	@$(BIN)/lint-imports >.venv/imports.txt 2>&1 || { cat .venv/imports.txt; exit 1; }

format: install-dev ## Write the files as the formatter wants them
	@$(BIN)/python -m ruff check --quiet --fix . ; $(BIN)/python -m ruff format --quiet .

bench: install-dev ## Measure a turn and print the figures
	@$(BIN)/python -m tests.campaigns.bench $(ARGS)

chaos: install ## Kill Aldis under load, KILLS times, then in SEEDS simulated stories
	@$(BIN)/python -m tests.campaigns.chaos --kills $(KILLS) $(ARGS)
	@$(BIN)/python -m tests.campaigns.simulation --seeds $(SEEDS)

soak: install ## Two hundred conversations for some minutes; ARGS="--conversations 50 --seconds 600"
	@$(BIN)/python -m tests.campaigns.soak $(ARGS)

fuzz: install-dev ## Input that nobody would think of, a long round; ARGS="envelopes --seed 7"
	@$(BIN)/python -m tests.campaigns.fuzz $(ARGS)

agentdojo: agentdojo-install ## What a model that obeys strangers brings about, by the suites of AgentDojo; ARGS=--short
	@PYTHONPATH=$(DOJO) $(BIN)/python -m tests.campaigns.agentdojo $(ARGS)

# Beside the packages of .venv, which its lock file pins as they are there.
agentdojo-install: install-dev
	@cmp -s tests/campaigns/agentdojo/requirements.lock $(DOJO)/installed.lock || { rm -rf $(DOJO) && \
		$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes --no-deps --target $(DOJO) \
			-r tests/campaigns/agentdojo/requirements.lock && cp tests/campaigns/agentdojo/requirements.lock $(DOJO)/installed.lock; }

transcripts: install ## Rewrite docs/signal.md: what people see in Signal, played
	@$(BIN)/python -m tests.campaigns.transcripts

wheel: install ## Build the package into dist/ with a list of what it stands on (SBOM), and try it with each Python from 3.11 on
	@$(BIN)/python .ci/wheel.py $(DIST)
	@test -x .venv/sbom/bin/python || $(BIN)/python -m venv .venv/sbom
	@.venv/sbom/bin/python -m pip install --quiet --disable-pip-version-check $(CYCLONEDX) \
		|| echo "no SBOM: $(CYCLONEDX) cannot be installed" >&2
	@test ! -x .venv/sbom/bin/cyclonedx-py || .venv/sbom/bin/cyclonedx-py requirements requirements.lock \
		--pyproject pyproject.toml --output-reproducible --of JSON -o $(DIST)/aldis.cdx.json 2>/dev/null

# An index or a database that cannot be reached is told and fails nothing; see .ci/audit.py.
audit: install ## Look up what both lock files pin among the known vulnerabilities; ARGS="--ignore-vuln ID"
	@test -x .venv/audit/bin/python || $(BIN)/python -m venv .venv/audit
	@.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check $(PIP_AUDIT) \
		|| echo "not audited: $(PIP_AUDIT) cannot be installed" >&2
	@test ! -x .venv/audit/bin/pip-audit || $(BIN)/python .ci/audit.py .venv/audit/bin/pip-audit $(ARGS)

lock: install ## Rewrite the lock files from pyproject.toml; ARGS=--upgrade takes newer versions
	@test -x .venv/lock/bin/python || $(BIN)/python -m venv .venv/lock
	@.venv/lock/bin/python -m pip install --quiet --disable-pip-version-check $(PIP_TOOLS)
	@env -u PIP_FIND_LINKS $(COMPILE) --output-file requirements.lock pyproject.toml
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], sep="\n")' \
		| env -u PIP_FIND_LINKS $(COMPILE) --constraint requirements.lock --output-file tests/requirements.lock -
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| env -u PIP_FIND_LINKS $(COMPILE) --output-file docker/build.lock -
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["agentdojo"], sep="\n")' \
		| env -u PIP_FIND_LINKS $(COMPILE) --constraint requirements.lock --constraint tests/requirements.lock --output-file tests/campaigns/agentdojo/requirements.lock -
	@for extra in $(EXTRAS); do \
		$(BIN)/python -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")' $$extra \
			| env -u PIP_FIND_LINKS $(COMPILE) --constraint requirements.lock --constraint tests/requirements.lock --output-file docker/$$extra.lock - || exit 1; \
	done

translations: install ## Bring the catalogues of the other languages up to date with the sentences; ARGS=it begins one
	@$(BIN)/python .ci/translations.py $(ARGS)

pages: install-dev ## Rewrite the tables of settings, commands, tools and coverage in docs/
	@$(BIN)/python .ci/pages.py

settings: pages

prices: install-dev ## Rewrite bot/models/prices.json: what the vendors' models cost today
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --no-deps --target .venv/prices $(GENAI_PRICES)
	@PYTHONPATH=.venv/prices $(BIN)/python .ci/prices.py

clean: ## Remove .venv and what tools left behind; never data or .env
	@rm -rf .venv .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* build dist *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
