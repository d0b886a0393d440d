"""From a file to a slave: an FMU as it is, a system as the FMU that it becomes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.core.simunits import component_of, description_of, make_unit
from orchestrator.core.system import Component, Source, SourceKind, System, whole_step_ns
from orchestrator.core.wings import of_wing
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.slave.model import SlaveModel
from orchestrator.dcp.unit.unit_description import describe_slave
from orchestrator.dcp.unit.unit_model import UnitModel


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a slave is served.

    Parameters
    ----------
    step
        Its time resolution, seconds or text; ``None``: the system's communication step.
    transport, host, port
        Where it listens; port 0: any.
    modes
        In which it may run.
    heartbeat_s
        After which silence of the master it stops; ``None``: it does not listen for one.
    """

    step: str | float | None = None
    transport: Transport = Transport.UDP_IPV4
    host: str = "127.0.0.1"
    port: int = 0
    modes: frozenset[OpMode] = frozenset(OpMode)
    heartbeat_s: float | None = None


@dataclass(frozen=True, slots=True)
class ServedSlave:
    """A slave that can be served.

    Parameters
    ----------
    about
        What it says of itself.
    model
        What it computes with.
    """

    about: SlaveDescription
    model: SlaveModel


@contextmanager
def served_slave(what: System | Path, options: ServeOptions) -> Iterator[ServedSlave]:
    """Make a slave of a system, or of the FMU of a path; what it needs is removed afterwards.

    Raises
    ------
    SoftdockError
        If the FMU cannot be read, the system cannot become one, or no step is known.
    """
    with TemporaryDirectory(prefix="softdock-dcp-") as folder:
        if isinstance(what, System):
            step_ns = whole_step_ns(what, options.step, "a DCP slave")
            name, file = what.name, Path(folder) / "system.fmu"
            of_wing("export.system")(what, file, fmi=3, step=f"{step_ns} ns")
        else:
            name, file = what.stem, what
        component = component_of(Source(SourceKind.FMU, str(file.resolve())), name)
        if not isinstance(what, System):
            step_ns = whole_step_ns(System(name), options.step, "a DCP slave")
        yield _slave(name, component, step_ns, options)


def _slave(name: str, component: Component, step_ns: int, options: ServeOptions) -> ServedSlave:
    place = (options.host, options.port)
    about = describe_slave(
        name,
        description_of(component),
        step_ns,
        options.modes,
        options.heartbeat_s,
        options.transport,
        place,
    )
    model = UnitModel(about, lambda: make_unit(component))
    return ServedSlave(about, model)
