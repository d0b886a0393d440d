#!/usr/bin/env bash
# The tests of threads under ThreadSanitizer, then those of compiled code under AddressSanitizer and
# UndefinedBehaviorSanitizer. --quick: those of threads only, as CI does.
# usage: .ci/sanitize.sh [--quick | --memory] [further options of pytest]
# --memory: those of compiled code only.
# It ends with 0 only if tests passed in each part, none failed and no sanitizer reported anything.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=$root/.venv/bin/python
part=
case "${1:-}" in --quick | --memory) part=$1; shift ;; esac

# Builds the engine with sanitizers, and a compiler that every FMU of the tests is built with.
build() { # kinds, folder
  .ci/build_engine.sh orchestrator/engine "$2" -DCMAKE_BUILD_TYPE=Debug -DSOFTDOCK_SANITIZE="$1"
  mkdir -p "$2/bin"
  printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@" -g -fsanitize=%s -fno-sanitize-recover=all\n' \
    "$(command -v gcc)" "$1" >"$2/bin/gcc"
  chmod +x "$2/bin/gcc"
}

run() { # folder, libraries to load first, options and tests
  local folder=$1 libraries=$2 results=$1.xml code=0 path
  shift 2
  for path in "$@"; do
    [[ $path == -* || -e $path ]] || { echo "no such test: $path" >&2; exit 1; }
  done
  rm -f "$results"
  env PATH="$folder/bin:$PATH" LD_PRELOAD="$libraries" SOFTDOCK_OTHER_ENGINE="$folder" \
    PYTHONPATH="$root/tests/other_engine" PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 \
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
    TSAN_OPTIONS=halt_on_error=1:exitcode=66 \
    setarch -R "$python" -m pytest -q -p no:cacheprovider --junitxml "$results" \
    -o faulthandler_timeout=300 --capture=sys "$@" || code=$? # a report ends it: not to be held
  "$python" tests/outcome.py --passed "$results" $code
}

found() { gcc -print-file-name="$1"; }

# The project's own FMUs stay as they are for users: examples and later tests read them, too.
"$root/.venv/bin/softdock" build fmus >/dev/null

if [ "$part" != --memory ]; then
  build thread "$root/build/sanitize-thread"
  run "$root/build/sanitize-thread" "$(found libtsan.so)" \
    tests/unit/core/master/{test_threads,run/test_two_threads}.py "$@"
fi
[ "$part" != --quick ] || exit 0

# Tests that enter the engine, or an FMU that gcc compiles. Left out are slow tests, which enter the
# same code with more data, and files that do not enter it, or cannot under a sanitizer:
left_out=(
  tests/unit/engine/test_layers.py                     # reads the sources of the engine
  tests/unit/engine/test_stub.py                       # reads the declarations of the engine
  tests/unit/core/simunits/blocks/test_block_names.py  # reads the Python code of blocks
  tests/unit/core/simunits/blocks/test_compiled.py     # functions that Numba compiles
  tests/unit/core/simunits/fmi/test_fmu_description.py # reads model descriptions
  tests/unit/core/simunits/fmi/test_wine.py            # libraries for Windows, which Zig compiles
  tests/unit/core/simunits/isolation/test_crashes.py   # FMUs crash on purpose; the sanitizer takes their signals
)
build address,undefined "$root/build/sanitize-address"
run "$root/build/sanitize-address" "$(found libasan.so) $(found libubsan.so)" --leave-out-slow \
  --numprocesses=2 --dist=worksteal "${left_out[@]/#/--ignore=}" \
  tests/unit/engine tests/unit/core/events tests/unit/core/exchange \
  tests/unit/core/simunits/{fmi,isolation,logs,blocks} \
  tests/unit/core/coupling/test_{channel,compensations}.py \
  tests/unit/core/master/test_{threads,neighbours,execution_fmu,recording,texts,value_tables}.py \
  tests/unit/core/master/test_{intermediate_update,blocks_that_follow,waveform_iteration}.py \
  tests/unit/core/master/{run/test_checkpoint,run/test_execution,run/test_tuning,schedule/test_reach}.py \
  tests/unit/export/test_{damaged_state,runtime,dopri5,event_accuracy,event_mode,input_derivatives}.py \
  tests/unit/export/codegen/test_solver_contract.py tests/unit/export/system/test_{interface,states,ends,life}.py \
  tests/unit/rig/test_twin_unit.py tests/unit/rig/device_units/test_device_unit.py "$@"
