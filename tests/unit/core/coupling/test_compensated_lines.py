"""What is said about compensated lines: files, drawings, checkpoints, refusals."""

from __future__ import annotations

import pytest

from orchestrator import Compensation, Execution, Fault, System, block, read_system, write_ssd
from orchestrator.author import write_toml
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, LoadError, SspError
from orchestrator.pictures.drawing.facts import wire_label

pytestmark = pytest.mark.usefixtures("sample_blocks")


def system(**line):
    made = System("s").add("source", block("source")).add("gain", block("gain"))
    return made.connect("source.y", "gain.u", **line)


@pytest.mark.parametrize("way", list(Compensation))
@pytest.mark.parametrize("name", ["system.toml", "SystemStructure.ssd"])
def test_a_file_keeps_it(name, way, tmp_path):
    made, path = system(compensation=way), tmp_path / name
    if path.suffix == ".toml":
        write_toml(made, path)
    else:
        write_ssd(made, path)
    assert read_system(path).connections == made.connections


def test_an_unknown_one_in_a_file_is_told_with_what_there_is(tmp_path, wording):
    write_ssd(system(compensation="nepce"), tmp_path / "SystemStructure.ssd")
    text = (tmp_path / "SystemStructure.ssd").read_text(encoding="utf-8")
    (tmp_path / "wrong.ssd").write_text(text.replace('"nepce"', '"napce"'), encoding="utf-8")
    with wording.raises(
        (SspError, LoadError), code="SSP115", place="connection source.y -> gain.u"
    ):
        read_system(tmp_path / "wrong.ssd")


def test_an_unknown_one_is_told_with_what_there_is(wording):
    with wording.raises(DescriptionError):
        system(compensation="napce")


@pytest.mark.parametrize(
    "line",
    [
        {"delay": "3 ms"},
        {"extrapolation": "smoothed"},
    ],
)
def test_what_does_not_go_with_nepce(line, wording):
    with wording.raises(DescriptionError):
        system(compensation="nepce", **line)


def test_energy_goes_with_held_lines_only(wording):
    with wording.raises(DescriptionError):
        system(compensation="energy", extrapolation="linear")


def test_numbers_that_have_nothing_between_them(wording):
    made = System("s").add("a", block("typed"), flag=True).add("b", block("typed"), flag=True)
    made = made.connect("a.m", "b.n", compensation="nepce")
    with wording.raises(DescriptionError):
        Execution(made, step="1 ms")


def test_a_drawing_has_it_on_the_line():
    (line,) = system(compensation="nepce").connections
    assert wire_label(line, None, None) == "nepce"


def test_a_system_in_a_system_keeps_it():
    (line,) = System("outer").add("inner", system(compensation="nepce")).flat().connections
    assert line.compensation is Compensation.NEPCE


def test_a_checkpoint_without_it_does_not_fit(wording):
    with Execution(system(), step="1 ms") as one:
        one.step()
        kept = one.save()
    with (
        Execution(system(compensation="nepce"), step="1 ms") as other,
        wording.raises(LoadError),
    ):
        other.restore(kept)


def test_faults_do_not_act_where_they_would_be_made_up_for(wording):
    fault = Fault.of("drop", "source.y", 1)
    with wording.raises((DescriptionError, CapabilityError)):
        Execution(system(compensation="nepce"), step="1 ms", faults=[fault])
