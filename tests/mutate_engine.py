"""Make mistakes in the C++ engine, and list those that no test notices.

``make mutate-engine`` or ``python -m tests.mutate_engine [NAME ..]``: the mistakes of
``tests/mutants/engine_mistakes.py`` and ``drawn_mistakes.py``, or those that are named. All are
built into one engine, in ``build/mistakes``, from a copy of its sources; the environment variable
SOFTDOCK_MISTAKE chooses the one that acts. Each is tried on the tests of its row.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutants.drawn_mistakes import DRAWN
from tests.mutants.engine_mistakes import MISTAKES as CHOSEN
from tests.mutants.engine_mistakes import Mistake
from tests.processes import on_trial

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "orchestrator" / "engine"
BUILD = ROOT / "build" / "mistakes"
SECONDS = 600
MISTAKES = (*CHOSEN, *DRAWN)

_CHOICE = """\
#pragma once
#include <cstdlib>
#include <cstring>

namespace softdock {
inline bool is_chosen(const char* mistake) {
    const char* chosen = std::getenv("SOFTDOCK_MISTAKE");
    return chosen && std::strcmp(chosen, mistake) == 0;
}
}  // namespace softdock

#define MISTAKEN(name) ([] { static const bool is = softdock::is_chosen(name); return is; }())
"""


def planted(text: str, mistake: Mistake) -> str:
    """Return C++ that chooses at run time between what is right and a mistake.

    Raises ValueError where the right code does not stand exactly once in the text.
    """
    if (count := text.count(mistake.right)) != 1:
        raise ValueError(
            f"'{mistake.name}' of tests/mutants: expected its right code once in"
            f" {mistake.file}, found it {count} times: {mistake.right!r}"
        )
    chosen = f'MISTAKEN("{mistake.name}")'
    if mistake.right.endswith(";"):
        choice = f"if ({chosen}) {{ {mistake.wrong} }} else {{ {mistake.right} }}"
    else:
        choice = f"({chosen} ? ({mistake.wrong}) : ({mistake.right}))"
    return text.replace(mistake.right, choice)


def sources() -> Iterator[tuple[Path, str]]:
    """Yield the paths below the engine's folder and the texts that are built."""
    for path in (ENGINE / "CMakeLists.txt", ENGINE / "exported.map", *ENGINE.glob("src/*/*")):
        name = path.relative_to(ENGINE)
        text = path.read_text(encoding="utf-8")
        for mistake in MISTAKES:
            if name == Path("src", mistake.file):
                text = planted(text, mistake)
        yield name, text
    yield Path("choice.hpp"), _CHOICE


def build() -> None:
    """Build the engine that has all mistakes; files that did not change are not touched."""
    folder = BUILD / "sources" / "engine"
    for name, text in sources():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    if not (export := folder.with_name("export")).exists():
        export.symlink_to(ROOT / "orchestrator" / "export")
    include = f"-include {folder / 'choice.hpp'}"
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DSOFTDOCK_LTO=OFF", f"-DCMAKE_CXX_FLAGS={include}")
    command = [str(ROOT / ".ci" / "build_engine.sh"), str(folder), str(BUILD / "built"), *options]
    subprocess.run(command, check=True)  # noqa: S603


def pytest_configure() -> None:
    """Keep Hypothesis from shrinking what fails: pytest takes this module as a plugin."""
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mistakes", phases=phases, derandomize=True, database=None)
    settings.load_profile("mistakes")


def noticed(tests: Sequence[str], name: str) -> str:
    """Return how tests notice a mistake: the first that fails, or nothing."""
    words = [word if "-" in word[:1] or "/" not in word else f"tests/{word}" for word in tests]
    plugins = ("-p", "no:cacheprovider", "-p", "tests.mutate_engine")
    quick = ("-x", "-q", "--numprocesses", "0", *plugins)
    command = [sys.executable, "-m", "pytest", *quick, *words]
    variables = {
        "SOFTDOCK_MISTAKE": name,
        "SOFTDOCK_OTHER_ENGINE": str(BUILD / "built"),
        "PYTHONPATH": str(ROOT / "tests" / "other_engine"),
    }
    code, text = on_trial(command, ROOT, variables, SECONDS)
    if code is None:
        return f"its tests took more than {SECONDS} s"
    if code == 0:
        return ""
    lines = text.splitlines()
    for word in ("FAILED", "ERROR"):  # a fixture that ends after a failed test is an error, too
        if failures := [line for line in lines if line.startswith(word)]:
            return failures[0].split(" - ")[0]
    return f"pytest ended with {code}"


def main() -> None:
    """Build, try the tests without a mistake, then each mistake."""
    options = argparse.ArgumentParser()
    options.add_argument("names", nargs="*", choices=[[], *(each.name for each in MISTAKES)])
    names = options.parse_args().names
    chosen = [mistake for mistake in MISTAKES if not names or mistake.name in names]
    build()
    for tests in dict.fromkeys(mistake.tests for mistake in chosen):
        if failure := noticed(shlex.split(tests), ""):
            raise SystemExit(f"{tests}: fails without a mistake: {failure}")
    survivors = 0
    for mistake in chosen:
        failure = noticed(shlex.split(mistake.tests), mistake.name)
        survivors += not failure
        sys.stdout.write(f"{mistake.name}: {f'noticed, {failure}' if failure else 'SURVIVED'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"engine: {len(chosen)} mistakes tried, {survivors} survived\n")
    if survivors:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
