"""Modelica arrays are one FMI 3.0 variable each, and the same numbers as FMI 2.0's elements."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu
from lxml import etree

from orchestrator.export import build_model

PLANT = """package Units
  type Length = Real(quantity="Length", unit="m", displayUnit="mm"); end Units;
connector Port "causal" input Real f[2](each unit="N"); output Units.Length s; end Port;
connector Flange Units.Length s; flow Real f(unit="N"); end Flange;
model Stop Flange flange; equation flange.f = flange.s - 1; end Stop;
model Plant
  parameter Real k[2,3](each min=0)={{1,2,3},{4,5,6}};
  parameter Real bound[2](min={0,-1}) = {1,2} "limits differ: elements";
  parameter Boolean on[2] = {true, false};
  parameter Units.Length start = 0.5;
  input Real u[2](start={1,2});
  output Units.Length x[2](start={1,2}, each fixed=true);
  output Real y[2,2];
  Real mixed[2](start={3,4}, fixed={true, false}) "one state, one algebraic";
  Real slow[2](start={start,4}, each fixed=true) "one start follows a parameter";
  Port port;
  Flange flange;
  Stop stop;
equation
  der(x) = {-k[1,2]*x[1]^2 + u[1], -x[2] + port.f[2]};
  y = {{x[1], u[1]*x[2]}, {k[2,3]*u[2], (if noEvent(on[1] and not on[2]) then 1 else 0)}};
  der(mixed[1]) = -mixed[1]; mixed[2] = bound[1]*x[2];
  der(slow) = -slow;
  port.s = x[1] + port.f[1];
  connect(flange, stop.flange);
end Plant;
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Plant.mo").write_text(PLANT, encoding="utf-8")
    built = build_model("Plant", root, tmp_path_factory.mktemp("b"), fmi=("2.0", "3.0"))
    return dict(built.files)


@pytest.fixture
def unit(both: dict[str, Path], tmp_path: Path) -> Iterator[Any]:
    description = read_model_description(str(both["3.0"]))
    fmu = FMU3Slave(
        guid=description.guid,
        unzipDirectory=extract(str(both["3.0"]), str(tmp_path)),
        modelIdentifier="Plant",
        instanceName="unit",
    )
    said: list[str] = []
    fmu.instantiate(logMessage=lambda env, status, category, text: said.append(text.decode()))
    fmu.said = said
    fmu.at = {v.name: v.valueReference for v in description.modelVariables}
    fmu.enterInitializationMode(startTime=0.0)
    yield fmu
    fmu.freeInstance()


def root_of(fmu: Path) -> etree._Element:
    with zipfile.ZipFile(fmu) as archive:
        return etree.fromstring(archive.read("modelDescription.xml"))


def test_description(both: dict[str, Path]) -> None:
    assert validate_fmu(str(both["2.0"])) == []
    assert validate_fmu(str(both["3.0"])) == []
    variables = {v.get("name"): v for v in root_of(both["3.0"]).find("ModelVariables")}
    shapes = {n: [d.get("start") for d in v.findall("Dimension")] for n, v in variables.items()}
    assert {n: s for n, s in shapes.items() if s} == {
        "k": ["2", "3"],
        "on": ["2"],
        "u": ["2"],
        "x": ["2"],
        "y": ["2", "2"],
        "port.f": ["2"],
        "der(x)": ["2"],
    }
    assert variables["k"].get("start") == "1.0 2.0 3.0 4.0 5.0 6.0"
    assert variables["on"].get("start") == "true false"
    assert variables["der(x)"].get("derivative") == variables["x"].get("valueReference")
    for name in ("bound", "mixed", "slow"):
        assert {f"{name}[1]", f"{name}[2]"} <= set(variables)
    assert variables["slow[1]"].get("initial") == "approx"
    assert variables["slow[2]"].get("initial") == "exact"


def test_causal_members_of_top_level_connectors_are_ports(both: dict[str, Path]) -> None:
    for version, suffix in (("2.0", "[1]"), ("3.0", "")):
        found = {v.name: v for v in read_model_description(str(both[version])).modelVariables}
        assert found[f"port.f{suffix}"].causality == "input"
        assert found["port.s"].causality == "output"
        assert found["flange.s"].causality == found["stop.flange.f"].causality == "local"


def test_terminals_are_the_connectors_of_the_model(both: dict[str, Path]) -> None:
    schema = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"
    with zipfile.ZipFile(both["3.0"]) as archive:
        root = etree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
    etree.XMLSchema(etree.parse(schema)).assertValid(root)
    found = {
        terminal.get("name"): [tuple(member.attrib.values()) for member in terminal]
        for terminal in root.find("Terminals")
    }
    assert found == {
        "port": [("port.f", "f", "signal"), ("port.s", "s", "signal")],
        "flange": [("flange.s", "s", "signal"), ("flange.f", "f", "inflow")],
    }


def test_dependencies_are_the_union_over_the_elements(both: dict[str, Path]) -> None:
    root = root_of(both["3.0"])
    names = {v.get("valueReference"): v.get("name") for v in root.find("ModelVariables")}
    structure = {
        (u.tag, names[u.get("valueReference")]): dict(
            zip(
                [names[known] for known in u.get("dependencies").split()],
                u.get("dependenciesKind").split(),
                strict=True,
            )
        )
        for u in root.find("ModelStructure")
    }
    assert structure["ContinuousStateDerivative", "der(x)"] == {
        "u": "constant",
        "x": "dependent",
        "port.f": "constant",
    }
    assert structure["Output", "y"] == {"u": "dependent", "x": "dependent"}
    assert structure["Output", "port.s"] == {"x": "constant", "port.f": "constant"}
    assert "k" in structure["InitialUnknown", "der(x)"]


def test_types_and_units(both: dict[str, Path]) -> None:
    for version in ("2.0", "3.0"):
        root = root_of(both[version])
        (length,) = [t for t in root.find("TypeDefinitions") if t.get("name") == "Units.Length"]
        described = length[0] if version == "2.0" else length
        assert (
            dict(described.attrib).items()
            >= {
                "quantity": "Length",
                "unit": "m",
                "displayUnit": "mm",
            }.items()
        )
        units = {u.get("name"): u for u in root.find("UnitDefinitions")}
        assert units["m"].find("DisplayUnit").attrib["factor"] == "1000.0"
        assert dict(units["m/s"].find("BaseUnit").attrib) == {"m": "1", "s": "-1"}
        variables = {v.name: v for v in read_model_description(str(both[version])).modelVariables}
        slope = variables["der(x)" if version == "3.0" else "der(x[1])"]
        assert slope.unit == "m/s"
        assert variables["port.s"].declaredType.name == "Units.Length"


def test_all_elements_at_once(unit: Any) -> None:
    at = unit.at
    unit.setFloat64([at["k"], at["u"], at["start"]], [1, 2, 3, 4, 5, 7, 0.25, 0.5, 0.75])
    unit.setBoolean([at["on"]], [True, True])
    unit.exitInitializationMode()
    assert list(unit.getFloat64([at["k"]], 6)) == [1, 2, 3, 4, 5, 7]
    assert list(unit.getFloat64([at["y"], at["port.s"]], 5)) == [1, 0.5, 3.5, 0, 1]
    assert list(unit.getBoolean([at["on"]], 2)) == [True, True]
    assert list(unit.getFloat64([at["slow[1]"], at["der(x)"]], 3)) == [0.75, -1.75, -2]


def test_wrong_sizes_and_references_are_refused(unit: Any) -> None:
    at = unit.at
    for call, pattern in (
        (lambda: unit.setFloat64([at["u"]], [1.0]), "1 values for 1 variables of 2 elements"),
        (lambda: unit.getFloat64([at["k"]], 5), "5 values for 1 variables of 6 elements"),
        (lambda: unit.getFloat64([at["k"] + 1], 1), "no variable has the value reference"),
        (lambda: unit.setFloat64([at["k"]], [1, 2, 3, -4, 5, 6]), "'k[2,1]' = -4 is outside"),
        (lambda: unit.getBoolean([at["k"]], 6), "'k[1,1]' is Real, not Boolean"),
        (lambda: unit.getDirectionalDerivative([at["y"] + 1], [at["u"]], [1, 1]), "reference"),
    ):
        with pytest.raises(FMICallException):
            call()
        assert pattern in unit.said[-1]


def jacobian(unit: Any, unknowns: list[int], rows: int, known: int) -> np.ndarray[Any, Any]:
    seeds = np.eye(2)
    columns = [unit.getDirectionalDerivative(unknowns, [known], seed, rows) for seed in seeds]
    return np.array(columns).T


def test_derivatives_with_array_seeds(unit: Any) -> None:
    at = unit.at
    unit.exitInitializationMode()
    unknowns = [at["der(x)"], at["y"]]
    forward = np.hstack([jacobian(unit, unknowns, 6, at[name]) for name in ("x", "u")])
    np.testing.assert_array_equal(
        forward,
        [
            [-4, 0, 1, 0],
            [0, -1, 0, 0],
            [1, 0, 0, 0],
            [0, 1, 2, 0],
            [0, 0, 0, 6],
            [0, 0, 0, 0],
        ],
    )
    backward = [
        unit.getAdjointDerivative(unknowns, [at["x"], at["u"]], seed, 4) for seed in np.eye(6)
    ]
    np.testing.assert_array_equal(backward, forward)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_same_bits_as_the_elements_of_fmi_2(both: dict[str, Path], kind: str) -> None:
    options: dict[str, Any] = {"stop_time": 1.0, "output_interval": 0.1, "fmi_type": kind}
    second = simulate_fmu(str(both["2.0"]), output=["x[1]", "x[2]", "y[1,2]", "slow[1]"], **options)
    third = simulate_fmu(str(both["3.0"]), output=["x", "y", "slow[1]"], **options)
    np.testing.assert_array_equal(third["x"][:, 0], second["x[1]"])
    np.testing.assert_array_equal(third["x"][:, 1], second["x[2]"])
    np.testing.assert_array_equal(third["y"][:, 0, 1], second["y[1,2]"])
    np.testing.assert_array_equal(third["slow[1]"], second["slow[1]"])
    assert np.ptp(third["x"][:, 0]) > 0.01
