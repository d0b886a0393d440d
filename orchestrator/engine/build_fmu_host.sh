#!/bin/sh
# Compiles the host program for 64-bit Windows by Zig. usage: build_fmu_host.sh PYTHON FMU_HOST.EXE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec "$1" -m ziglang c++ -target x86_64-windows-gnu -std=c++17 -O2 -s -fno-exceptions -fno-rtti \
  -Wall -Wextra -Werror -I "$here/src" -I "$here/../export" -o "$2" "$here/src/windows_host/host.cpp"
