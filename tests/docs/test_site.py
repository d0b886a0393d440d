"""The site has every page of the documentation, and what it lists exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAV = re.findall(r"^ *- [^:\n]+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
#: Where the site has files from outside of `docs`.
OUTSIDE = "repository/"


def test_every_page_is_in_the_navigation_once():
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")}
    listed = [page for page in NAV if not page.startswith(OUTSIDE)]
    assert len(set(listed)) == len(listed)
    assert set(listed) == pages


def test_pages_from_outside_exist():
    for page in NAV:
        if page.startswith(OUTSIDE):
            assert (ROOT / page.removeprefix(OUTSIDE)).is_file(), page
