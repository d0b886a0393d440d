"""Runs the chosen tests in this Python, which is one for Windows: see chosen.toml."""

import sys
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


class LeftOut:
    """Skips what the list leaves out, with its reason; a name that no test has is an error."""

    def __init__(self, reasons):
        self.reasons = reasons
        self.unused = set()

    def pytest_collection_modifyitems(self, items):
        used = set()
        for item in items:
            name = item.nodeid.replace("\\", "/").partition("tests/")[2]
            for key, reason in self.reasons.items():
                if name == key or name.startswith((f"{key}[", f"{key}::", f"{key}/")):
                    item.add_marker(pytest.mark.skip(reason))
                    used.add(key)
        self.unused = set(self.reasons) - used


def main(words):
    """Run the chosen tests, or those of some words of pytest."""
    listed = tomllib.loads((Path(__file__).parent / "chosen.toml").read_text(encoding="utf-8"))
    plugin = LeftOut(listed["left_out"])
    places = (
        [] if any(Path(word.partition("::")[0]).exists() for word in words) else listed["files"]
    )
    options = ["-c", TESTS.parent / "pyproject.toml", "--rootdir", TESTS.parent]
    options += ["-q", "-p", "no:cacheprovider", "-m", "not alone"]
    code = pytest.main(
        [*map(str, options), *words, *(str(TESTS / place) for place in places)], [plugin]
    )
    if places and plugin.unused:
        sys.stderr.write(f"no test is called {', '.join(sorted(plugin.unused))}\n")
        code = code or 1
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
