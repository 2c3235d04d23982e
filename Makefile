# What a person types: `make demo`, `make test`, `make test-slow`. All set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MACHINE ?= dunnington
# Without compiled modules, each start of the program takes twice as long, and so does the
# collection of the tests.
unexport PYTHONDONTWRITEBYTECODE

# Each works alone. Two at a time, and what one prints stays together.
CHECKS := check-types check-pages check-package check-words check-style check-imports

.PHONY: demo test test-slow lint $(CHECKS) docs samples compare thesis bench bench-fit same-answers accuracy pictures mutants fuzz random-loops \
    system clean

demo: $(VENV)/installed
	@mkdir -p demo_out
	$(BIN)/regionpredict predict polybench_samples/linear_algebra/2mm -m $(MACHINE)
	@$(BIN)/regionpredict predict polybench_samples/linear_algebra/2mm -m $(MACHINE) --format json -o demo_out/hints.json

# A file's tests run in one process, which makes what they share once.
test: $(VENV)/installed-test $(VENV)/system lint
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

# What takes longer: random programs, browsers, Slurm, MPI, campaigns, whole suites, and what a
# second compiler or reader, or a further seed or size, repeats.
test-slow: $(VENV)/installed-test $(VENV)/system
	$(BIN)/python -m pytest -n auto --dist loadfile -m slow

lint: $(VENV)/installed-test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

check-types: $(VENV)/installed-test
	MYPY_NUM_WORKERS=2 $(BIN)/mypy

check-pages: $(VENV)/installed-test
	$(BIN)/mkdocs build --strict --quiet

check-package: $(VENV)/installed-test
	$(BIN)/python -m build --no-isolation --outdir build/dist . >/dev/null

check-words: $(VENV)/installed-test
	$(BIN)/python tests/wording/check_wording.py

check-style: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-imports: $(VENV)/installed-test
	$(BIN)/lint-imports

# The pages as a site in build/site; a link that leads nowhere is an error. With UPDATE=1 the
# reference and the manual pages are printed anew from --help.
docs: $(VENV)/installed-test
	$(if $(UPDATE),$(BIN)/python tests/reference/print_reference.py)
	$(BIN)/mkdocs build --strict --quiet

# The pictures of docs/report.md, from the pages as they are now.
pictures: $(VENV)/installed-test
	$(BIN)/python tests/report/report_pictures.py docs/pictures

# What pip does not bring: compilers, a Slurm. Once, as root, where there is apt-get.
system $(VENV)/system: $(VENV)/python tests/system_packages.sh
	@sh tests/system_packages.sh
	@touch $(VENV)/system

samples:
	$(MAKE) -C polybench_samples
	$(MAKE) -C npb_samples

# Measures this host, predicts the PolyBench samples for it, runs them, and compares: ten minutes.
HOST := demo_out/host
THREADS ?= 1,2
compare: $(VENV)/installed
	@mkdir -p $(HOST)
	test -f $(HOST)/host.yaml || $(BIN)/regionpredict calibrate -o $(HOST)/host.yaml
	$(MAKE) -C polybench_samples CC="$(abspath $(BIN))/regionpredict cc -- gcc" \
	    CFLAGS="-O3 -march=native -g" DATASET=SMALL BUILD=$(abspath $(HOST))/build
	$(BIN)/regionpredict predict polybench_samples -D SMALL_DATASET -m $(HOST)/host.yaml \
	    --format json -o $(HOST)/hints.json
	rm -f $(HOST)/measured.jsonl
	$(BIN)/regionpredict measure --threads $(THREADS) --time-budget 5m -o $(HOST)/measured.jsonl -- \
	    sh -c 'for program in $(HOST)/build/*; do $$program; done' > $(HOST)/measured.txt
	$(BIN)/regionpredict compare $(HOST)/hints.json $(HOST)/measured.jsonl

# Empirical models beside Extra-P's, in an environment of their own: it wants an older numpy.
# SERIES=FILE: measured series, the largest point held out; without it, simulated ones.
RIVAL := .venv-rival
bench-fit: $(RIVAL)/installed
	$(RIVAL)/bin/python tests/benchmarks/bench_fit$(if $(SERIES),_real,).py $(SERIES)

$(RIVAL)/installed: pyproject.toml
	$(PYTHON) -m venv $(RIVAL)
	$(RIVAL)/bin/python -m pip install --quiet 'pip>=25.1'
	$(RIVAL)/bin/python -m pip install --quiet --editable . --group rival
	@touch $@

# The experiment of Chatzopoulos 2012, chapters 3 and 6, on this host: both suites, both models,
# regions of one program, two programs on one node; tables and plots in demo_out/thesis, within a
# quarter of an hour. With UPDATE=1 docs/thesis.md is printed from it.
THESIS := demo_out/thesis
WRAPPED := $(abspath $(BIN))/regionpredict cc -- gcc
STUDY_OPTIONS := --time-budget 210s --quiet-wait 20s
thesis: $(VENV)/installed-test
	@mkdir -p $(HOST) $(THESIS)
	test -f $(HOST)/host.yaml || $(BIN)/regionpredict calibrate --time-budget 100s -o $(HOST)/host.yaml
	$(MAKE) -C polybench_samples CC="$(WRAPPED)" CFLAGS="-O3 -march=native -g" DATASET=SMALL \
	    BUILD=$(abspath $(THESIS))/build/polybench
	$(MAKE) -C npb_samples CC="$(WRAPPED)" CFLAGS="-O3 -march=native -g -std=c99 -fopenmp" CLASS=S \
	    BUILD=$(abspath $(THESIS))/build/npb
	$(BIN)/regionpredict study --source polybench_samples -D SMALL_DATASET -m $(HOST)/host.yaml \
	    --threads $(THREADS) $(STUDY_OPTIONS) -o $(THESIS)/polybench -- \
	    sh -c 'for program in $(THESIS)/build/polybench/*; do $$program; done >/dev/null'
	$(BIN)/regionpredict study --source npb_samples -D CLASS_S -I npb_samples/common \
	    -m $(HOST)/host.yaml --threads $(THREADS) $(STUDY_OPTIONS) -o $(THESIS)/npb -- \
	    sh -c 'for program in $(THESIS)/build/npb/*; do $$program; done >/dev/null'
	$(BIN)/python tests/benchmarks/bench_pinning.py $(HOST)/host.yaml $(THREADS) --repeat 3 \
	    > $(THESIS)/regions.md
	$(BIN)/python tests/benchmarks/bench_coschedule.py $(HOST)/host.yaml > $(THESIS)/pairs.md
	$(BIN)/python tests/benchmarks/thesis_page.py $(THESIS) \
	    $(if $(UPDATE),docs/thesis.md,$(THESIS)/thesis.md)

bench: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/bench_frontend.py
	$(BIN)/python tests/benchmarks/bench_frontend.py polybench_samples
	for loops in 50 200 800; do \
	    $(BIN)/python tests/benchmarks/bench_frontend.py --generated $$loops --rounds 3; done
	$(BIN)/python tests/benchmarks/bench_trace.py
	$(BIN)/python tests/benchmarks/bench_trace.py 100000000 64
	$(BIN)/python tests/benchmarks/bench_paraver.py

# The same bytes from 100 cold runs on a folder of 40 files, on one process and on four in turns.
RUNS ?= 100
same-answers: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/same_answer.py $(RUNS)

# Holds the model against measurements from outside, and docs/accuracy.md against what that gives:
# make accuracy [DATA=FOLDER] [UPDATE=1]; without a folder only the sample that make test takes.
# With both, what hints, bands and confidence take from measured curves is fitted anew, too.
accuracy: $(VENV)/installed
	$(BIN)/python tests/accuracy/accuracy.py $(DATA) $(if $(UPDATE),--update)
	$(if $(UPDATE),$(BIN)/python tests/predict/test_constants.py)

# Changes the model in small ways and counts what its subpackages' tests catch: half an hour.
mutants: $(VENV)/installed-test
	$(BIN)/python tests/mutants/run_mutants.py

# 3,000 random programs against what they do when they run, and the traffic of 300: ten minutes.
FIRST ?= 1000000
random-loops: $(VENV)/installed-test
	$(BIN)/python tests/random_loops/judge_many.py 3000 $(FIRST)
	$(BIN)/python tests/workload/random_traffic.py 300 $(FIRST)

# Mutated sources and inputs: no traceback, no hang, and the other files keep their answers.
# make fuzz [MUTANTS=10000] [INPUTS=2000] [SEED=1] [JOBS=16] [SECONDS=3000]
fuzz: $(VENV)/installed
	$(BIN)/python tests/fuzz/run_fuzz.py --mutants $(or $(MUTANTS),2000) --inputs $(or $(INPUTS),200) \
	    --first $(or $(SEED),1) --jobs $(or $(JOBS),1) $(if $(SECONDS),--seconds $(SECONDS))

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Compiled here: where Python may not write bytecode, every start would compile all of it anew.
$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q regionpredict
	@touch $@

$(VENV)/installed-test: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . --group test
	@touch $@

clean:
	rm -rf $(VENV) build dist demo_out polybench_samples/build npb_samples/build
