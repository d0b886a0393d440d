"""An exported system inside of a system, and that exported again."""

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.core.simunits import fmu
from orchestrator.core.system import Causality, Connector, System
from orchestrator.export.system import export_system
from orchestrator.study import simulate


def wrapped(path, name):
    """A system of one component, whose connectors it passes on."""
    own = {
        "push": Connector("push", Causality.INPUT, unit="N", start=0.0),
        "position": Connector("position", Causality.OUTPUT, unit="m"),
    }
    return (
        System(name, connectors=own)
        .add("it", fmu(path))
        .connect("push", "it.push")
        .connect("it.position", "position")
    )


@pytest.mark.parametrize("versions", [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_two_levels_deep(driven, tmp_path, versions):
    inner = driven()
    one = export_system(inner, tmp_path / "one.fmu", fmi=versions[0], step="1 ms")
    two = export_system(wrapped(one, "two"), tmp_path / "two.fmu", fmi=versions[1], step="1 ms")
    three = export_system(wrapped(two, "three"), tmp_path / "three.fmu", step="1 ms")
    flat = simulate(replace(inner, values={"push": 12.0}), step="1 ms", stop="0.3 s")
    expected = flat.values[:, flat.names.index("chaser.position")]
    for path in (one, two, three):
        system = System("outer").add("it", fmu(path), push=12.0)
        result = simulate(system, step="1 ms", stop="0.3 s")
        values = result.values[:, result.names.index("it.position")]
        np.testing.assert_array_equal(values, expected)
    assert abs(expected[-1] - expected[0]) > 1e-3


def test_several_instances_of_one_export_in_a_system(driven, tmp_path):
    path = export_system(driven(), tmp_path / "one.fmu", step="1 ms")
    names = ("a", "b", "c")
    system = System("outer")
    for number, name in enumerate(names):
        system = system.add(name, fmu(path), push=10.0 * number)
    together = simulate(system, step="1 ms", stop="0.2 s")
    for number, name in enumerate(names):
        alone = simulate(
            System("outer").add(name, fmu(path), push=10.0 * number), step="1 ms", stop="0.2 s"
        )
        for column, signal in enumerate(alone.names):
            np.testing.assert_array_equal(
                together.values[:, together.names.index(signal)], alone.values[:, column]
            )


def test_the_own_step_of_an_export_is_kept_by_the_outer_system(driven, tmp_path):
    """FMI 3.0 can say it: a communication step that is no multiple is refused before the start."""
    path = export_system(driven(), tmp_path / "one.fmu", fmi=3, step="1 ms")
    system = System("outer").add("it", fmu(path), push=0.0)
    with pytest.raises(Exception, match=r"'it' takes whole multiples of 0\.001 s"):
        simulate(system, step="1.5 ms", stop="0.3 s")
    result = simulate(system, step="1 ms", stop="0.3 s")
    coarse = simulate(system, step="5 ms", stop="0.3 s")
    np.testing.assert_array_equal(coarse.values, result.values[::5])
