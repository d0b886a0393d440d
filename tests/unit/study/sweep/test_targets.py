"""What an axis changes, without running anything."""

from dataclasses import replace

import pytest

from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    System,
)
from orchestrator.study.experiment import Case, RunOptions
from orchestrator.study.figure_tables import Axis
from orchestrator.study.prepare.axes import applied, between, label_of, point_at, points_of
from orchestrator.study.prepare.prepared_case import PreparedCase

_NEWTON = {"kg": 1, "m": 1, "s": -2}


def connector(name, causality=Causality.PARAMETER, **rest):
    return Connector(name, causality, **rest)


def variant(**case):
    spring = Component(
        "spring",
        Source.parse("block:spring_dashpot"),
        {
            "k": connector("k", unit="N/m", start=100.0),
            "vector": connector("vector", unit="N", shape=(2,), start=(1.0, 2.0)),
            "count": connector("count", type=DataType.INTEGER, start=3),
            "on": connector("on", type=DataType.BOOLEAN, start=True),
            "force0": connector("force0", unit="N", start=5.0),
            "force": connector("force", Causality.OUTPUT, unit="N"),
            "u": connector("u", Causality.INPUT, unit="N"),
        },
    )
    system = System("s", {"spring": spring}).connect("spring.force", "spring.u", delay="2 ms")
    return PreparedCase("s", Case(system="s", **case), RunOptions(step="1 ms"), system)


def value(path, there):
    return there.system.value(f"spring.{path}")


def test_units_are_converted(wording):
    axis = Axis(set=("spring.k",), unit="kN/m", values=(2.5,))
    assert value("k", applied(axis, 2.5, variant())) == 2500.0
    assert label_of("stiffness", axis) == "stiffness [kN/m]"
    with wording.raises(UnitMismatchError):
        applied(Axis(set=("spring.k",), unit="N"), 2.5, variant())


def test_units_are_converted_to_those_of_the_systems_own_connectors(wording):
    there = variant()
    own = {
        "reach": connector("reach", unit="m"),
        "count": connector("count", type=DataType.INTEGER),
    }
    there = replace(there, system=replace(there.system, connectors=own))
    assert applied(Axis(set=("reach",), unit="mm"), 5.0, there).system.values["reach"] == 0.005
    assert type(applied(Axis(set=("count",)), 4.0, there).system.values["count"]) is int
    with wording.raises(UnitMismatchError):
        applied(Axis(set=("reach",), unit="N"), 5.0, there)


def test_units_that_a_file_defines_are_converted_by_the_definition():
    there = variant()
    lever = connector("lever", unit="lever", unit_definition=BaseUnit({"m": 1}, 0.25), start=1.0)
    odd = connector("odd", unit="mm", unit_definition=BaseUnit({"m": 1}), start=1.0)
    spring = there.system.components["spring"]
    spring = replace(spring, connectors={**spring.connectors, "lever": lever, "odd": odd})
    there = replace(there, system=replace(there.system, components={"spring": spring}))
    assert value("lever", applied(Axis(set=("spring.lever",), unit="m"), 2.0, there)) == 8.0
    assert value("odd", applied(Axis(set=("spring.odd",), unit="m"), 2.0, there)) == 2.0
    assert value("odd", applied(Axis(set=("spring.odd",), unit="mm"), 2.0, there)) == 2.0


def test_a_fault_is_in_the_unit_that_a_file_defines():
    noise = {"kind": "noise", "on": "spring.force", "from": 0, "sigma": 1.0}
    there = variant(fault={"n": noise})
    output = connector("force", Causality.OUTPUT, unit="mN", unit_definition=BaseUnit(_NEWTON))
    spring = there.system.components["spring"]
    spring = replace(spring, connectors={**spring.connectors, "force": output})
    there = replace(there, system=replace(there.system, components={"spring": spring}))
    changed = applied(Axis(fault=("n.sigma",), unit="N"), 2.0, there)
    assert changed.case.fault["n"].sigma == 2.0


def test_sigma_of_a_noise_is_converted_to_the_unit_of_the_output():
    noise = {"kind": "noise", "on": "spring.force", "from": 0, "sigma": 1.0}
    axis = Axis(fault=("n.sigma",), unit="mN")
    there = applied(axis, 250.0, variant(fault={"n": noise}))
    assert there.case.fault["n"].sigma == 0.25
    doubled = applied(Axis(fault=("n.sigma",), scale=True), 3.0, variant(fault={"n": noise}))
    assert doubled.case.fault["n"].sigma == 3.0


def test_a_unit_of_a_drift_is_refused_since_it_is_not_converted(wording):
    drift = {"kind": "drift", "on": "spring.force", "from": 0, "rate": 1.0}
    assert (
        applied(Axis(fault=("d.rate",)), 2.0, variant(fault={"d": drift})).case.fault["d"].rate
        == 2.0
    )
    with wording.raises(DescriptionError):
        applied(Axis(fault=("d.rate",), unit="mN/s"), 250.0, variant(fault={"d": drift}))


def test_factors_of_what_a_case_has(wording):
    axis = Axis(set=("spring.k", "spring.vector"), scale=True)
    there = applied(axis, 2.0, variant())
    assert value("k", there) == 200.0
    assert value("vector", there) == (2.0, 4.0)
    assert applied(Axis(step=True, scale=True), 0.5, variant()).options.step == "500000 ns"
    line = "spring.force -> spring.u"
    (connection,) = applied(Axis(delay=(line,), scale=True), 1.5, variant()).system.connections
    assert connection.delay.nominal_ns == 3_000_000
    with wording.raises(DescriptionError):
        applied(Axis(set=("spring.on",), scale=True), 2.0, variant())


def test_what_is_proportional_keeps_its_ratio():
    axis = Axis(set=("spring.k",), proportional=("spring.force0", "spring.vector"), unit="kN/m")
    there = applied(axis, 0.4, variant())
    assert [value("k", there), value("force0", there)] == [400.0, 20.0]
    assert value("vector", there) == (4.0, 8.0)


@pytest.mark.parametrize(
    ("path", "given", "expected"),
    [("count", 4.0, 4), ("count", 7, 7), ("on", False, False), ("k", 7, 7), ("vector", "x", None)],
)
def test_values_become_what_the_connector_takes(path, given, expected, wording):
    axis = Axis(set=(f"spring.{path}",))
    if expected is None:
        with wording.raises(DescriptionError):
            applied(axis, given, variant())
    else:
        found = value(path, applied(axis, given, variant()))
        assert found == expected
        assert type(found) is type(expected)


def test_options_and_rates(wording):
    there = applied(Axis(option="iterations"), 4, variant())
    assert there.options.algorithm_options == {"iterations": 4}
    assert applied(Axis(rate=("spring",)), 5.0, variant()).options.rates == {"spring": 5}
    with wording.raises(DescriptionError):
        applied(Axis(rate=("spring",)), 0.5, variant())


def test_times_are_whole_nanoseconds_and_shown_in_the_unit():
    axis = Axis(**{"step": True, "from": "1 ms", "to": "2 ms", "count": 4})
    assert [p.value for p in points_of(axis)] == [
        "1000000 ns", "1333333 ns", "1666667 ns", "2000000 ns",
    ]  # fmt: skip
    assert [p.label for p in points_of(axis)] == [1.0, 1.333333, 1.666667, 2.0]
    assert point_at(Axis(step=True, unit="us"), 0.002).label == 2000.0


def test_numbers_of_a_range_are_those_that_people_mean():
    axis = Axis(**{"set": ("spring.k",), "from": 0.1, "to": 0.5, "count": 5})
    assert [p.value for p in points_of(axis)] == [0.1, 0.2, 0.3, 0.4, 0.5]
    axis = Axis(**{"set": ("spring.k",), "from": 1, "to": 1000, "count": 4, "spacing": "log"})
    assert [p.value for p in points_of(axis)] == [1.0, 10.0, 100.0, 1000.0]


def test_shares_of_a_list_are_its_values():
    axis = Axis(set=("spring.k",), values=(1.0, 2.0, 3.0))
    assert [between(axis, share).value for share in (0.0, 0.34, 0.99, 1.0)] == [1.0, 2.0, 3.0, 3.0]
