"""No file holds what a merge left behind, and the list of the documentation has every page."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: At the begin of a line, as git writes them: ours, the base, theirs; and the line between.
MARKER = re.compile(rb"^(?:[<|>]{7} .*|={7})\r?$", re.MULTILINE)


def tracked():
    """All files that git knows; those of the folders that are ours where there is no git."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no checkout: the list of files comes from git")
    listed = subprocess.run(  # noqa: S603 - git, of our own folder
        [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_no_file_has_a_conflict_in_it():
    found = []
    for path in tracked():
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content:
            found += [f"{path.relative_to(ROOT)}: {m[0]!r}" for m in MARKER.finditer(content)]
    assert found == []


@pytest.mark.parametrize("line", [b"<<<<<<< HEAD", b"=======", b">>>>>>> b3cbad0", b"||||||| base"])
def test_markers_are_known(line):
    assert MARKER.search(b"a\n" + line + b"\nb\n")
    assert not MARKER.search(b"a " + line)


@pytest.mark.parametrize(
    "page", sorted(DOCS.glob("*/*.md")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_page_is_in_the_list(page):
    assert f"({page.relative_to(DOCS)})" in (DOCS / "README.md").read_text()
