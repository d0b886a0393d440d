#!/usr/bin/env bash
# Compiles the engine for Windows, by Zig: all but src/posix, whose place src/windows takes, and the bindings,
# which need the headers of a Python for Windows (packaging/windows/wheel.py). Nothing is linked or run.
# usage: .ci/windows.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(command -v "${1:-.venv/bin/python}")
[[ $python == /* ]] || python=$PWD/$python
made=$PWD/build/windows
mkdir -p "$made"
cd orchestrator/engine/src
for folder in */; do
  folder=${folder%/}
  case $folder in posix | bindings | windows_host) continue ;; esac
  compgen -G "$folder/*.cpp" >/dev/null || continue # headers only
  printf '#include "%s"\n' "$folder"/*.cpp >"$made/$folder.cpp"
  echo "$made/$folder"
done | xargs -P 2 -I FILE "$python" -m ziglang c++ -target x86_64-windows-gnu -std=c++17 -Wall -Wextra -Werror \
  -c -I . -I ../../export -o FILE.o FILE.cpp
echo "The engine compiles for Windows; it was not run there."
