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
    ("name", "told"),
    [
        (
            "Branching",
            r"traced_blocks\.py:\d+: 'if self\.x > 0\.0:' branches on a value .*where\(",
        ),
        ("Hidden", r"Hidden: keeps '_sum', which is not declared .*State\(start"),
        ("Clocked", r"Clocked: output 'y' is .* its equations give .*a clock, random numbers"),
        ("Spelling", r"Spelling: 'word' is a String; C code is made of numbers only"),
        ("Greedy", r"Greedy: changes its parameter 'k'; expected State"),
        ("Growing", r"Growing: 'past' begins with 1 elements and has 2 after a step"),
        ("Foreign", r"traced_blocks\.py:\d+: .* asks for a number where only a formula is known"),
        ("Broken", r"traced_blocks\.py:\d+: .* fails: ZeroDivisionError"),
        ("Own", r"Own: defines get_state and set_state"),
    ],
)
def test_what_is_no_equation(name, told, samples, tmp_path):
    with pytest.raises(CapabilityError, match=told):
        build_block(getattr(samples, name), tmp_path, python=False)
    assert list(tmp_path.iterdir()) == []


def test_a_branch_falls_back_to_python_and_says_so(samples, tmp_path, caplog):
    pytest.importorskip("pythonfmu", reason="the extra 'fmu' is not installed")
    built = build_block(samples.Branching, tmp_path)
    assert built.path.is_file()
    assert "branches on a value" in caplog.text
    assert "so the FMU runs the block in Python" in caplog.text


@pytest.mark.parametrize(("name", "told"), [("Hidden", "keeps '_sum'"), ("Spelling", "String")])
def test_python_does_not_help(name, told, samples, tmp_path):
    pytest.importorskip("pythonfmu", reason="the extra 'fmu' is not installed")
    with pytest.raises(CapabilityError, match=told):
        build_block(getattr(samples, name), tmp_path, python=True)


def test_a_class_that_no_other_process_finds(tmp_path):
    pytest.importorskip("pythonfmu", reason="the extra 'fmu' is not installed")

    class Local(Bare):
        """Cannot be imported."""

    with pytest.raises(CapabilityError, match=r"Local: is defined in .* at the top of a module"):
        build_block(Local, tmp_path, python=True)
    assert build_block(Local, tmp_path, python=False).path.is_file()


def test_without_the_extra(tmp_path, monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(python_fmu, "distribution", missing)
    with pytest.raises(FmuError, match=r"needs pythonfmu 0\.7\.0, found none: pip install"):
        build_block(Bare, tmp_path, python=True)


def test_bad_places_and_values(tmp_path):
    with pytest.raises(DescriptionError, match="one file and holds one version"):
        build_block(Bare, tmp_path / "x.fmu", fmi=("2.0", "3.0"))
    with pytest.raises(UnknownNameError, match="no block 'nothing' is registered"):
        build_block("nothing", tmp_path)
    with pytest.raises(UnknownNameError, match="has no parameter or input 'z'"):
        build_block(Bare, tmp_path, values={"z": 1.0})
    with pytest.raises(DescriptionError, match="expected a Real"):
        build_block(Bare, tmp_path, values={"x": "a"})
    (tmp_path / "file").write_text("")
    with pytest.raises(FmuError, match="cannot write"):
        build_block(Bare, tmp_path / "file" / "x.fmu")
