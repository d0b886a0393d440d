"""A DCP slave that is not in real time: the run steps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orchestrator.dcp.controller import Controller
from orchestrator.dcp.plan import SlavePlan, connectors_of, feedthrough_of
from orchestrator.rig.devices import DeviceError, SteppedConnectors, SteppedDevice

_RELATIVE = 1e-9


class SteppedSlave(SteppedDevice):
    """Leads a slave in NRT: inputs, step and outputs of each step are exact, however long it takes.

    Parameters
    ----------
    plan
        What is asked of it.
    """

    def __init__(self, plan: SlavePlan) -> None:
        self._plan = plan
        self._references = {v.name: v for v in (*plan.inputs, *plan.outputs)}
        self._held: dict[int, tuple[Any, ...]] = {}
        self._controller: Controller | None = None
        self._stale = True
        self._steps = self._repeated = 0
        numerator, denominator = plan.resolution
        self._resolution = numerator / denominator

    def connectors(self) -> SteppedConnectors:
        """Return its variables, and the steps that it takes."""
        steps = self._plan.description.nrt_steps
        default_steps = steps.default if steps.fixed else 1
        return SteppedConnectors(
            connectors_of(self._plan), feedthrough_of(self._plan), default_steps * self._resolution
        )

    @property
    def _connected(self) -> Controller:
        if self._controller is None:
            raise DeviceError("the DCP slave is not open")
        return self._controller

    def open(self) -> None:
        """Register, configure."""
        self._controller = Controller(self._plan)
        try:
            self._controller.values.update(self._held)
            self._controller.connect()
        except BaseException:
            self._controller.abandon()
            self._controller = None
            raise

    def set(self, name: str, value: Any) -> None:
        """Hold the value of an input."""
        values = value if isinstance(value, (list, tuple)) else (value,)
        reference = self._references[name].reference
        raw_values = tuple(int(v) if isinstance(v, bool) else v for v in values)
        if self._controller is None:
            self._held[reference] = raw_values
        else:
            self._controller.values[reference] = raw_values
            self._stale = True

    def get(self, name: str) -> Any:
        """Return an output; while it is being initialised, after the slave has worked it out."""
        controller, variable = self._connected, self._references[name]
        if self._stale and not self._steps:
            controller.initialise()
            self._stale = False
        values: Sequence[Any] = controller.values[variable.reference]
        return list(values) if variable.dimensions else values[0]

    def begin(self) -> None:
        """Start the run of the slave."""
        if self._stale:
            self._connected.initialise()
            self._stale = False
        self._connected.run()

    def step(self, time: float, step: float) -> None:
        """Let the slave compute a step.

        Raises
        ------
        DeviceError
            If the step is no whole number of its resolution, or the slave fails.
        """
        steps = round(step / self._resolution)
        if steps < 1 or abs(steps * self._resolution - step) > _RELATIVE * step:
            raise DeviceError(
                f"DCP slave '{self._plan.description.name}': expected a step of whole"
                f" {self._resolution:g} s (its time resolution), found {step:g} s at {time:g} s"
            )
        self._steps += 1
        self._connected.step(steps)

    def close(self) -> None:
        """Stop the slave and release it.

        Raises
        ------
        DeviceError
            If it does not confirm that it has stopped.
        """
        controller, self._controller = self._controller, None
        if controller is not None:
            self._repeated += controller.session.repeated + controller.stale_outputs
            controller.close()

    def account(self) -> str:
        """Say what it was."""
        plan, controller = self._plan, self._controller
        text = (
            f"the DCP slave '{plan.description.name}' ({plan.transport.name}, NRT), which was"
            " stepped"
            f" {self._steps} times; the protocol added no delay: each step waited for its outputs"
        )
        if plan.unconfirmed and plan.inputs:
            text += "; its inputs were not confirmed: a lost one would not be noticed"
        repeated = self._repeated
        if controller is not None:
            repeated += controller.session.repeated + controller.stale_outputs
        if repeated:
            text += f"; {repeated} datagrams were lost or came again, and were repeated or left out"
        return text
