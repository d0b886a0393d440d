"""A twin as a simulation unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING

from orchestrator.core.simunits import Notice, SimulationUnit, UnitDescription
from orchestrator.core.system import Component, Connector, Value
from orchestrator.engine import TwinUnit as NativeUnit
from orchestrator.rig.twins.description import channels_of

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol.unit import Floats


class TwinUnit(SimulationUnit):
    """Runs a unit whose outputs are late, lag, are noisy and rounded as those of a device.

    Parameters
    ----------
    component
        Whose source it is.
    description
        What it says of itself.
    inner
        The unit that it is around.
    """

    native: NativeUnit

    def __init__(
        self, component: Component, description: UnitDescription, inner: SimulationUnit
    ) -> None:
        super().__init__(component.name, description, NativeUnit(inner.native))
        self._inner = inner
        self._channels = channels_of(component.source, inner.description)
        self._start_ns = 0

    def _set_values(self, values: Mapping[str, Value]) -> None:
        self._inner.set_values(values)

    def _bind(self) -> None:
        self._inner.bind(
            [c.name for c in (*self.inputs, *self.text_inputs)],
            [c.name for c in (*self.outputs, *self.text_outputs)],
        )
        self.native = NativeUnit(self._inner.native)  # a block has another one once it is bound
        numbers = {name: number for number, name in enumerate(self._channels)}
        scalars = [
            f"{c.name}[{i}]" if c.shape else c.name for c in self.outputs for i in range(c.size)
        ]
        self.native.bind(
            [astuple(channel) for channel in self._channels.values()],
            [numbers.get(name, -1) for name in scalars],
        )

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        self._start_ns = start_ns
        self._inner.setup(start_ns, stop_ns, tolerance)

    def _initialise_outputs(self, start_ns: int) -> None:
        self._inner.initialise_outputs(start_ns)

    def _exit_initialisation(self) -> None:
        self._inner.exit_initialisation()
        self._check(self.native.begin(self._start_ns), "beginning")

    def _get_state(self) -> object:
        raise self._cannot("save its state in a checkpoint: it is a twin")

    def _set_state(self, state: object) -> None:
        self._get_state()

    def _value(self, connector: Connector) -> Value | Floats:
        if any(name.partition("[")[0] == connector.name for name in self._channels):
            return super()._value(connector)
        return self._inner.value(connector.name)

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the unit within reached."""
        return self._inner.last_ns(time_ns)

    def forward_log(self) -> None:
        """Pass messages of the unit within on to the logging of Python."""
        self._inner.forward_log()

    def last_message(self) -> str:
        """Return the last message that the FMU wrote."""
        return self._inner.last_message()

    def exception(self) -> BaseException | None:
        """Return the exception that ended the last step of the unit within, if there was one."""
        return self._inner.exception()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the unit within has to say, and what is around it."""
        late = (f"{name} ({c.delay_ns / 1e6:g} ms late)" for name, c in self._channels.items())
        told = (
            f"component '{self.name}' was a twin ({self.description.details['device']}):"
            f" {', '.join(late)} with its delay, lag, noise and rounding"
        )
        return (*super().notes, *self._inner.notes, told)

    def notices(self) -> tuple[Notice, ...]:
        """Return what the unit within warns of."""
        return self._inner.notices()

    def _terminate(self) -> None:
        """Nothing but what :meth:`terminate` does in every phase."""

    def terminate(self) -> None:
        """End the unit within; allowed at any time and more than once."""
        super().terminate()
        self._inner.terminate()
