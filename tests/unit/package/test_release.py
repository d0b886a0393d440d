"""The version of a release is that of its tag."""

import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def release(tmp_path):
    """The functions of `packaging/release.py`, for a small repository."""
    place = tmp_path / "checkout"
    (place / "packaging").mkdir(parents=True)
    for name in ("packaging/release.py", "pyproject.toml", "CITATION.cff"):
        (place / name).write_text((ROOT / name).read_text())
    git(place, "init", "--quiet")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "--message", "all")
    return place, runpy.run_path(str(place / "packaging/release.py"))


def git(place, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=place, check=True)  # noqa: S603, S607


def test_the_sources_of_a_release_have_the_version_of_its_tag(release, tmp_path):
    place, functions = release
    git(place, "tag", "v7.8.9rc1")
    assert functions["tagged_version"]() == "7.8.9rc1"
    functions["write_sources"]("7.8.9rc1", tmp_path / "out")
    assert 'version = "7.8.9rc1"\n' in (tmp_path / "out/pyproject.toml").read_text()
    assert "\nversion: 7.8.9rc1\n" in (tmp_path / "out/CITATION.cff").read_text()


@pytest.mark.parametrize(("tag", "found"), [(None, "no tag"), ("1.0", "1.0"), ("v1.0.0", "dirty")])
def test_no_release_without_a_tag_or_of_a_changed_checkout(release, tag, found):
    place, functions = release
    if tag:
        git(place, "tag", tag)
    if found == "dirty":
        (place / "pyproject.toml").write_text("changed")
    with pytest.raises(SystemExit, match=rf"expected a clean checkout of a tag.*{found}"):
        functions["tagged_version"]()
