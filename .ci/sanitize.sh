#!/usr/bin/env bash
# The tests of the engine and of exported FMUs under AddressSanitizer and UndefinedBehaviorSanitizer,
# and those of its threads under ThreadSanitizer. --quick: those of threads only, as CI does.
# usage: .ci/sanitize.sh [--quick] [further options of pytest]
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=$root/.venv/bin/python
quick=
[ "${1:-}" != --quick ] || { quick=1; shift; }

# Builds the engine with sanitizers, and a compiler that every FMU of the tests is built with.
build() { # kinds, folder
  .ci/build_engine.sh orchestrator/engine "$2" -DCMAKE_BUILD_TYPE=Debug -DSOFTDOCK_SANITIZE="$1"
  mkdir -p "$2/bin"
  printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@" -g -fsanitize=%s -fno-sanitize-recover=all\n' \
    "$(command -v gcc)" "$1" >"$2/bin/gcc"
  chmod +x "$2/bin/gcc"
}

run() { # folder, libraries to load first, tests
  local folder=$1 libraries=$2 path
  shift 2
  for path in "$@"; do
    [[ $path == -* || -e $path ]] || { echo "no such test: $path" >&2; exit 1; }
  done
  env PATH="$folder/bin:$PATH" LD_PRELOAD="$libraries" SOFTDOCK_OTHER_ENGINE="$folder" \
    PYTHONPATH="$root/tests/other_engine" PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
    TSAN_OPTIONS=halt_on_error=1:exitcode=66 \
    setarch -R "$python" -m pytest -q -p no:cacheprovider --capture=sys "$@" # a report ends it: not to be held
}

found() { gcc -print-file-name="$1"; }

# The project's own FMUs stay as they are for users: examples and later tests read them, too.
"$root/.venv/bin/softdock" build fmus >/dev/null

build thread "$root/build/sanitize-thread"
run "$root/build/sanitize-thread" "$(found libtsan.so)" \
  tests/unit/core/master/{test_threads,run/test_two_threads}.py "$@"
[ -z "$quick" ] || exit 0

build address,undefined "$root/build/sanitize-address"
run "$root/build/sanitize-address" "$(found libasan.so) $(found libubsan.so)" \
  tests/unit/engine tests/unit/core/events tests/unit/core/exchange \
  tests/unit/core/master/{test_threads,test_neighbours,test_execution_fmu,schedule/test_reach}.py \
  tests/unit/core/master/run/test_{checkpoint,execution}.py \
  tests/unit/core/simunits/fmi/test_{fmu_unit,fmi1_unit,fmi3_unit,fmi3_events}.py \
  tests/unit/core/simunits/isolation/test_forks.py \
  tests/unit/export/test_{damaged_state,runtime,dopri5,event_accuracy,event_mode,input_derivatives}.py "$@"
