"""Runs the chosen tests in this Python, which is one for Windows: see chosen.toml.

``python inside.py [STAGE ...]`` runs stages, by default all, each in a process of its own.
``python inside.py TEST ...`` runs the tests of these files, as pytest names them.
"""

import faulthandler
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
#: pytest's own folder would be on another drive than the tests.
TEMPORARY = TESTS.parent / "build" / "windows-tests"
#: s; a test that takes longer ends its stage with a traceback.
LONGEST = 600


class Chosen:
    """Skips what the list leaves out, with its reason, and ends a test that hangs."""

    def __init__(self, reasons):
        self.reasons = reasons
        self.unused = set()

    def pytest_collection_modifyitems(self, items):
        used = set()
        for item in items:
            name = item.nodeid.replace("\\", "/").partition("tests/")[2]
            for key, reason in self.reasons.items():
                inner = key[:-1] if key.endswith("*") else (f"{key}[", f"{key}::", f"{key}/")
                if name == key or name.startswith(inner):
                    item.add_marker(pytest.mark.skip(reason))
                    used.add(key)
        self.unused = set(self.reasons) - used

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self):
        faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)

    def pytest_runtest_logfinish(self):
        faulthandler.cancel_dump_traceback_later()


def listed():
    """Return the content of chosen.toml."""
    return tomllib.loads((Path(__file__).parent / "chosen.toml").read_text(encoding="utf-8"))


def reasons_of(content, places=None):
    """Return the reason for each test that is left out, of some files or of all."""
    return {
        name: group["reason"]
        for group in content["left_out"]
        for name in group["tests"]
        if places is None or name.startswith(tuple(places))
    }


def run(words, reasons):
    """Run pytest on some words; return the exit code."""
    plugin = Chosen(reasons)
    options = ["-c", TESTS.parent / "pyproject.toml", "--rootdir", TESTS.parent]
    options += ["--basetemp", TEMPORARY, "-q", "-p", "no:cacheprovider", "-m", "not alone"]
    return int(pytest.main([*map(str, options), *words], [plugin])), plugin.unused


def run_stage(stage):
    """Run a stage; a name that is left out and that no test has is an error."""
    content = listed()
    ignored = [f"--ignore={TESTS / name}" for name in content["not_collected"]]
    places = content["stages"][stage]
    words = [*ignored, *(str(TESTS / place) for place in places)]
    code, unused = run(words, reasons_of(content, places))
    if unused:
        sys.stderr.write(f"no test is called {', '.join(sorted(unused))}\n")
    return code or int(bool(unused))


def main(words):
    """Run stages, or tests."""
    content = listed()
    stages = words or list(content["stages"])
    if len(words) == 1 and words[0] in content["stages"]:
        return run_stage(words[0])
    if not set(stages) <= set(content["stages"]):
        return run(words, reasons_of(content))[0]
    code = 0
    for stage in stages:
        began = time.monotonic()
        sys.stdout.write(f"stage {stage}\n")
        sys.stdout.flush()
        done = subprocess.run([sys.executable, "-P", __file__, stage], check=False)  # noqa: S603
        code = code or done.returncode
        sys.stdout.write(f"stage {stage}: {time.monotonic() - began:.0f} s\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
