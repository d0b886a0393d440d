"""What a Model Exchange FMU says of itself: states, event indicators, continuous inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from orchestrator.errors import CapabilityError, FmuError
from orchestrator.simunits.description import Capabilities
from orchestrator.simunits.fmu_description import (
    FmuDescription,
    describe,
    open_description,
    read_fmu,
)
from orchestrator.system import Causality


@dataclass(frozen=True, slots=True)
class ExchangeDescription:
    """The Model Exchange interface of an FMU.

    Parameters
    ----------
    fmu
        Ports, references and library of the interface.
    states
        Names of the continuous states.
    state_references, derivative_references
        Their value references and those of their derivatives, in the same order.
    indicators
        Number of event indicators.
    continuous
        Names of the inputs that may change while time goes on.
    has_jacobian
        Whether derivatives of the derivatives may be asked for.
    tell_steps
        Whether it wants to know of every internal step.
    """

    fmu: FmuDescription
    states: tuple[str, ...]
    state_references: tuple[int, ...]
    derivative_references: tuple[int, ...]
    indicators: int
    continuous: frozenset[str]
    has_jacobian: bool
    tell_steps: bool


def interfaces(path: Path) -> tuple[str, ...]:
    """Return what an FMU can be run as, ``"cs"`` and ``"me"``, the usual one first."""
    described = open_description(path)
    found = {"cs": described.coSimulation, "me": described.modelExchange}
    return tuple(name for name, interface in found.items() if interface is not None)


def chosen_interface(name: str, path: Path, wanted: str | None) -> str:
    """Return the interface by which a component's FMU is run.

    Raises
    ------
    CapabilityError
        If the FMU does not have the one that is wanted.
    FmuError
        If it has none.
    """
    found = interfaces(path)
    if not found:
        raise FmuError(f"{path}: has neither a Co-Simulation nor a Model Exchange interface")
    if wanted is not None and wanted not in found:
        raise CapabilityError(
            f"component '{name}': {path} has no interface '{wanted}'; it has: {', '.join(found)}"
        )
    return wanted or found[0]


def describe_fmu(path: Path, interface: str | None = None) -> FmuDescription:
    """Describe an FMU by the interface that is wanted, or by its usual one.

    Raises
    ------
    FmuError
        If the file cannot be used.
    CapabilityError
        If the FMU does not have the interface.
    """
    if chosen_interface("component", path, interface) == "me":
        return read_exchange(path).fmu
    return read_fmu(path)


def read_exchange(path: Path) -> ExchangeDescription:
    """Read and check an FMU for Model Exchange.

    Raises
    ------
    FmuError
        If the file cannot be used, has no Model Exchange interface or no binary for this machine.
    """
    open_description(path)
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: Path, stamp: int) -> ExchangeDescription:  # noqa: ARG001 - the stamp renews the cache
    described = open_description(path)
    interface = described.modelExchange
    if interface is None:
        raise FmuError(f"{path}: has no Model Exchange interface")
    fmu = describe(path, described, interface)
    capabilities = Capabilities(
        can_roll_back=bool(interface.canGetAndSetFMUstate),
        can_serialize=bool(interface.canSerializeFMUstate),
        has_directional_derivatives=bool(interface.providesDirectionalDerivative),
        takes_input_slopes=True,
        once_per_process=bool(interface.canBeInstantiatedOnlyOncePerProcess),
    )
    details: Mapping[str, str] = {
        **fmu.description.details,
        "kind": f"FMU, FMI {described.fmiVersion} Model Exchange",
    }
    description = replace(
        fmu.description,
        capabilities=capabilities,
        has_states=bool(described.derivatives),
        details=details,
    )
    derivatives = [unknown.variable for unknown in described.derivatives]
    states = [variable.derivative for variable in derivatives]
    return ExchangeDescription(
        fmu=replace(fmu, description=description),
        states=tuple(state.name for state in states),
        state_references=tuple(state.valueReference for state in states),
        derivative_references=tuple(variable.valueReference for variable in derivatives),
        indicators=int(described.numberOfEventIndicators),
        continuous=frozenset(v.name for v in described.modelVariables if _is_continuous(v)),
        has_jacobian=capabilities.has_directional_derivatives,
        tell_steps=not interface.completedIntegratorStepNotNeeded,
    )


def _is_continuous(variable: Any) -> bool:
    return (
        variable.causality == Causality.INPUT
        and variable.type == "Real"
        and variable.variability in {None, "continuous"}
    )
