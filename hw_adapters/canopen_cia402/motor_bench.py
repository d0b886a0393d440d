"""Two motors on one shaft, both with drives of CiA 402 on one line, as the joint of an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self, cast

from pydantic import Field, model_validator

from hw_adapters.canopen_cia402.adapter import CanopenCia402
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.settings import CanopenSettings, DriveSettings, Positive
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors, DeviceError, DeviceSettings


class MotorBenchSettings(CanopenSettings):
    """A line with two drives, and the drive motor's constants.

    Parameters
    ----------
    drives
        The first turns the drive motor and has an encoder; the second turns the load motor, and its
        velocity is that of the tachometer. Both are under ``cst``, and rotary.
    resistance, torque_constant
        Of the drive motor: Ohm; N.m/A, which is its back-EMF in V.s/rad as well.
    voltage_limit
        V, either side of 0.
    rate_tolerance, rate_patience_ms
        How far tachometer and encoder may be apart, rad/s; for how long, ms.
    """

    resistance: Positive
    torque_constant: Positive
    voltage_limit: Positive
    rate_tolerance: Positive = 20.0
    rate_patience_ms: Annotated[int, Field(ge=1)] = 20

    @property
    def drive(self) -> DriveSettings:
        """Of the drive motor."""
        return self.drives[0]

    @property
    def load(self) -> DriveSettings:
        """Of the load motor."""
        return self.drives[1]

    @model_validator(mode="after")
    def _two_motors(self) -> Self:
        if len(self.drives) != 2:
            raise ValueError(
                f"expected two drives, the drive motor's and the load motor's, found"
                f" {len(self.drives)}"
            )
        for drive in self.drives:
            if (drive.mode, drive.axis) != ("cst", "rotary"):
                raise ValueError(
                    f"drive '{drive.name}': expected mode cst and a rotary axis, found {drive.mode}"
                    f" and {drive.axis}: both motors of a bench are commanded in torque"
                )
        if not self.drive.has_position:
            raise ValueError(
                f"drive '{self.drive.name}': expected its position in a TPDO, since the angle of"
                " the shaft is that of its encoder"
            )
        return self

    def torque(self, voltage: float, rate: float) -> float:
        """Return the torque of the drive motor at a voltage, N.m, within the limit of its drive."""
        torque = self.torque_constant * (voltage - self.torque_constant * rate) / self.resistance
        limit = self.drive.torque_limit
        return min(max(torque, -limit), limit)


class MotorBench(CanopenCia402):
    """A drive motor that takes a voltage, and a load motor that takes a torque, on one shaft.

    A drive of CiA 402 knows no voltage. In each cycle of the line its torque is computed from the
    voltage that is held and the rate that its encoder had, ``KT (V - KT w) / R``, as a motor behind
    a voltage amplifier has it; what it then has, is a cycle late.
    """

    Settings: ClassVar[type[CanopenSettings]] = MotorBenchSettings

    def __init__(self, settings: MotorBenchSettings) -> None:
        super().__init__(settings)
        self._bench = settings
        self._rate, self._apart = 0.0, 0

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return voltage and load, and what is measured of the shaft."""
        options = cast("MotorBenchSettings", settings)
        line = super().connectors(settings)
        volts, load = options.voltage_limit, options.load.torque_limit
        inputs = (
            DeviceConnector(
                "voltage", "V", "Of the drive motor", minimum=-volts, maximum=volts, rests="at zero"
            ),
            DeviceConnector(
                "load", "N.m", "Of the load motor", minimum=-load, maximum=load, rests="at zero"
            ),
        )
        outputs = (
            DeviceConnector("rate", "rad/s", "Rate of the shaft, by the tachometer"),
            DeviceConnector("angle", "rad", f"{options.measured.capitalize()} of the shaft"),
            DeviceConnector("shaft_rate", "rad/s", "Rate of the shaft, by the encoder"),
            DeviceConnector("drive_torque", "N.m", "Torque of the drive motor, as its drive says"),
            DeviceConnector("load_torque", "N.m", "Torque of the load motor, as its drive says"),
        )
        return DeviceConnectors(inputs if options.enable else (), outputs, line.rate)

    def open(self) -> None:
        """Open the line, with nothing known of the rate."""
        self._rate, self._apart = 0.0, 0
        super().open()

    def send(self, values: Sequence[float]) -> None:
        """Answer the cycle that was received last: with the torque of the voltage, and the load."""
        if not values:
            super().send(values)
            return
        voltage, load = values
        super().send((self._bench.torque(voltage, self._rate), load))

    def _measured(self, drives: Sequence[Drive]) -> list[float]:
        drive, load = drives
        self._rate = drive.velocity
        self._compare(load.velocity)
        return [load.velocity, self._position(drive), self._rate, drive.torque, load.torque]

    def _compare(self, measured_rate: float) -> None:
        """Hold the tachometer against the encoder."""
        settings = self._bench
        is_apart = abs(measured_rate - self._rate) > settings.rate_tolerance
        self._apart = self._apart + 1 if is_apart else 0
        if self._apart * settings.cycle_ms > settings.rate_patience_ms:
            raise DeviceError(
                f"drive '{settings.load.name}': its tachometer shows {measured_rate:.4g} rad/s,"
                " the encoder"
                f" {self._rate:.4g} rad/s; expected them within {settings.rate_tolerance:g} rad/s"
                " (rate_tolerance): check that the tachometer is connected. Both drives are"
                " brought to rest"
            )
