"""Outcome of the phases of `make test` or `make sanitize`, as one line like pytest's last one.

``python tests/outcome.py PHASE.xml CODE PHASE.xml CODE``: the files are pytest's ``--junitxml``,
the codes those it ended with. It ends with 0 only if all of them did. With ``--passed`` in front,
a phase in which no test passed is a failure, too.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

_KINDS = {"failures": "failed", "errors": "errors", "passed": "passed", "skipped": "skipped"}


def counted(file: Path) -> tuple[Counter[str], float]:
    """Return how many tests ended how, and the seconds they took."""
    (suite,) = ET.parse(file).getroot().iter("testsuite")  # noqa: S314 - pytest's own
    counter = Counter(
        {kind: int(suite.get(kind, "0")) for kind in ("failures", "errors", "skipped")}
    )
    counter["passed"] = int(suite.get("tests", "0")) - counter.total()
    return counter, float(suite.get("time", "0"))


def outcome(phases: Sequence[tuple[Path, int]], *, passed: bool = False) -> tuple[str, int]:
    """Return the line, and the exit code: that of the first phase that did not end with 0.

    passed: Whether each phase needs a test that passed.
    """
    every, seconds, missing = Counter[str](), 0.0, []
    for file, _ in phases:
        try:
            found, took = counted(file)
        except (OSError, ET.ParseError) as error:
            missing.append(f"{file.stem} left no result ({error})")
            continue
        if passed and not found["passed"]:
            missing.append(f"{file.stem} passed no test")
        every += found
        seconds += took
    told = [f"{every[kind]} {name}" for kind, name in _KINDS.items() if every[kind]]
    code = next((code for _, code in phases if code), 1 if missing else 0)
    both = " (both phases)" if len(phases) > 1 else ""
    line = f"{', '.join([*told, *missing])} in {seconds:.2f}s{both}"
    return f" {line} ".center(80, "="), code


def main() -> int:
    """Print the line; return the exit code."""
    passed = sys.argv[1:2] == ["--passed"]
    given = sys.argv[2:] if passed else sys.argv[1:]
    phases = list(zip(map(Path, given[::2]), map(int, given[1::2]), strict=True))
    line, code = outcome(phases, passed=passed)
    sys.stdout.write(line + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
