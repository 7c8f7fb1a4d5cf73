# make demo    set up, then predict PageRank on a real graph, run it, and compare
# make check   set up, then lint, types, layering and tests
# make format  rewrite the sources as the linter wants them

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
JOBS ?= 2
GRAPH ?= web-NotreDame
SPARE_GRAPH = rmat:scale=16,edge_factor=16,seed=1

.PHONY: demo check lint types layers test format clean

demo: $(STAMP)
	@if $(BIN)/predict-graph datasets fetch $(GRAPH) >/dev/null 2>&1; then graph="$(GRAPH)"; \
	else graph="$(SPARE_GRAPH)"; \
	  echo "$(GRAPH) is neither here nor can it be downloaded: taking $(SPARE_GRAPH)"; fi; \
	$(BIN)/predict-graph validate pagerank "$$graph" -p epsilon=0.001

check: lint types layers test

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

test: $(STAMP)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
