"""Start-up: imports, a chain of N FMUs until its first step, and how large systems scale.

usage: python benchmarks/startup.py [--turns N] [--sizes N ...] [--source] [--json FILE]

All times are processor time of a process of its own, in milliseconds, the least of all turns; the
contestants take turns, so that ratios hold on a machine that others use too. A chain is
fmus/build/PositionAxis.fmu, H = 1 ms, Jacobi, nothing recorded. ecos and libcosim take
part where they are installed. Modules are loaded as those of an installed package are, from
bytecode, which the first turn makes; with ``--source`` they are compiled in every turn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from runner import Benchmark

from orchestrator.core.simunits import read_fmu

ROOT = Path(__file__).resolve().parents[1]
FMU = ROOT / "fmus" / "build" / "PositionAxis.fmu"
IMPORTS = {
    "import fmpy": "import fmpy",
    "import orchestrator": "import orchestrator",
    "from orchestrator import System, simulate": "from orchestrator import System, simulate",
    "softdock --help": (
        "import sys; sys.argv = ['softdock', '--help']\n"
        "from orchestrator.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    ),
}
SOFTDOCK = """
from orchestrator import Execution, System, fmu
system, part = System("chain"), fmu(PATH)
names = [f"x{i}" for i in range(N)]
for name in names:
    system = system.add(name, part, **({} if system.components else {"position_command": 1.0}))
for a, b in zip(names, names[1:]):
    system = system.connect(f"{a}.position", f"{b}.position_command")
run = Execution(system, step="1 ms", algorithm="jacobi", record=[f"{names[-1]}.position"],
                every=10**9)
run.advance("1 ms")
"""
FMPY = """
import shutil
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
said, folder = read_model_description(PATH), extract(PATH)
place = {v.name: v.valueReference for v in said.modelVariables}
units = []
for i in range(N):
    unit = FMU2Slave(guid=said.guid, unzipDirectory=folder, instanceName=f"x{i}",
                     modelIdentifier=said.coSimulation.modelIdentifier)
    unit.instantiate()
    unit.setupExperiment(startTime=0.0)
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    units.append(unit)
units[0].setReal([place["position_command"]], [1.0])
for a, b in zip(units, units[1:]):
    b.setReal([place["position_command"]], a.getReal([place["position"]]))
for unit in units:
    unit.doStep(currentCommunicationPoint=0.0, communicationStepSize=1e-3)
    unit.terminate()
shutil.rmtree(folder)
"""
ECOS = """
import ctypes
from importlib.metadata import files
for file in files("tbb"):  # which ecospy does not find
    if file.name == "libtbb.so.12":
        ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
from ecospy import EcosLib, EcosSimulation, EcosSimulationStructure
EcosLib.set_log_level("warn")
system, names = EcosSimulationStructure(), [f"x{i}" for i in range(N)]
for name in names:
    system.add_model(name, PATH)
for a, b in zip(names, names[1:]):
    system.make_real_connection(f"{a}::position", f"{b}::position_command")
system.add_parameter_set("start", {"x0::position_command": 1.0})
run = EcosSimulation(structure=system, step_size=1e-3)
assert run.init(parameter_set="start")
run.step(1)
"""
LIBCOSIM = """
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimSlave import CosimLocalSlave
log_output_level(CosimLogLevel.ERROR)
run = CosimExecution.from_step_size(step_size=1_000_000)
units = [CosimLocalSlave(fmu_path=PATH, instance_name=f"x{i}") for i in range(N)]
numbers = [run.add_local_slave(unit) for unit in units]
for a, b in zip(numbers, numbers[1:]):
    assert run.connect_real_variables(a, POSITION, b, COMMAND) == 0
assert run.real_initial_value(numbers[0], COMMAND, 1.0)
assert run.step(1)
"""
#: By name: the program, and what must be installed for it.
CONTESTANTS = {
    "FMPy": (FMPY, "fmpy"),
    "ecos": (ECOS, "ecospy"),
    "libcosim": (LIBCOSIM, "libcosimpy"),
    "Softdock": (SOFTDOCK, "orchestrator"),
}
GROWTH = """
import time
from dataclasses import replace
from pathlib import Path
from orchestrator import System, fmu
from orchestrator.author import read_toml
from orchestrator.core.coupling import DelayMode
from orchestrator.core.master import compile_schedule
from orchestrator.core.simunits import resolve
from orchestrator.core.ssp import read_ssd, write_ssd
from orchestrator.core.system import Connection, Endpoint

part, names = fmu(PATH), [f"x{i}" for i in range(N)]
lines = tuple(
    Connection(Endpoint(a, "position"), Endpoint(b, "position_command"))
    for a, b in zip(names, names[1:])
)
parts = {n: replace(part, name=n, values={} if i else {"position_command": 1.0})
         for i, n in enumerate(names)}
ssd, toml = Path(FOLDER, "chain.ssd"), Path(FOLDER, "chain.toml")
write_ssd(System("chain", parts, lines), ssd)
text = ['[system]', 'name = "chain"']
for i, n in enumerate(names):
    text += [f"[component.{n}]", f'source = "{PATH}"']
    text += [] if i else ["values = { position_command = 1.0 }"]
text += ["[connections]", *(f'"{line}" = {{}}' for line in lines)]
toml.write_text("\\n".join(text) + "\\n")

def timed(what, call):
    before = time.process_time()
    found = call()
    print(MARK, what, 1e3 * (time.process_time() - before), sep="|")
    return found

timed("read SSD", lambda: read_ssd(ssd))
system = timed("read TOML", lambda: read_toml(toml))
system = timed("resolve", lambda: resolve(system))
timed("check", lambda: system.check())
recorded = [f"{n}.position" for n in names]
timed("compile", lambda: compile_schedule(system, "jacobi", 10**6, DelayMode.MEAN, recorded))
"""
#: Ten blocks in a row, each with N inputs and N outputs: how making a run scales with connectors.
WIDE = """
import orchestrator.core.simunits.registry as registry
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.system import System
ports = {f"u{i}": Input() for i in range(N)} | {f"y{i}": Output(depends_on=()) for i in range(N)}
body = {"__doc__": "Wide.", "__annotations__": dict.fromkeys(ports, float), **ports}
Wide = type("Wide", (Block,), body | {"step": lambda self, t, h: None})
found = registry.block_class
registry.block_class = lambda name: Wide if name == "wide" else found(name)
system = System("wide").add("b0", block("wide"), **{f"u{i}": 0.0 for i in range(N)})
for k in range(1, 10):
    system = system.add(f"b{k}", block("wide"))
    for i in range(N):
        system = system.connect(f"b{k - 1}.y{i}", f"b{k}.u{i}")
Execution(system, step="1 ms", record=())
"""
#: Of the processes; how they load modules is chosen in it.
ENVIRONMENT = dict(os.environ)
#: Before what a process says of itself.
MARK = "took"
#: Said by every process at its end: its processor time, imports and all.
TOLD = """
import time
print(MARK, "", 1e3 * time.process_time(), sep="|")
"""


def measure(code: str, **values: object) -> dict[str, float]:
    """Run a program; return the milliseconds that it says, and by ``""`` those of all of it."""
    head = "".join(f"{name} = {value!r}\n" for name, value in {"MARK": MARK, **values}.items())
    command = [sys.executable, "-c", head + code + TOLD]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    said = [line.split("|") for line in done.stdout.splitlines() if line.startswith(f"{MARK}|")]
    return {name: float(text) for _, name, text in said}


def least(turns: int, programs: dict[str, tuple[str, dict[str, object]]]) -> dict[str, float]:
    """Let programs take turns; return the least times of each, by its name and what it says."""
    found: dict[str, float] = {}
    for _ in range(turns):
        for program, (code, values) in programs.items():
            for what, taken in measure(code, **values).items():
                key = f"{program}: {what}" if what else program
                found[key] = min(taken, found.get(key, taken))
    return found


def show(
    benchmark: Benchmark, title: str, times: dict[str, float], against: dict[str, str]
) -> None:
    """Print times, and the ratio of each to the one that it is compared with."""
    rows = []
    for name, taken in times.items():
        other = times.get(against.get(name, ""))
        rows.append((name, f"{taken:.1f}", "" if other is None else f"{taken / other:.2f}"))
    benchmark.table(title, ["", "ms", "ratio"], rows)


def main() -> None:
    """Measure and print."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--turns", type=int, default=7)
    benchmark.argument("--sizes", type=int, nargs="+", default=[1, 2, 10, 50])
    benchmark.argument("--source", action="store_true", help="compile modules in every turn")
    options = benchmark.options()
    if options.quick:
        options.turns, options.sizes = 1, [1]
    with tempfile.TemporaryDirectory() as folder:
        ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)
        ENVIRONMENT["PYTHONPYCACHEPREFIX"] = folder
        if options.source:
            ENVIRONMENT["PYTHONDONTWRITEBYTECODE"] = "1"
        compare(benchmark, options)


def compare(benchmark: Benchmark, given: argparse.Namespace) -> None:
    """Let all take turns; print what they took."""
    wide = {f"{n} scalars": (WIDE, {"N": n}) for n in (125, 250, 500, 1000)}
    names = list(wide)
    show(
        benchmark,
        "Making a run of ten blocks",
        least(given.turns, wide),
        dict(pairwise(names[::-1])),
    )
    imports = least(given.turns, {name: (code, {}) for name, code in IMPORTS.items()})
    show(benchmark, "Imports, against FMPy's", imports, dict.fromkeys(imports, "import fmpy"))

    path, references = str(FMU), read_fmu(FMU).references
    ends = {"COMMAND": references["position_command"], "POSITION": references["position"]}
    there = {name: code for name, (code, module) in CONTESTANTS.items() if find_spec(module)}
    starts = least(
        given.turns,
        {
            f"{name}, N = {n}": (code, {"PATH": path, "N": n, **ends})
            for n in given.sizes
            for name, code in there.items()
        },
    )
    against = {f"{name}, N = {n}": f"FMPy, N = {n}" for n in given.sizes for name in there}
    show(benchmark, "Start-up with imports, up to the first step", starts, against)

    with tempfile.TemporaryDirectory() as folder:
        growth = least(
            max(1, given.turns // 2),
            {
                f"N = {n}": (GROWTH, {"PATH": path, "N": n, "FOLDER": folder})
                for n in (1_000, 10_000)
            },
        )
    small, large = (
        {key.partition(": ")[2]: taken for key, taken in growth.items() if key.startswith(f"{n}: ")}
        for n in ("N = 1000", "N = 10000")
    )
    sizes = ((1_000, small), (10_000, large))
    rows = {f"{what}, N = {n}": found[what] for what in small for n, found in sizes}
    against = {f"{what}, N = 10000": f"{what}, N = 1000" for what in small}
    show(benchmark, "Growth, ten times as many components", rows, against)
    benchmark.finish(imports=imports, starts=starts, growth=rows)


if __name__ == "__main__":
    main()
