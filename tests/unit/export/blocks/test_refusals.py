"""What cannot be exported is refused, with the block, the reason and what to do."""

from importlib.metadata import PackageNotFoundError

import pytest

from orchestrator import Block, Input, Output, build_block
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    FmuError,
    UnknownNameError,
)
from orchestrator.export.blocks import python_fmu


class Bare(Block):
    """Doubles."""

    x: float = Input()
    y: float = Output()

    def step(self, t: float, h: float) -> None:
        self.y = 2.0 * self.x


@pytest.mark.parametrize(
    "name",
    [
        "Branching",
        "Hidden",
        "Clocked",
        "Spelling",
        "Greedy",
        "Growing",
        "Foreign",
        "Broken",
        "Own",
    ],
)
def test_what_is_no_equation(name, samples, tmp_path, wording):
    with wording.raises((CapabilityError, DescriptionError)):
        build_block(getattr(samples, name), tmp_path, python=False)
    assert list(tmp_path.iterdir()) == []


def test_a_branch_falls_back_to_python_and_says_so(samples, tmp_path, caplog):
    pytest.importorskip("pythonfmu", reason="the extra 'fmu' is not installed")
    built = build_block(samples.Branching, tmp_path)
    assert built.path.is_file()
    assert "branches on a value" in caplog.text
    assert "so the FMU runs the block in Python" in caplog.text


@pytest.mark.parametrize("name", ["Hidden", "Spelling"])
def test_python_does_not_help(name, samples, tmp_path, wording):
    pytest.importorskip("pythonfmu", reason="the extra 'fmu' is not installed")
    with wording.raises(CapabilityError):
        build_block(getattr(samples, name), tmp_path, python=True)


def test_a_class_that_no_other_process_finds(tmp_path, wording):
    pytest.importorskip("pythonfmu", reason="the extra 'fmu' is not installed")

    class Local(Bare):
        """Cannot be imported."""

    with wording.raises(CapabilityError):
        build_block(Local, tmp_path, python=True)
    assert build_block(Local, tmp_path, python=False).path.is_file()


def test_without_the_extra(tmp_path, monkeypatch, wording):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(python_fmu, "distribution", missing)
    with wording.raises(FmuError):
        build_block(Bare, tmp_path, python=True)


def test_bad_places_and_values(tmp_path, wording):
    with wording.raises(DescriptionError):
        build_block(Bare, tmp_path / "x.fmu", fmi=("2.0", "3.0"))
    with wording.raises(UnknownNameError):
        build_block("nothing", tmp_path)
    with wording.raises(UnknownNameError):
        build_block(Bare, tmp_path, values={"z": 1.0})
    with wording.raises(DescriptionError):
        build_block(Bare, tmp_path, values={"x": "a"})
    (tmp_path / "file").write_text("")
    with wording.raises(FmuError):
        build_block(Bare, tmp_path / "file" / "x.fmu")
