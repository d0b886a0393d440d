"""Growth rates of the delayed oscillator in other masters, from runs of the same FMUs.

No other master has a line that is late, so each gets the line as an FMU, as ``softdock export``
makes it. Both are Jacobi masters of a fixed step: all units step, then outputs go to inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

from orchestrator import System
from orchestrator.core.system import Causality, Connector, Interpolation
from orchestrator.export import DelayLine
from orchestrator.study.measure import fit_growth

STOP = 6.0
#: Who writes an output into which input, by unit and variable.
Lines = list[tuple[str, str, str, str]]


def as_fmus(system: System, step_ns: int, folder: Path) -> tuple[dict[str, Path], Lines]:
    """Return the FMUs of a system by name, lines that are late among them, and what joins them."""
    units = {name: Path(part.source.location) for name, part in system.components.items()}
    lines: Lines = []
    for number, line in enumerate(system.connections):
        a, b = line.source, line.target
        if line.delay is None:
            lines.append((a.component, a.connector, b.component, b.connector))
            continue
        signal = Connector("u", Causality.INPUT)
        late = DelayLine(signal, line.delay.nominal_ns, 0, step_ns, Interpolation.LINEAR, (0.0,))
        name = f"late_{number}"
        units[name] = folder / f"{name}.fmu"
        late.build(name, units[name])
        lines += [(a.component, a.connector, name, "u"), (name, "y", b.component, b.connector)]
    return units, lines


class Units:
    """Value references and starting values of a system's FMUs."""

    def __init__(self, system: System, units: dict[str, Path]) -> None:
        self.files = units
        self.descriptions = {n: read_model_description(str(f)) for n, f in units.items()}
        self._places = {
            name: {v.name: v.valueReference for v in description.modelVariables}
            for name, description in self.descriptions.items()
        }
        self.values = {n: dict(part.values) for n, part in system.components.items()}

    def reference(self, unit: str, variable: str) -> int:
        """Return the value reference of a variable."""
        return int(self._places[unit][variable])


def in_fmpy(units: Units, lines: Lines, h: float, watched: tuple[str, str]) -> np.ndarray:
    """Step with a loop over FMPy's units; the watched output after each step."""
    made = {}
    for name, file in units.files.items():
        description = units.descriptions[name]
        made[name] = FMU2Slave(
            guid=description.guid,
            unzipDirectory=extract(str(file)),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        made[name].instantiate()
        made[name].setupExperiment(startTime=0.0)
        for variable, value in units.values.get(name, {}).items():
            reference = [units.reference(name, variable)]
            if isinstance(value, bool):
                made[name].setBoolean(reference, [value])
            else:
                made[name].setReal(reference, [float(value)])
        made[name].enterInitializationMode()
    for unit in made.values():
        unit.exitInitializationMode()
    ends = [
        (made[a], [units.reference(a, out)], made[b], [units.reference(b, into)])
        for a, out, b, into in lines
    ]
    place = [units.reference(*watched)]
    seen = []
    for k in range(round(STOP / h)):
        for source, output, target, into in ends:
            target.setReal(into, source.getReal(output))
        for unit in made.values():
            unit.doStep(k * h, h)
        seen.append(made[watched[0]].getReal(place)[0])
    for unit in made.values():
        unit.terminate()
        unit.freeInstance()
    return np.array(seen)


def in_libcosim(
    units: Units, lines: Lines, h: float, watched: tuple[str, str], stop: float = STOP
) -> np.ndarray:
    """Step a fixed-step execution of libcosim; the watched output after each step."""
    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_step_size(step_size=round(h * 1e9))
    index = {
        name: execution.add_local_slave(CosimLocalSlave(fmu_path=str(file), instance_name=name))
        for name, file in units.files.items()
    }
    for name, values in units.values.items():
        for variable, value in values.items():
            kind = "boolean" if isinstance(value, bool) else "real"
            begin = getattr(execution, f"{kind}_initial_value")
            given = value if kind == "boolean" else float(value)
            if not begin(index[name], units.reference(name, variable), given):
                raise RuntimeError(f"libcosim refused {name}.{variable}")
    for a, out, b, into in lines:
        execution.connect_real_variables(
            index[a], units.reference(a, out), index[b], units.reference(b, into)
        )
    observer = CosimObserver.create_last_value()
    if not execution.add_observer(observer):
        raise RuntimeError("libcosim refused an observer")
    place, seen = [units.reference(*watched)], []
    for _ in range(round(stop / h)):
        if not execution.step():
            raise RuntimeError("libcosim refused a step")
        seen.append(observer.last_real_values(index[watched[0]], place)[0])
    return np.array(seen)


Master = Callable[[Units, Lines, float, tuple[str, str]], np.ndarray]
MASTERS: dict[str, Master] = {
    f"FMPy {version('fmpy')}, a loop in Python": in_fmpy,
    f"libcosim (libcosimpy {version('libcosimpy')})": in_libcosim,
}


def growth_rates(
    system: System, watched: tuple[str, str], steps_ms: tuple[float, ...]
) -> Iterator[tuple[str, list[float]]]:
    """Yield the name of each master, and the growth rates in its runs, 1/s."""
    for name, master in MASTERS.items():
        found = []
        for ms in steps_ms:
            h = ms * 1e-3
            with TemporaryDirectory() as folder:
                files, lines = as_fmus(system, round(ms * 1e6), Path(folder))
                seen = master(Units(system, files), lines, h, watched)
            times = h * np.arange(1, len(seen) + 1)
            found.append(fit_growth(times, seen, start=1.0).sigma)
        yield name, found
