PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint quality clean

demo: $(VENV)/installed
	$(BIN)/mnemic demo

test: $(VENV)/installed-for-tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal

# Formats and repairs what can be repaired.
lint: $(VENV)/installed-for-tests
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Recall and cost on LoCoMo (needs the data set), written to results/ and into the README.
quality: $(VENV)/installed-for-tests
	$(BIN)/python scripts/locomo_recall.py --output results/locomo_recall.json
	$(BIN)/python scripts/readme_numbers.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-for-tests: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/python -m pip install --quiet --editable '.[llm,spacy,multilingual,bench]' --group dev
	touch $@ $(VENV)/installed
