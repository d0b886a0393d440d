"""Systems to export, and the comparison of an exported one with the system itself."""

from dataclasses import dataclass, replace

import fmpy
import numpy as np
import pytest
from fmpy import simulate_fmu
from fmpy.validation import validate_fmu
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator.core.master import Execution
from orchestrator.core.system import Causality, Connector, DataType, nanoseconds, seconds
from orchestrator.export.system import export_system


@dataclass
class Compared:
    """Largest difference of any signal at any time, and how many rows and signals there were."""

    difference: float
    rows: int
    signals: int
    largest: float


@pytest.fixture(scope="session")
def capture(plants):
    """A body that meets a sheet; ``capture(delay=..)`` puts a delay into their loop."""

    def make(*, delay="16 ms", **options):
        body = plant(plants, "Chaser", m=750.0, v0=0.05, **UNPUSHED)
        sheet = plant(plants, "Compliance", k=2510.0, d=20.0, latched=True, **GROUND)
        position = {"delay": delay, **options}
        return body_at_contact(
            body, sheet, name="capture", names=("chaser", "sheet"), motion=position, velocity={}
        )

    return make


@pytest.fixture(scope="session")
def driven(capture):
    """The same with connectors of its own: a force that goes in, a position that comes out."""

    def make(*, delay="16 ms", incoming=None, outgoing=None):
        system = replace(
            capture(delay=delay),
            name="driven",
            connectors={
                "push": Connector("push", Causality.INPUT, DataType.REAL, "N", start=0.0),
                "position": Connector("position", Causality.OUTPUT, DataType.REAL, "m"),
            },
        )
        chaser = system.components["chaser"]
        values = {name: value for name, value in chaser.values.items() if name != "thrust"}
        system = system.replace(replace(chaser, values=values))
        return system.connect("push", "chaser.thrust", delay=incoming).connect(
            "chaser.position", "position", delay=outgoing
        )

    return make


@pytest.fixture
def compare(tmp_path):
    """Run a system and its export side by side, the export in FMPy."""

    def run(
        system, *, fmi=2, step="1 ms", stop=0.3, every=1, only_ends=False, record=None, **options
    ):
        with Execution(system, step=step, stop=stop, record=record, **options) as execution:
            execution.advance(stop)
            found = execution.recording()
        path = export_system(system, tmp_path / f"{system.name}.fmu", fmi=fmi, step=step, **options)
        assert validate_fmu(str(path)) == []
        length = seconds(every * nanoseconds(step))
        names = [name.replace("/", ".") for name in found.names]
        result = simulate_fmu(
            str(path), stop_time=stop, step_size=length, output_interval=length, output=names
        )
        ours = found.values[[0, -1]] if only_ends else found.values[::every]
        theirs = np.array([result[name] for name in names]).T
        assert theirs.shape == ours.shape
        difference = float(np.abs(theirs - ours).max())
        return Compared(difference, len(ours), len(names), float(np.abs(ours).max()))

    return run


@pytest.fixture
def instance(tmp_path):
    """Instantiate an FMU by FMPy's own wrapper, with the references of its variables by name."""
    made = []

    def make(path, name="one", log=None):
        description = fmpy.read_model_description(str(path))
        folder = fmpy.extract(str(path), str(tmp_path / f"{name}.unpacked"))
        told = [] if log is None else log
        slave = fmpy.instantiate_fmu(
            folder, description, "CoSimulation", logger=lambda *message: told.append(message)
        )
        made.append(slave)
        return slave, {v.name: v.valueReference for v in description.modelVariables}

    yield make
    for slave in made:
        slave.freeInstance()


@pytest.fixture
def begin():
    """Lead an instance to its first step."""

    def lead(slave, start=0.0):
        if hasattr(slave, "setupExperiment"):
            slave.setupExperiment(startTime=start)
            slave.enterInitializationMode()
        else:
            slave.enterInitializationMode(startTime=start)
        slave.exitInitializationMode()

    return lead
