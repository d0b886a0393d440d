"""What a simulation unit says of itself before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.core.system import Causality, Connector

if TYPE_CHECKING:
    from orchestrator.core.system.ports.limits import Limits


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a master may ask of a unit.

    ``input_order`` is the highest derivative of its inputs that it takes within a step; 0: they are
    held. ``fixed_step`` is a length in seconds of which every step must be a whole multiple, and
    ``longest_step`` one that no step may exceed; ``None``: there is none.
    """

    can_roll_back: bool = False
    can_serialize: bool = False
    can_vary_step: bool = True
    has_directional_derivatives: bool = False
    input_order: int = 0
    has_event_mode: bool = False
    might_return_early: bool = False
    is_repeatable: bool = True
    is_realtime: bool = False
    once_per_process: bool = False
    fixed_step: float | None = None
    longest_step: float | None = None

    def fits_fixed_step(self, step_ns: int) -> bool:
        """Whether a step is a whole multiple of ``fixed_step``, to a nanosecond."""
        if self.fixed_step is None:
            return True
        fixed_ns = self.fixed_step * 1e9
        count = round(step_ns / fixed_ns)
        near = count > 0 and abs(step_ns - count * fixed_ns) <= 1.0
        return near or step_ns % max(1, round(fixed_ns)) == 0


@dataclass(frozen=True, slots=True)
class UnitDescription:
    """Ports, parameters and capabilities of a unit.

    Parameters
    ----------
    name
        Model name of the FMU, or the block's registered name.
    connectors
        By name, in declared order.
    feedthrough
        For every output the inputs that act on it at once.
    capabilities
        See :class:`Capabilities`.
    has_states
        Whether it remembers anything from step to step, as far as can be known.
    tunable
        Parameters that may be set between two steps.
    variability
        Of parameters that may not, in the words of FMI; what is missing is ``"fixed"``.
    ranges
        What inputs and tunable parameters may be set to, where that is declared.
    details
        Facts for the report: FMI version, generation tool, GUID, module.
    """

    name: str
    connectors: Mapping[str, Connector]
    feedthrough: Mapping[str, tuple[str, ...]]
    capabilities: Capabilities = Capabilities()
    has_states: bool = True
    tunable: frozenset[str] = frozenset()
    variability: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, Limits] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)

    def of(self, causality: Causality) -> list[Connector]:
        """Return the connectors of one causality, in declared order."""
        return [c for c in self.connectors.values() if c.causality is causality]


@dataclass(frozen=True, slots=True)
class StepResult:
    """How one step of a unit ended.

    Parameters
    ----------
    status
        0 ok, 1 warning, 2 discard, 3 error, 4 fatal, as fmi2Status.
    last_ns
        The time that the unit reached, in nanoseconds.
    reason
        What the unit said if it failed.
    """

    status: int
    last_ns: int
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether the step was not completed."""
        return self.status > 1
