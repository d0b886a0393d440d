"""Files and commands of pages on authoring: all blocks of a page in order, in one folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "tutorial/author-a-system.md",
    "howto/edit-ssp.md",
    "howto/sweep.md",
    "reference/system-toml.md",
]
BLOCK = re.compile(r"```(toml|sh)\n(.*?)```", re.DOTALL)
PROGRAM = Path(sys.executable).with_name("softdock")


@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page, plants, tmp_path):
    (tmp_path / "fmus").symlink_to(ROOT / "fmus")
    ran = 0
    for kind, text in BLOCK.findall((ROOT / "docs" / page).read_text()):
        if kind == "toml":
            (tmp_path / text.split("\n")[0].removeprefix("# ")).write_text(text)
            continue
        for line in text.splitlines():
            command = shlex.split(line)
            assert command[0] == "softdock"
            done = subprocess.run(  # noqa: S603 - our own program, our own pages
                [str(PROGRAM), *command[1:]],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran, "a page without commands is in the wrong list"
