"""FMI 3.0 arrays of Integers and Booleans, slopes of array outputs, and arrays of connectors."""

from __future__ import annotations

import ctypes
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fmpy import extract, read_model_description
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree

from orchestrator.export import build_model

COUNTERS = """model Counters
  input Integer n[3](start={1, 2, 3});
  input Boolean on[2,2];
  parameter Integer offset[3] = {10, 20, 30};
  output Integer sum[3];
  output Boolean off[2,2];
  output Real x[2](start={1, 2}, each fixed=true);
  output Real y[2];
equation
  sum = n + offset;
  off = {{not on[1,1], not on[1,2]}, {not on[2,1], not on[2,2]}};
  der(x) = -x;
  y = {2*x[1], x[1]*x[2]};
end Counters;
"""
PLUGS = """connector Pin Real v; flow Real i; end Pin;
connector Plug Pin a; Pin b[2]; end Plug;
model Load Pin p; equation p.i = p.v - 1; end Load;
model Plugs
  Pin pins[2];
  Plug plug;
  Load loads[5];
equation
  connect(pins, loads[1:2].p);
  connect(plug.a, loads[3].p);
  connect(plug.b, loads[4:5].p);
end Plugs;
"""


def build(folder: Path, name: str, text: str) -> Path:
    (folder / f"{name}.mo").write_text(text, encoding="utf-8")
    return build_model(name, folder, folder / "built", fmi=("3.0",)).path


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("counters"), "Counters", COUNTERS)


@pytest.fixture
def open_unit(counters: Path, tmp_path: Path) -> Callable[[], Any]:
    def make() -> Any:
        described = read_model_description(str(counters))
        unit = FMU3Slave(
            guid=described.guid,
            unzipDirectory=extract(str(counters), str(tmp_path)),
            modelIdentifier="Counters",
            instanceName="unit",
        )
        unit.said = []
        unit.instantiate(logMessage=lambda env, s, c, text: unit.said.append(text.decode()))
        unit.at = {v.name: v.valueReference for v in described.modelVariables}
        unit.enterInitializationMode(startTime=0.0)
        return unit

    return make


def test_integers_and_booleans(counters: Path, open_unit: Callable[[], Any]) -> None:
    assert validate_fmu(str(counters)) == []
    unit = open_unit()
    at = unit.at
    assert list(unit.getInt32([at["n"], at["offset"]], 6)) == [1, 2, 3, 10, 20, 30]
    unit.setInt32([at["n"], at["offset"]], [4, 5, 6, -1, -2, -3])
    unit.setBoolean([at["on"]], [True, False, False, True])
    assert list(unit.getInt32([at["sum"]], 3)) == [3, 3, 3]
    assert list(unit.getBoolean([at["off"]], 4)) == [False, True, True, False]
    unit.exitInitializationMode()
    unit.setInt32([at["n"]], [7, 8, 9])
    assert list(unit.getInt32([at["sum"]], 3)) == [6, 6, 6]
    for call in (
        lambda: unit.setInt32([at["n"]], [1, 2]),
        lambda: unit.getBoolean([at["on"]], 3),
        lambda: unit.setBoolean([at["n"]], [True] * 3),
    ):
        with pytest.raises(FMICallException):
            call()
    unit.freeInstance()


def test_output_derivatives_of_arrays(open_unit: Callable[[], Any]) -> None:
    unit = open_unit()
    at = unit.at
    unit.exitInitializationMode()
    unit.doStep(0.0, 0.5)
    x = list(unit.getFloat64([at["x"]], 2))
    slopes = output_slopes(unit, [at["x"], at["y"]], 4)
    assert slopes == pytest.approx([-x[0], -x[1], -2 * x[0], -2 * x[0] * x[1]], rel=1e-14)
    unit.freeInstance()


def output_slopes(unit: Any, references: list[int], count: int) -> list[float]:
    """Output derivatives of order 1; FMPy has no room for arrays here."""
    room = (ctypes.c_double * count)()
    listed = (ctypes.c_uint32 * len(references))(*references)
    orders = (ctypes.c_int32 * len(references))(*([1] * len(references)))
    unit.fmi3GetOutputDerivatives(unit.component, listed, len(references), orders, room, count)
    return list(room)


def test_arrays_of_connectors_and_nested_ones_are_terminals(tmp_path: Path) -> None:
    file = build(tmp_path, "Plugs", PLUGS)
    assert validate_fmu(str(file)) == []
    with zipfile.ZipFile(file) as archive:
        root = etree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
    found = {
        terminal.get("name"): [tuple(member.attrib.values()) for member in terminal]
        for terminal in root.find("Terminals")
    }
    variables = {v.name for v in read_model_description(str(file)).modelVariables}
    assert {member[0] for members in found.values() for member in members} <= variables
    pin = [("v", "signal"), ("i", "inflow")]
    members = [f"{place}.{name}" for place in ("a", "b[1]", "b[2]") for name, _ in pin]
    assert found == {
        "pins[1]": [(f"pins[1].{name}", name, kind) for name, kind in pin],
        "pins[2]": [(f"pins[2].{name}", name, kind) for name, kind in pin],
        "plug": [
            (f"plug.{name}", name, kind) for name, (_, kind) in zip(members, pin * 3, strict=True)
        ],
    }
