"""How a component is run: what may be chosen, and what is said of a wrong choice."""

import pytest

from orchestrator import System
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.system import Component, ComponentOptions, Source


def _system():
    return System("s").add("a", Component("a", Source.parse("a.fmu")))


def test_a_system_with_options_is_another_value():
    system = _system()
    changed = system.with_options("a", interface="me", tolerance=1e-8)
    assert changed.component("a").options == ComponentOptions(interface="me", tolerance=1e-8)
    assert system.component("a").options == ComponentOptions()
    further = changed.with_options("a", solver="cvode")
    assert further.component("a").options == ComponentOptions("me", "cvode", 1e-8)


def test_only_what_differs_from_the_defaults_is_said():
    assert ComponentOptions().said() == {}
    assert ComponentOptions("me", tolerance=1e-8).said() == {
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
def test_a_wrong_value_names_component_and_option(option, value):
    with pytest.raises(DescriptionError, match=rf"component 'a': option '{option}': expected"):
        _system().with_options("a", **{option: value})


def test_an_unknown_option_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"no option 'slover'.*interface, solver, tolerance"):
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
def test_what_is_no_source(text):
    with pytest.raises(DescriptionError, match=r"expected a path that ends in \.fmu \(\./NAME"):
        Source.parse(text)
