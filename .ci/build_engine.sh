#!/usr/bin/env bash
# Builds the engine in a folder of its own, next to the installed one.
# usage: .ci/build_engine.sh SOURCE FOLDER [further options of CMake]
set -euo pipefail
source=$1 folder=$2
shift 2
cd "$(dirname "$0")/.."
root=$PWD
python=$root/.venv/bin/python

# What an editable installation builds with and does not keep; of the system where it is there.
tools=$root/build/engine-tools
needed=('nanobind>=3.1,<4')
command -v cmake >/dev/null || needed+=(cmake)
command -v ninja >/dev/null || needed+=(ninja)
[ -d "$tools/nanobind" ] || "$python" -m pip install --quiet --target "$tools" "${needed[@]}"
export PATH="$PATH:$tools/bin" PYTHONPATH="$tools"

mkdir -p "$folder"
cmake -S "$source" -B "$folder" -G Ninja -DPython_EXECUTABLE="$python" \
  -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" "$@" >"$folder/configure.log"
cmake --build "$folder" --parallel --target _engine softdock_system >"$folder/build.log" || {
  tail -40 "$folder/build.log" >&2
  exit 1
}
