"""Sound files to begin with."""

import json
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from corpus.models import CASES

from fuzz.mutations import damaged, damaged_json, zipped
from orchestrator.core.coupling import FaultRecord
from orchestrator.core.recording import Result
from orchestrator.core.simunits import Notice, block
from orchestrator.core.ssp import apply_parameter_set
from orchestrator.core.system import System
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten_place
from orchestrator.export.modelica.source.class_place import place_in_file
from orchestrator.pictures.animation.description import with_scenes

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
SIGNAL = "time [s],force [N]\n0,0.0\n0.5,1.5\n1.0,-2e-3\n"
TRACE = "time,delay\n0,0.016\n0.5 s,20 ms\n1,\n"
_RECORD = {
    "key": "0a1b",
    "case": "a",
    "at": {"mass": 1.5, "on": True, "law": "pi"},
    "seed": 3,
    "status": "done",
    "reason": "",
    "wall_s": 0.25,
    "measures": {"growth": {"value": 1.02, "unit": "1", "frequency_hz": None}},
}
RECORDING = "time [s],plant.speed [m/s],plant.position [m]\n0,1.5,0\n0.1,1.25,0.2\n"

TRACKS = (
    "time_s,response,delay_s,delay_low_s,delay_high_s,gain,gain_low,gain_high,delay_margin_s,"
    "gain_margin,score,samples,changes\r\n0.0,robot.x,,,,,,,,,0,0,0\r\n"
    "4.0,robot.x,0.016,0.0159,0.0161,1,0.9,1.1,0.01,2,0.5,1000,0\r\n"
)
STORE = "\n".join(json.dumps({**_RECORD, "key": f"0a1b{i}"}) for i in range(3)) + "\n"
SYSTEM = """[system]
name = "s"
description = "a rig"
[experiment]
start = 0.0
stop = "1 s"
step = "1 ms"
algorithm = "gauss-seidel"
[connectors]
push = { causality = "input", unit = "m", description = "wanted" }
[values]
push = 0.0
[component.lag]
source = "block:differentiator"
options = { isolation = "process", step_timeout = "500 ms" }
[nested.brake]
description = "inside"
[nested.brake.connectors]
speed = { causality = "input", unit = "m/s" }
force = { causality = "output", unit = "N" }
[nested.brake.component.damper]
source = "block:virtual_damper"
values = { b = 60.0 }
[nested.brake.connections]
"speed -> damper.velocity" = {}
"damper.force -> force" = {}
[connections]
"push -> lag.position" = {}
"lag.velocity -> brake.speed" = { delay = "5 ms", interpolation = "linear" }
"""
_COMMON = 'xmlns:{0}="http://ssp-standard.org/SSP1/{1}" version="1.0"'
SSV = f"""<?xml version="1.0" encoding="UTF-8"?>
<ssv:ParameterSet {_COMMON.format("ssv", "SystemStructureParameterValues")} name="p">
<ssv:Parameters><ssv:Parameter name="spring.k"><ssv:Real value="3.5" unit="N/m"/></ssv:Parameter>
<ssv:Parameter name="spring.latched"><ssv:Boolean value="true"/></ssv:Parameter></ssv:Parameters>
<ssv:Units><ssc:Unit xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" name="N/m">
<ssc:BaseUnit kg="1" s="-2"/></ssc:Unit></ssv:Units>
</ssv:ParameterSet>
"""
SSM = f"""<?xml version="1.0" encoding="UTF-8"?>
<ssm:ParameterMapping {_COMMON.format("ssm", "SystemStructureParameterMapping")}>
<ssm:MappingEntry source="spring.k" target="spring.k">
<ssc:LinearTransformation factor="2"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"/>
</ssm:MappingEntry></ssm:ParameterMapping>
"""
FMU2 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="m" guid="{m}">
<CoSimulation modelIdentifier="m" canGetAndSetFMUstate="true" maxOutputDerivativeOrder="1"/>
<UnitDefinitions><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit></UnitDefinitions>
<TypeDefinitions><SimpleType name="Law"><Enumeration><Item name="pi" value="1"/></Enumeration>
</SimpleType></TypeDefinitions>
<DefaultExperiment startTime="0" stopTime="1" stepSize="1e-3" tolerance="1e-6"/>
<ModelVariables>
<ScalarVariable name="u" valueReference="0" causality="input"><Real start="0" unit="mm"/>
</ScalarVariable>
<ScalarVariable name="y[1]" valueReference="1" causality="output" initial="exact"><Real start="0"/>
</ScalarVariable>
<ScalarVariable name="law" valueReference="2" causality="parameter" variability="fixed">
<Enumeration declaredType="Law" start="1"/></ScalarVariable>
<ScalarVariable name="n" valueReference="0" causality="parameter" variability="fixed">
<Integer start="4"/></ScalarVariable></ModelVariables>
<ModelStructure><Outputs><Unknown index="2" dependencies="1"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def result() -> Result:
    """Return a small result with all that is read back."""
    return Result(
        "a",
        np.arange(5) * 1_000_000,
        ("body.x", "body.v"),
        np.arange(10.0).reshape(5, 2),
        units={"body.x": "m"},
        step_ns=1_000_000,
        algorithm="jacobi",
        delay_mode="mean",
        faults=(FaultRecord("drop", ("a -> b",), 0, None, "lost"),),
        notices=(Notice(2_000_000, "stopped", safe=True),),
    )


def signal(path: Path) -> None:
    """Write a played signal as Parquet."""
    fields = [
        pa.field("time", pa.float64()),
        pa.field("force", pa.float64(), metadata={"unit": "N"}),
    ]
    arrays = [pa.array([0.0, 0.5, 1.0]), pa.array([1.0, 2.0, 3.0])]
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"x": "y"})), path
    )


def damaged_store(content: bytes, chance: Random) -> bytes:
    """Change one record, or the file."""
    if chance.random() < 0.3:
        return damaged(content, chance)
    lines = content.splitlines()
    at = chance.randrange(len(lines))
    lines[at] = damaged_json(lines[at], chance)
    return b"\n".join(lines) + b"\n"


@cache
def fmu(version: int) -> bytes:
    """Return an FMU without a binary."""
    names = {1: "slave1.xml", 3: "clock3.xml"}
    text = (
        (FIXTURES / "c_fmus" / names[version]).read_bytes() if version in names else FMU2.encode()
    )
    terminals = (
        b'<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals><Terminal name="t" matchingRule="plug"'
        b' terminalKind="k"><TerminalMemberVariable variableName="y" variableKind="signal"/>'
        b"</Terminal></Terminals></fmiTerminalsAndIcons>"
    )
    return zipped(
        [
            ("modelDescription.xml", text),
            ("terminalsAndIcons/terminalsAndIcons.xml", terminals),
            ("extra/softdock/build.json", b'{"key": "ab"}'),
            ("resources/table.txt", b"1 2\n"),
        ]
    )


def ssd() -> bytes:
    """Return an .ssd with something of everything."""
    return (FIXTURES / "ssp" / "whole.ssd").read_bytes()


@cache
def ssp() -> bytes:
    """Return an archive of that and a parameter set."""
    return zipped([("SystemStructure.ssd", ssd()), ("resources/p.ssv", SSV.encode())])


def experiment() -> bytes:
    """Return an experiment."""
    return (ROOT / "examples" / "famdc" / "faults.toml").read_bytes()


def sweep() -> bytes:
    """Return an experiment with sweeps."""
    return (ROOT / "examples" / "famdc" / "maps.toml").read_bytes()


def scene() -> bytes:
    """Return a scene."""
    return (ROOT / "examples" / "famdc" / "rig.scene.toml").read_bytes()


def recipe() -> bytes:
    """Return a recipe of an FMU."""
    return (ROOT / "fmus" / "BouncingBall.toml").read_bytes()


@cache
def _models() -> list[bytes]:
    return [case.text.encode() for case in CASES.values()]


def modelica() -> bytes:
    """Return a model."""
    return (ROOT / "benchmarks" / "Sine.mo").read_bytes()


def damaged_modelica(_content: bytes, chance: Random) -> bytes:
    """Change one of the models of the corpus."""
    return damaged(chance.choice(_models()), chance)


def read_modelica(path: Path) -> None:
    """Make the equations of a model, as ``softdock build`` does."""
    make_explicit(read(flatten_place(place_in_file(path, None, ()))))


def read_scene(path: Path) -> None:
    """Read a scene as an experiment does."""
    with_scenes({"scene": [path.name]}, path.parent)


@cache
def _springs() -> System:
    return System("s").add("spring", block("spring_dashpot"))


def apply_values(path: Path) -> None:
    """Apply a parameter set."""
    apply_parameter_set(_springs(), path)


def apply_mapping(path: Path) -> None:
    """Apply a parameter set by a mapping."""
    apply_parameter_set(_springs(), SSV.encode(), path)
