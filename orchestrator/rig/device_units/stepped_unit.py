"""A device that the run steps, as a unit."""

from __future__ import annotations

from typing import Any

from orchestrator.core.simunits import UnitDescription
from orchestrator.core.simunits.fmi.foreign_unit import ForeignUnit, Importer
from orchestrator.rig.devices import SteppedDevice


class SteppedUnit(ForeignUnit):
    """Sends inputs and takes outputs in each step, and waits for the device in between.

    Parameters
    ----------
    name
        Of the component.
    description
        What it says of itself.
    device
        That is stepped.
    """

    def __init__(self, name: str, description: UnitDescription, device: SteppedDevice) -> None:
        self._device = device
        super().__init__(name, description, _Stepped(device))

    @property
    def notes(self) -> tuple[str, ...]:
        """What it was, in a sentence."""
        return (*super().notes, f"component '{self.name}' was {self._device.account()}")

    def terminate(self) -> None:
        """Release the device; allowed at any time."""
        super().terminate()
        self._device.close()


class _Stepped(Importer):
    """What a unit does with a device that it steps."""

    def __init__(self, device: SteppedDevice) -> None:
        self._device = device

    def set(self, name: str, value: Any) -> None:
        self._device.set(name, value)

    def get(self, name: str) -> Any:
        return self._device.get(name)

    def enter_initialisation(
        self, start: float, stop: float | None, tolerance: float | None
    ) -> None:
        del start, stop, tolerance
        self._device.open()

    def exit_initialisation(self) -> None:
        self._device.begin()

    def step(self, time: float, step: float) -> None:
        self._device.step(time, step)

    def terminate(self) -> None:
        self._device.close()
