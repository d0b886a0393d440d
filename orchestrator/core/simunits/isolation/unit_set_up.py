"""What a unit in another process was told before its first step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orchestrator.core.system import Component

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol.unit import Floats


@dataclass(slots=True)
class UnitSetUp:
    """All that makes the unit what it is at its first step, so that another process gets it, too.

    Parameters
    ----------
    made
        The component, as plain data.
    bound, times
        Names of its connectors that are connected, and the times of the run.
    inputs
        Array of shape (n_inputs,) that it was initialised with; ``None`` where it has none.
    """

    made: Mapping[str, Any]
    bound: Mapping[str, Any] = field(default_factory=dict)
    times: Mapping[str, Any] = field(default_factory=dict)
    inputs: Floats | None = None

    @classmethod
    def of(cls, component: Component) -> UnitSetUp:
        """Return the set-up of a component; in the process it runs without isolation."""
        options = replace(component.options, isolation="none", process=None, on_failure="stop")
        plain = {
            "name": component.name,
            "kind": str(component.source.kind),
            "location": component.source.location,
            "values": dict(component.values),
            "options": asdict(options),
        }
        return cls({"component": plain})

    def repeat(
        self, call: Callable[[str, str, Mapping[str, Any]], object], give: Callable[[Floats], None]
    ) -> None:
        """Tell another process the same, as far as the end of initialisation.

        Parameters
        ----------
        call
            With what the unit is doing, the name of the request and its arguments.
        give
            Sets the inputs.
        """
        call("being made", "make", self.made)
        call("being connected", "bind", self.bound)
        call("setting up", "setup", self.times)
        if self.inputs is not None:
            give(self.inputs)
        call("exiting initialisation", "exit_initialisation", {})
