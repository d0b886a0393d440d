"""Former names of connectors are read wherever a user writes one, with a warning."""

import logging

import numpy as np
import pytest

from orchestrator import (
    Block,
    Input,
    Output,
    Parameter,
    State,
    System,
    block,
    read_system,
    simulate,
    write_ssd,
)
from orchestrator.diagnostics import UnknownNameError
from orchestrator.experiment import read_experiment, run_experiment
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.present_names import with_present_names
from orchestrator.master import Execution, recordable
from orchestrator.simunits import resolve
from orchestrator.system.former_names import present_path
from orchestrator.system.ports import connectors


class Renamed(Block):
    load: float = Input(formerly="burden")
    total: float = Output(depends_on=(), formerly="sum")
    both: float = Output(shape=(2,), depends_on=(), formerly="pair")
    gain: float = Parameter(start=1.0, formerly="k")
    count: int = State(start=0, formerly="n")

    def step(self, t: float, h: float) -> None:
        self.count += 1
        self.total = self.total + self.gain * self.load * h
        self.both[:] = self.total, -self.total


@pytest.fixture(autouse=True)
def fresh_warnings():
    connectors.warn_of_former.cache_clear()


def pair(gain="gain", load="load", total="total"):
    return (
        System("pair")
        .add("first", block(Renamed), **{gain: 2.0, load: 3.0})
        .add("second", block(Renamed), **{gain: 1.0})
        .connect(f"first.{total}", f"second.{load}", delay="1 ms")
    )


def run(system, **options):
    return simulate(system, step="1 ms", stop="20 ms", **options)


def said(caplog):
    return [r.getMessage() for r in caplog.records if r.name.endswith(".connectors")]


def test_a_system_by_former_names_runs_bit_for_bit_as_by_the_present_ones(caplog):
    old, new = run(pair("k", "burden", "sum")), run(pair())
    assert old.names == new.names
    assert "first.total" in old.names
    np.testing.assert_array_equal(old.values, new.values)
    assert said(caplog)


def test_the_warning_says_the_new_name_once(caplog):
    with caplog.at_level(logging.WARNING):
        component = resolve(System("s").add("part", block(Renamed))).components["part"]
        assert component.connectors["k"].name == component.connector("k").name == "gain"
        assert "k" in component.connectors
        assert "k" not in list(component.connectors)
    (text,) = said(caplog)
    assert text.startswith("component 'part': 'k' is now called 'gain'; the former name is still")


def test_present_names_give_no_warning(caplog):
    run(pair())
    assert not said(caplog)


def test_values_connections_and_delays_of_a_resolved_system_take_former_names():
    system = resolve(pair()).set("second.k", 4.0)
    assert system.value("second.k") == system.value("second.gain") == 4.0
    assert "gain" not in system.unset("second.k").components["second"].values
    system = system.with_delay("first.sum", "second.burden", "2 ms")
    assert system.connections[0].delay.nominal_ns == 2_000_000
    assert not system.disconnect("first.sum", "second.burden").connections
    assert str(system.connect("second.sum", "first.burden").connections[-1]) == (
        "second.total -> first.load"
    )


def test_records_results_and_ports_take_former_names():
    system = resolve(pair())
    assert recordable(system, ["first.sum"]) == ["first.total"]
    result = run(pair(), record=["first.sum", "first.pair"])
    np.testing.assert_array_equal(result["first.sum"], result["first.total"])
    np.testing.assert_array_equal(result["first.pair[1]"], result["first.both[1]"])
    assert "first.pair[0]" in result
    assert "first.pair[2]" not in result
    with Execution(pair().set("first.load", 0.0), step="1 ms") as execution:
        execution.set("first.burden", 5.0)
        execution.step(3)
        assert execution.get("first.sum") == execution.get("first.total") != 0.0
        assert execution.get("first.k") == 2.0


def test_a_path_is_renamed_where_it_names_a_connector_and_else_left():
    components = resolve(pair()).components
    texts = {
        "first.sum": "first.total",
        "first.pair[1]": "first.both[1]",
        "first.sum -> second.burden": "first.total -> second.load",
        "first.total->second.load": "first.total->second.load",
        "other.sum": "other.sum",
        "first.*": "first.*",
        "the sum": "the sum",
        "first.sum of it": "first.sum of it",
    }
    assert {text: present_path(text, components) for text in texts} == texts


def test_a_name_that_never_was_is_still_unknown():
    with pytest.raises(UnknownNameError, match="gain"):
        resolve(pair()).components["first"].connector("gai")


def test_a_block_takes_former_names_of_parameters_and_of_saved_states():
    made = Renamed(k=3.0, burden=1.0)
    assert (made.gain, made.load) == (3.0, 1.0)
    state = made.get_state()
    assert set(state) == {"load", "total", "both", "gain", "count"}
    made.set_state({"burden": 2.0, "sum": 7.0, "pair": np.array([1.0, 2.0]), "k": 5.0, "n": 9})
    assert (made.load, made.total, made.gain, made.count) == (2.0, 7.0, 5.0, 9)
    assert made.both.tolist() == [1.0, 2.0]


def test_a_system_file_by_former_names_is_the_system_by_the_present_ones(tmp_path):
    system = System("s").add("a", block("identifier"), patience=7).add("b", block("force_guard"))
    system = resolve(system).connect("a.known", "b.known")
    write_ssd(system, tmp_path / "new.ssd")
    text = (tmp_path / "new.ssd").read_text()
    for new, old in (
        ("outliers_to_reset", "patience"),
        ("converged", "known"),
        ("nis", "surprise"),
    ):
        assert f'"{new}"' in text
        text = text.replace(f'"{new}"', f'"{old}"')
    (tmp_path / "old.ssd").write_text(text)
    old, new = (resolve(read_system(tmp_path / f"{name}.ssd")) for name in ("old", "new"))
    assert old.components == new.components
    assert old.connections == new.connections
    assert old.value("a.outliers_to_reset") == 7
    assert str(old.connections[0]) == "a.converged -> b.converged"


EXPERIMENT = """
title = "Old and new names"

[case.one]
system = "{system}"
step = "1 ms"
stop = "20 ms"
record = ["{identifier}.{nis}", "{identifier}.stiffness"]
set = {{ "{identifier}.{limit}" = 30.0 }}

[case.one.measure.nis]
kind = "peak"
signal = "{identifier}.{nis}"

[sweep.limits]
case = "one"
over = "{identifier}.{limit}"
values = [10.0, 20.0]
measures = ["nis"]

[figure.it]
kind = "time"
title = "It"

[[figure.it.panels]]
ylabel = "1"
curves = [{{ case = "one", signal = "{identifier}.{nis}", label = "it" }}]
"""
SYSTEM = """
[system]
name = "learning"

[component.identifier]
source = "block:identifier"
values = {{ {stuck} = 6, position = 0.0, velocity = 0.0, force = 0.0 }}
"""


def written(folder, **names):
    folder.mkdir()
    (folder / "system.toml").write_text(SYSTEM.format(**names))
    text = EXPERIMENT.format(system="system.toml", identifier="identifier", **names)
    (folder / "experiment.toml").write_text(text)
    return read_experiment(folder / "experiment.toml")


@pytest.mark.slow
def test_an_experiment_by_former_names_is_the_one_by_the_present_names(tmp_path, caplog):
    old = written(tmp_path / "old", nis="surprise", limit="surprise_limit", stuck="still")
    new = written(tmp_path / "new", nis="nis", limit="nis_limit", stuck="stuck_samples")
    results = [
        run_experiment(experiment, tmp_path / name, tmp_path / f"{name}-output").cases["one"].result
        for name, experiment in (("old", old), ("new", new))
    ]
    assert results[0].names == results[1].names == ("identifier.nis", "identifier.stiffness")
    np.testing.assert_array_equal(results[0].values, results[1].values)
    assert any("'surprise' is now called 'nis'" in text for text in said(caplog))
    system = resolve(System("s").add("identifier", block("identifier")))
    cases = {"one": PreparedCase("one", old.case["one"], old.defaults, system)}
    renamed, prepared = with_present_names(old, cases)
    assert renamed == new
    assert prepared["one"].case == new.case["one"]
    assert with_present_names(new, cases)[0] == new
