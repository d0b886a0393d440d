"""CMakeLists.txt among an FMU's sources: any machine compiles its library with it."""

from __future__ import annotations

from orchestrator.export.archive.description_parts import SOURCE_FILE
from orchestrator.export.codegen.compiler import FLAGS, SUNDIALS, ZIG_FLAGS
from orchestrator.export.recipe import Recipe

CMAKE_FILE = "CMakeLists.txt"
_SAID_BY_CMAKE = {"-std=c11", "-fPIC", "-shared", "-s", "-fvisibility=hidden"}
_OF_ZIG = {"-fno-sanitize=all"}
_TEXT = """\
# cmake -S sources -B build && cmake --build build && cmake --install build
# puts the library for this machine into the folder of binaries beside `sources`.
cmake_minimum_required(VERSION 3.16...3.30)
project(@NAME@ LANGUAGES C)

add_library(@NAME@ MODULE @MAIN@)
set_target_properties(@NAME@ PROPERTIES
  PREFIX "" C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
# No fused multiply-add, and nothing that lets a compiler round otherwise.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(@NAME@ PRIVATE @GCC@)
else()
  target_compile_options(@NAME@ PRIVATE @CLANG@)
endif()
if(UNIX)
  target_link_libraries(@NAME@ PRIVATE @LIBRARIES@)
endif()

# The folder as FMI @FMI@ calls it.
string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
string(REGEX REPLACE "^amd64$" "x86_64" processor "${processor}")
string(REGEX REPLACE "^arm64$" "aarch64" processor "${processor}")
set(platform "${processor}-${system}")
@SHORT@if(APPLE)
  set_target_properties(@NAME@ PROPERTIES SUFFIX ".dylib")
endif()
install(TARGETS @NAME@ LIBRARY DESTINATION "${CMAKE_CURRENT_SOURCE_DIR}/../binaries/${platform}")
"""
_SHORT = """\
if(processor STREQUAL "x86_64")
  string(REGEX REPLACE "windows" "win" system "${system}")
  set(platform "${system}64")
endif()
"""


def cmake_text(recipe: Recipe, fmi: str) -> str:
    """Text of the file, for one version of FMI."""
    libraries = [*(SUNDIALS if recipe.solver.is_implicit else ()), "m"]
    parts = {
        "NAME": recipe.name,
        "MAIN": SOURCE_FILE,
        "GCC": " ".join(flag for flag in FLAGS if flag not in _SAID_BY_CMAKE),
        "CLANG": " ".join(flag for flag in ZIG_FLAGS if flag not in _SAID_BY_CMAKE | _OF_ZIG),
        "LIBRARIES": " ".join(libraries),
        "FMI": fmi,
        "SHORT": _SHORT if fmi == "2.0" else "",
    }
    text = _TEXT
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text
