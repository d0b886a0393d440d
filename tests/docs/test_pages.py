"""Files and commands of pages on authoring: all blocks of a page in order, in one folder."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from orchestrator import read_system, simulate
from orchestrator.cli.main import HOMES

ROOT = Path(__file__).parents[2]
PAGES = [
    "tutorial/author-a-system.md",
    "howto/edit-ssp.md",
    "howto/sweep.md",
    "reference/system-toml.md",
]
BLOCK = re.compile(r"```(toml|sh)\n(.*?)```", re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_page_runs(page, plants, softdock, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fmus").symlink_to(ROOT / "fmus")
    ran = 0
    for kind, text in BLOCK.findall((ROOT / "docs" / page).read_text()):
        if kind == "toml":
            (tmp_path / text.split("\n")[0].removeprefix("# ")).write_text(text)
            continue
        for line in text.splitlines():
            command = shlex.split(line)
            assert command[0] == "softdock"
            code, out, err = softdock(*command[1:])
            assert code == 0, f"{line}\n{out}{err}"
            ran += 1
    assert ran, "a page without commands is in the wrong list"


#: Of the README and of each door, commands whose files are there, with how many there are.
DOORS = {
    "README.md": (r"^softdock (?:check|run) system\.ssp", 2),
    "docs/howto/check.md": (r"^softdock check (?:examples/epos|--explain .*?) +#", 2),
    "docs/howto/export-system.md": (r"^softdock export fmu .*", 1),
    "docs/howto/rig.md": (r"^softdock arm .* --dry", 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("page", DOORS)
def test_the_commands_of_a_door_run(page, plants, softdock, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "fmus"):
        (tmp_path / name).symlink_to(ROOT / name)
    assert softdock("export", "ssp", "examples/epos/ideal.ssd", "--output", "system.ssp")[0] == 0
    pattern, count = DOORS[page]
    found = re.findall(pattern, (ROOT / page).read_text(), re.MULTILINE)
    assert len(found) == count
    for line in found:
        code, out, err = softdock(*shlex.split(line, comments=True)[1:])
        assert code == 0, f"{line}\n{out}{err}"


@pytest.mark.slow
def test_three_ways_to_author_a_system_give_the_same_values(
    plants, softdock, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fmus").symlink_to(ROOT / "fmus")
    page = (ROOT / "docs" / "tutorial" / "author-a-system.md").read_text()
    for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
        Path(text.split("\n")[0].removeprefix("# ")).write_text(text)
    edits = re.findall(r"^softdock (system .* loop\.toml .*)$", page, re.MULTILINE)
    assert all(softdock(*shlex.split(edit))[0] == 0 for edit in edits)
    made = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], made)  # noqa: S102
    names = ["chaser.position", "chaser.velocity", "contact.force_a", "contact.force_b"]
    values = [made["result"][name] for name in names]
    for file in ("docking.toml", "loop.toml"):
        result = simulate(read_system(file).closed())
        np.testing.assert_array_equal([result[name] for name in names], values)


def test_the_difference_that_is_shown_is_that_of_its_command(
    plants, softdock, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "fmus"):
        (tmp_path / name).symlink_to(ROOT / name)
    page = (ROOT / "docs" / "howto" / "see.md").read_text()
    commands, shown = re.search(
        r"```sh\n([^`]*)```\n\nThe last command prints\n\n```\n(.*?)```", page, re.DOTALL
    ).groups()
    assert softdock(*shlex.split(commands.splitlines()[-1])[1:]) == (1, shown, "")


def test_every_command_that_is_named_exists():
    named = re.compile(r"`softdock ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
    pages = [ROOT / "CHANGELOG.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    wrong = []
    for page in pages:
        for name, second in named.findall(page.read_text()):
            group = HOMES[name].load(name) if name in HOMES else None
            inner = getattr(group, "commands", None)
            if group is None or (inner is not None and second and second not in inner):
                wrong.append(f"{page.relative_to(ROOT)}: softdock {name} {second}")
    assert not wrong, wrong
