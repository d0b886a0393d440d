"""Every Python example in the documentation runs."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), *ROOT.glob("[!.]*/README.md")])
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
FUTURE = "from __future__ import annotations\n"


def programs(page):
    """Return the examples of a page; those of a tutorial are the steps of one program."""
    blocks = [dedent(code) for _, code in BLOCK.findall(page.read_text())]
    return ["".join(blocks)] if blocks and page.parent.name == "tutorial" else blocks


CODE = [(page, code) for page in PAGES for code in programs(page)]


@pytest.mark.parametrize(("page", "code"), CODE, ids=[page.stem for page, _ in CODE])
def test_example_runs(page, code, plants, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    # As a module of its own: a block's annotations are looked up in the module that defines it.
    file = tmp_path / "example.py"
    file.write_text(code if FUTURE in code else FUTURE + code)
    import runpy

    runpy.run_path(str(file))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


def test_imports_of_contributions_stand_as_the_linter_wants_them(tmp_path):
    """What is copied from CONTRIBUTING passes ``make check``."""
    blocks = [code for page, code in CODE if page.name == "CONTRIBUTING.md"]
    assert len(blocks) > 2
    for number, code in enumerate(blocks):
        (tmp_path / f"block_{number}.py").write_text(code)
    rules = ["--config", str(ROOT / "pyproject.toml"), "--select", "I001", "--no-cache"]
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "ruff", "check", *rules, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
