"""The two phases of `make test`, and the processes of `make mutate`."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from outcome import outcome
from processes import gone, on_trial
from sharing import shared_out

ROOT = Path(__file__).parents[3]
SUITE = (
    '<testsuites><testsuite tests="{tests}" failures="{failed}" errors="0" skipped="2" time="1.5"/>'
    "</testsuites>"
)


def phase(folder, name, tests, failed=0):
    file = folder / f"{name}.xml"
    file.write_text(SUITE.format(tests=tests, failed=failed))
    return file


def test_the_last_line_has_the_tests_of_both_phases(tmp_path):
    first, second = phase(tmp_path, "shared", 100), phase(tmp_path, "alone", 10)
    line, code = outcome([(first, 0), (second, 0)])
    assert line.strip("= ") == "106 passed, 4 skipped in 3.00s (both phases)"
    assert code == 0


@pytest.mark.parametrize("codes", [(1, 0), (0, 1), (1, 3)])
def test_a_failure_in_either_phase_is_one_of_the_whole(tmp_path, codes):
    failed = [min(code, 1) for code in codes]
    files = [phase(tmp_path, f"{n}", 10, one) for n, one in enumerate(failed)]
    line, code = outcome(list(zip(files, codes, strict=True)))
    assert f"{sum(failed)} failed, {16 - sum(failed)} passed" in line
    assert code == next(filter(None, codes))


@pytest.mark.parametrize("content", [None, "<testsuites><testsuite tests="])
def test_a_phase_that_left_nothing_is_no_success(tmp_path, content):
    second = tmp_path / "alone.xml"
    if content:
        second.write_text(content)
    first = phase(tmp_path, "shared", 10)
    done = subprocess.run(  # noqa: S603 - our own file
        [sys.executable, ROOT / "tests" / "outcome.py", first, "0", second, "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "alone left no result" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(("tests", "code", "ended"), [(10, 0, 0), (2, 0, 1), (0, 5, 5)])
def test_a_phase_in_which_no_test_passed_is_no_success_if_that_is_asked(
    tmp_path, tests, code, ended
):
    """All were skipped, or none was found; `make sanitize` would be green without a test."""
    file = tmp_path / "address.xml"
    skipped = min(tests, 2)
    file.write_text(SUITE.format(tests=tests, failed=0).replace('"2"', f'"{skipped}"'))
    line, found = outcome([(file, code)], passed=True)
    assert found == ended
    assert ("address passed no test" in line) is bool(ended)
    assert "phases" not in line
    assert outcome([(file, code)])[1] == code


def item(path, *marks):
    namespace = SimpleNamespace(nodeid=f"tests/{path}::test", path=path)
    namespace.get_closest_marker = lambda name: name if name in marks else None
    return namespace


def test_quick_tests_come_before_slow_ones_and_units_before_all():
    items = [
        item("reproduction/a.py", "slow", "reproduction"),
        item("conformance/b.py"),
        item("unit/c.py", "slow"),
        item("oracle/d.py"),
        item("unit/e.py"),
        item("docs/f.py"),
    ]
    order = [each.path for each in shared_out(items, 1)]
    assert order == [
        *("unit/e.py", "conformance/b.py", "docs/f.py", "oracle/d.py"),
        *("reproduction/a.py", "unit/c.py"),
    ]
    both = shared_out(items, 2)
    assert [each.path for each in both if not each.get_closest_marker("slow")] == order[:4]
    assert len(both) == 6


def test_nothing_but_the_summary_depends_on_where_the_marks_stand():
    """`make test` looks for the mark in files that pytest collects."""
    text = (ROOT / "Makefile").read_text()
    (pattern,) = re.findall(r"--include='test_\*\.py' '(.*?)'", text)
    marked = [
        path for path in ROOT.glob("tests/**/test_*.py") if re.search(pattern, path.read_text())
    ]
    assert ROOT / "tests/reproduction/epos/test_tracked_run.py" in marked
    assert len(marked) < 20  # few: they run one after the other


LEAVES_ONE = """
import subprocess, sys
sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
print(subprocess.Popen(sleeps, start_new_session=True).pid, flush=True)
{then}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("then", "seconds", "ended"),
    [("sys.exit(3)", 60.0, 3), ("import time; time.sleep(600)", 3, None)],
)
def test_a_trial_leaves_no_process_of_another_group(tmp_path, then, seconds, ended):
    command = [sys.executable, "-c", LEAVES_ONE.format(then=then)]
    code, written = on_trial(command, tmp_path, {}, seconds)
    assert code == ended
    if written or ended:
        assert gone(int(written))
