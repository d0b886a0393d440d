"""What components are made of that are neither FMUs nor blocks: devices, recordings, twins.

Each is a class at the entry points ``softdock.units``, by the name of its
:class:`~orchestrator.core.system.SourceKind`; what no component of a system is, is not imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.plugin_group import PluginGroup
from orchestrator.core.system import Component, Source, SourceKind

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol.description import UnitDescription
    from orchestrator.core.simunits.protocol.unit import SimulationUnit


class UnitKind(ABC):
    """How components of one kind of source are described and made."""

    def complete(self, source: Source, name: str, like: Component | None) -> Source:
        """Return a source with what it leaves to the component ``like`` that it stands for."""
        return source

    @abstractmethod
    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe a component, whose connectors are those of what it stands for."""

    @abstractmethod
    def make(self, component: Component, processes: dict[str, Any] | None) -> SimulationUnit:
        """Make the unit that runs; parameters as of :func:`.make_unit`."""

    def late_ns(self, source: Source, description: UnitDescription) -> Mapping[str, int]:
        """Return the delays that outputs bring with them, in ns."""
        return {}

    def clock_ns(self, source: Source) -> int | None:
        """Return the period of samples that a run can wait for, in ns; ``None``: there are none."""
        return None


def _base() -> type[UnitKind]:
    return UnitKind


_GROUP: PluginGroup[UnitKind] = PluginGroup("softdock.units", "kind of unit", _base)


def kind_of(source: Source) -> UnitKind:
    """Return what makes units of a source that is neither an FMU nor a block."""
    name = str(source.kind)
    if name not in _GROUP.entry_points:
        raise CapabilityError(
            f"{source}: a {source.kind} cannot be run; expected an FMU, a block, a device, a"
            " recording or a twin, swap it for one"
        )
    return _GROUP.class_of(name)()


def clock_ns(source: Source) -> int | None:
    """Return the period of a device whose time goes on without the run, in ns; else ``None``."""
    return kind_of(source).clock_ns(source) if source.kind is SourceKind.DEVICE else None


def refuse_fmu_options(
    component: Component, what: str, among: tuple[str, ...] = ("interface", "solver", "tolerance")
) -> None:
    """Raise CapabilityError if options of Model Exchange are set that nothing would read."""
    options = component.options
    given = [
        f"{name} = {value!r}" for name in among if (value := getattr(options, name)) is not None
    ]
    if given:
        raise CapabilityError(
            f"component '{component.name}': {what} takes no {', '.join(given)}; these options are"
            " for FMUs with interface 'me'"
        )


def refuse_process_options(component: Component, what: str) -> None:
    """Raise CapabilityError if options of units in processes are set that nothing would read."""
    known = ("process", "step_timeout", "on_failure", "restarts")
    said = component.options.said()
    given = [f"{name} = {said[name]!r}" for name in known if name in said]
    if given:
        raise CapabilityError(f"component '{component.name}': {what} takes no {', '.join(given)}")
