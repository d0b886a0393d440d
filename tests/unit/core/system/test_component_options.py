"""How a component is run: what may be chosen, and what is said of a wrong choice."""

from pathlib import Path

import pytest

from orchestrator import System
from orchestrator.author import read_toml, write_toml
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.ssp import read_ssd, write_ssd
from orchestrator.core.system import Component, ComponentOptions, Source
from orchestrator.core.system.component import OPTIONS
from orchestrator.study.experiment import UnitTable

_PAGE = Path(__file__).parents[4] / "docs/reference/options.md"
#: A value of each kind that is no default.
_VALUES = {"name": "plant", "number": 1e-8, "count": 3, "flag": True, "time": "500 ms"}
_CASES = [
    (option, value)
    for option, codec in OPTIONS.items()
    for value in codec.words or (_VALUES[codec.kind],)
]


def _system():
    return System("s").add("a", Component("a", Source.parse("a.fmu")))


def test_every_option_has_a_codec_a_key_and_a_row():
    assert [*OPTIONS] == [*ComponentOptions.__struct_fields__]
    assert {*OPTIONS} == {*UnitTable.model_fields}
    rows = {
        line.split("|")[1].strip(" `"): line
        for line in _PAGE.read_text().splitlines()
        if "|" in line
    }
    for option, codec in OPTIONS.items():
        assert all(f'`"{word}"`' in rows[option] for word in codec.words)


@pytest.mark.parametrize(("option", "value"), _CASES)
def test_files_keep_an_option(option, value, tmp_path):
    system = _system().with_options("a", **{option: value})
    write_ssd(system, tmp_path / "s.ssd")
    write_toml(system, tmp_path / "s.toml")
    for copy in (read_ssd(tmp_path / "s.ssd"), read_toml(tmp_path / "s.toml")):
        assert copy.component("a").options == system.component("a").options


def test_a_system_with_options_is_another_value():
    system = _system()
    changed = system.with_options("a", interface="me", tolerance=1e-8)
    assert changed.component("a").options == ComponentOptions(interface="me", tolerance=1e-8)
    assert system.component("a").options == ComponentOptions()
    further = changed.with_options("a", solver="cvode")
    assert further.component("a").options == ComponentOptions("me", "cvode", 1e-8)


def test_only_what_differs_from_the_defaults_is_said():
    assert ComponentOptions().differing_texts() == {}
    assert ComponentOptions("me", tolerance=1e-8).differing_texts() == {
        "interface": "me",
        "tolerance": "1e-08",
    }


def test_where_a_unit_runs_changes_no_numbers():
    options = ComponentOptions(isolation="process", process="plant", tolerance=1e-8)
    assert options.numerical() == {"tolerance": "1e-08"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("interface", "se"),
        ("solver", "euler"),
        ("tolerance", 0.0),
        ("tolerance", 1.0),
        ("tolerance", float("nan")),
        ("tolerance", True),
        ("tolerance", "1e-6"),
        ("backend", None),
        ("isolation", "maybe"),
        ("process", ""),
        ("process", 1),
    ],
)
def test_a_wrong_value_names_component_and_option(option, value, wording):
    with wording.raises(DescriptionError):
        _system().with_options("a", **{option: value})


def test_an_unknown_option_lists_the_known_ones(wording):
    with wording.raises(UnknownNameError):
        _system().with_options("a", slover="cvode")


def test_all_wrong_values_are_told_together():
    with pytest.raises(DescriptionError) as caught:
        ComponentOptions(interface="x", solver="y")
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("text", ["a.FMU", "models/a.Fmu", "./plant", "models/plant"])
def test_paths_of_fmus(text):
    assert Source.parse(text).file is not None
    assert Source.parse(text).location == text


@pytest.mark.parametrize("text", ["plant", "plant.zip", "models/plant.toml", "blok:plant"])
def test_what_is_no_source(text, wording):
    with wording.raises(DescriptionError):
        Source.parse(text)
