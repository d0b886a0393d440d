"""What came of both phases of `make test`, as one line in the form of pytest's last.

``python tests/outcome.py PHASE.xml CODE PHASE.xml CODE``: the files are pytest's ``--junitxml``,
the codes those it ended with. It ends with 0 only if all of them did.
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
    found = Counter({kind: int(suite.get(kind, "0")) for kind in ("failures", "errors", "skipped")})
    found["passed"] = int(suite.get("tests", "0")) - found.total()
    return found, float(suite.get("time", "0"))


def outcome(phases: Sequence[tuple[Path, int]]) -> tuple[str, int]:
    """Return the line, and the exit code: that of the first phase that did not end with 0."""
    every, seconds, missing = Counter[str](), 0.0, []
    for file, _ in phases:
        try:
            found, took = counted(file)
        except (OSError, ET.ParseError) as error:
            missing.append(f"{file.stem} left no result ({error})")
            continue
        every += found
        seconds += took
    told = [f"{every[kind]} {name}" for kind, name in _KINDS.items() if every[kind]]
    code = next((code for _, code in phases if code), 1 if missing else 0)
    line = f"{', '.join([*told, *missing])} in {seconds:.2f}s (both phases)"
    return f" {line} ".center(80, "="), code


def main() -> int:
    """Print the line; return the exit code."""
    given = sys.argv[1:]
    phases = list(zip(map(Path, given[::2]), map(int, given[1::2]), strict=True))
    line, code = outcome(phases)
    sys.stdout.write(line + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
