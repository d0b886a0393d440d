"""Enumerations are Enumeration variables with named values, in both versions of FMI."""

from __future__ import annotations

import ctypes
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fmpy import extract, fmi2, fmi3, read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from lxml import etree

from orchestrator.checks.inspection import check_fmu, fmu_info
from orchestrator.core.simunits import Fmu2Unit, read_fmu
from orchestrator.core.system import DataType
from orchestrator.export import build_model

PLANT = """package Kinds
  type Gear = enumeration(reverse, neutral, forward) "Gears";
end Kinds;
model Plant
  type Gear = enumeration(low, high);
  parameter Kinds.Gear gears[2] = {Kinds.Gear.forward, Kinds.Gear.reverse};
  parameter Gear own = Gear.high;
  parameter Gear unset;
  parameter Integer offset = 7;
  input Kinds.Gear wish;
  output Kinds.Gear gear;
  output Integer number;
  Real x(start=0, fixed=true);
equation
  gear = if x > 0.5 then gears[1] else wish;
  number = (if gear == Kinds.Gear.forward then 3 else 1) + (if own == Gear.high then offset else 0);
  der(x) = if gear == Kinds.Gear.neutral then 0 else 1;
end Plant;
"""
VERSIONS = ("2.0", "3.0")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Plant.mo").write_text(PLANT, encoding="utf-8")
    return dict(build_model("Plant", root, tmp_path_factory.mktemp("b"), fmi=VERSIONS).files)


def root_of(file: Path) -> etree._Element:
    with zipfile.ZipFile(file) as archive:
        return etree.fromstring(archive.read("modelDescription.xml"))


@pytest.mark.parametrize("version", VERSIONS)
def test_types_and_variables_of_the_description(built: dict[str, Path], version: str) -> None:
    assert validate_fmu(str(built[version])) == []
    root = root_of(built[version])
    path = ".//SimpleType[Enumeration]" if version == "2.0" else ".//EnumerationType"
    types = {
        kind.get("name"): [(item.get("value"), item.get("name")) for item in kind.iter("Item")]
        for kind in root.iterfind(path)
    }
    assert types == {
        "Gear": [("1", "low"), ("2", "high")],
        "Kinds.Gear": [("1", "reverse"), ("2", "neutral"), ("3", "forward")],
    }
    described = read_model_description(str(built[version]))
    listed = {v.name: v for v in described.modelVariables if v.type == "Enumeration"}
    arrays = {"gears[1]": "3", "gears[2]": "1"} if version == "2.0" else {"gears": "3 1"}
    assert {name: v.start for name, v in listed.items()} == {
        **arrays,
        "own": "2",
        "unset": "1",
        "wish": "1",
        "gear": None,
    }
    assert {v.declaredType.name for v in listed.values()} == {"Gear", "Kinds.Gear"}


def test_one_written_name_may_stand_for_two_types(tmp_path: Path) -> None:
    text = (
        "model A type T = enumeration(a, b); parameter T t = T.b; end A;\n"
        "model M type T = enumeration(c, d, e); parameter T t = T.e; A part; end M;\n"
    )
    (tmp_path / "M.mo").write_text(text, encoding="utf-8")
    for file in build_model("M", tmp_path, tmp_path / "b", fmi=VERSIONS).files.values():
        assert validate_fmu(str(file)) == []
        described = read_model_description(str(file))
        types = {v.name: v.declaredType for v in described.modelVariables if v.declaredType}
        assert [i.name for i in types["t"].items] == ["c", "d", "e"]
        assert [i.name for i in types["part.t"].items] == ["a", "b"]
        assert sorted(t.name for t in types.values()) == ["T", "T 2"]


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_both_versions_run_alike(built: dict[str, Path], kind: str) -> None:
    ends = []
    for version in VERSIONS:
        result = simulate_fmu(
            str(built[version]),
            fmi_type=kind,
            stop_time=1.0,
            step_size=0.125,
            output_interval=0.125,
            start_values={"wish": 1, "own": 1},
            output=["gear", "number"],
        )
        ends.append([(int(row["gear"]), int(row["number"])) for row in result])
    assert ends[0] == ends[1]
    assert ends[0][0] == (1, 1)
    assert ends[0][-1] == (3, 3)


def open_plant(file: Path, folder: Path) -> tuple[Any, dict[str, int], list[str]]:
    described = read_model_description(str(file))
    kind = fmi2.FMU2Slave if described.fmiVersion == "2.0" else fmi3.FMU3Slave
    fmu = kind(
        guid=described.guid,
        unzipDirectory=extract(str(file), str(folder)),
        modelIdentifier="Plant",
        instanceName="plant",
    )
    said: list[str] = []
    if kind is fmi2.FMU2Slave:

        def log(environment: Any, name: Any, status: int, category: Any, text: Any) -> None:
            raw = ctypes.string_at(text) if isinstance(text, int) else text
            said.append(raw.decode())

        fmu.kept = fmi2.fmi2CallbackFunctions()
        fmu.kept.logger = fmi2.fmi2CallbackLoggerTYPE(log)
        fmu.instantiate(callbacks=fmu.kept)
    else:
        fmu.instantiate(logMessage=lambda env, status, name, text: said.append(text.decode()))
    return fmu, {v.name: v.valueReference for v in described.modelVariables}, said


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("value", [0, 4, -1])
def test_a_value_without_literal_is_refused(
    built: dict[str, Path], version: str, value: int, tmp_path: Path
) -> None:
    fmu, at, said = open_plant(built[version], tmp_path)
    setter, getter = (
        (fmu.setInteger, fmu.getInteger) if version == "2.0" else (fmu.setInt64, fmu.getInt64)
    )
    setter([at["wish"]], [2])
    with pytest.raises(FMICallException):
        setter([at["wish"]], [value])
    assert f"'wish' = {value} is none of its literals: 1 reverse, 2 neutral, 3 forward" in said[-1]
    if version == "2.0":
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    assert list(getter([at["wish"]])) == [2]
    fmu.freeInstance()


def test_fmi_3_reads_and_writes_64_bits(built: dict[str, Path], tmp_path: Path) -> None:
    fmu, at, said = open_plant(built["3.0"], tmp_path)
    fmu.setInt64([at["gears"], at["wish"]], [2, 3, 2])
    fmu.setInt32([at["offset"]], [-7])
    fmu.enterInitializationMode(startTime=0.0)
    assert list(fmu.getInt64([at["wish"], at["gears"]], 3)) == [2, 2, 3]
    assert list(fmu.getInt32([at["offset"]])) == [-7]
    with pytest.raises(FMICallException):
        fmu.setInt64([at["wish"]], [2**32 + 1])  # its lower half would be a literal
    assert "'wish' = " in said[-1]
    with pytest.raises(FMICallException):
        fmu.getInt32([at["wish"]])
    assert "variable 'wish' is Enumeration, not Integer" in said[-1]
    with pytest.raises(FMICallException):
        fmu.getInt64([at["offset"]])
    assert "variable 'offset' is Integer, not Enumeration" in said[-1]
    fmu.freeInstance()


def test_a_unit_reads_it_as_an_integer(built: dict[str, Path]) -> None:
    described = read_fmu(built["2.0"]).description
    assert described.connectors["wish"].type is DataType.INTEGER
    unit = Fmu2Unit("plant", read_fmu(built["2.0"]))
    unit.set_values({"wish": 3, "offset": 10})
    unit.bind([], ["gear"])
    unit.setup(0, None)
    unit.exit_initialisation()
    assert unit.native.get_integer([read_fmu(built["2.0"]).references["number"]]) == [13]


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_inspection(built: dict[str, Path], version: str) -> None:
    results = check_fmu(built[version])
    assert [r for r in results if r.outcome == "failed"] == []
    ports = {port["name"]: port for port in fmu_info(built[version])["ports"]}
    assert ports["wish"]["literals"] == ["reverse", "neutral", "forward"]
    assert ports["offset"]["literals"] == []
