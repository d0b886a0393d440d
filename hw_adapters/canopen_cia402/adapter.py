"""The adapter for drives of CiA 402."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, cast

from hw_adapters.canopen_cia402.bus import Bus, open_bus
from hw_adapters.canopen_cia402.codec import START, nmt
from hw_adapters.canopen_cia402.data_sheet import check_data_sheet
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.line import Line
from hw_adapters.canopen_cia402.objects import MAPPABLE
from hw_adapters.canopen_cia402.sdo import SdoClient
from hw_adapters.canopen_cia402.set_up import set_up
from hw_adapters.canopen_cia402.settings import CanopenSettings, DriveSettings
from hw_adapters.canopen_cia402.state_machine import (
    AT_REST,
    ENABLED,
    FOLLOWS_COMMAND,
    INTERNAL_LIMIT,
    WARNING,
    state_of,
)
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
    WireFormatError,
)

_UNITS = {"rotary": ("rad", "rad/s", "N.m"), "linear": ("m", "m/s", "N")}


class CanopenCia402(Device):
    """Servo drives of CiA 402 on one CAN line; this machine sends SYNC."""

    Settings: ClassVar[type[CanopenSettings]] = CanopenSettings
    answers = takes_unasked = True

    def __init__(self, settings: CanopenSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._drives: list[Drive] = []
        self._bus: Bus | None = None
        self._line: Line | None = None
        self._is_told = False
        self._count = 0

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return a command for each drive, and its position, velocity and torque."""
        options = cast("CanopenSettings", settings)
        for drive in options.drives:
            check_data_sheet(drive)
        return DeviceConnectors(
            inputs=tuple(map(_input, options.drives)) if options.enable else (),
            outputs=tuple(port for drive in options.drives for port in _outputs(drive, options)),
            rate=1000.0 / options.cycle_ms,
        )

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return the TPDO and the object of each output."""
        return {
            f"{drive.name}_{entry.name}": f"TPDO{pdo.number}, {entry.index:04X}:{entry.sub:02X}"
            for drive in cast("CanopenSettings", settings).drives
            for pdo in drive.measurement_maps
            for entry in pdo.objects
        }

    def open(self) -> None:
        """Open the line, set every drive up, and enable all of them where they are."""
        settings = self._settings
        self._drives = [Drive(drive) for drive in settings.drives]
        self._line, self._is_told, self._count = None, False, 0
        self._bus = open_bus(
            settings.interface, settings.channel, settings.bitrate, settings.tty_baudrate
        )
        set_up(self._bus, self._drives, settings)
        self._bus.send([nmt(START, drive.node) for drive in settings.drives])
        self._line = Line(settings, self._bus, self._drives)
        self._enable(self._line)

    def close(self) -> None:
        """Lead all drives to rest, and leave the line.

        Raises
        ------
        DeviceError
            If a drive that lives is not at rest in time.
        """
        line, self._line = self._line, None
        bus, self._bus = self._bus, None
        try:
            if line is not None and bus is not None and self._settings.enable:
                self._bring_to_rest(line, bus)
        finally:
            if bus is not None:
                bus.close()

    def account(self) -> str:
        """Say which acceleration the positions of drives are led with, and whose limit it is."""
        return "; ".join(
            f"{drive.name}: {drive.settings.acceleration:g} {_UNITS[drive.settings.axis][1]}2 is"
            f" the acceleration of its commands ({drive.acceleration_source})"
            for drive in self._drives
            if drive.settings.mode == "csp" and drive.acceleration_source
        )

    def receive(self, timeout_s: float) -> Received | None:
        """Give SYNC when it is due, and wait for what all drives measured.

        The status is the code of the emergency that stopped the drives; else bit 16 + i says that
        drive i warns, is at a limit, or does not follow its command.
        """
        line = self._opened()
        number = line.wait(time.monotonic() + timeout_s)
        fault = line.fault
        if fault is None:
            return None if number is None else self._sample(line, number)
        if self._settings.on_fault == "stop":
            raise DeviceError(f"{fault}; all drives were commanded to stop")
        if number is None and self._is_told:
            return None
        self._is_told = True
        return self._sample(line, line.number if number is None else number)

    def send(self, values: Sequence[float]) -> None:
        """Answer the cycle that was received last."""
        line = self._opened()
        if line.fault is None:
            for drive, value in zip(self._drives, values, strict=self._settings.enable):
                drive.command(value)
        line.send()
        self._count += 1
        for drive in self._drives:
            drive.sent(self._count)

    def safe(self, values: Sequence[float]) -> Sequence[float] | None:
        """Hold positions; no velocity, no torque."""
        return [
            value if drive.mode == "csp" else 0.0
            for drive, value in zip(self._settings.drives, values, strict=self._settings.enable)
        ]

    def _enable(self, line: Line) -> None:
        """Go on cycle by cycle until all drives are enabled and have said where they are."""
        limit = self._settings.start_timeout
        deadline = time.monotonic() + limit
        while not self._cycle(line, deadline):
            if line.fault is not None:
                raise DeviceError(str(line.fault))
            if time.monotonic() >= deadline:
                raise DeviceError("; ".join(self._not_enabled(limit)))
            line.send()
        for drive in self._drives:
            drive.begin(here=True)
        line.is_running = self._settings.enable
        line.send()

    def _cycle(self, line: Line, deadline: float) -> bool:
        """Wait for a cycle; return whether all drives are where they shall be."""
        try:
            if line.wait(deadline) is None:
                return False
        except WireFormatError:
            return False
        return not self._settings.enable or all(d.state is ENABLED for d in self._drives)

    def _not_enabled(self, limit: float) -> list[str]:
        expected = "'operation enabled'" if self._settings.enable else "measurements at each SYNC"
        return [
            f"{d.name}: expected {expected} within {limit:g} s (start_timeout), found"
            f" {d.state}{'' if d.is_complete else ', and some of its PDOs do not arrive'}"
            for d in self._drives
            if d.state is not ENABLED or not d.is_complete
        ] or [f"no cycle was completed within {limit:g} s (start_timeout)"]

    def _bring_to_rest(self, line: Line, bus: Bus) -> None:
        line.is_resting, line.is_running = True, False
        line.send()
        limit = self._settings.rest_timeout
        deadline = time.monotonic() + limit
        while moving := [d for d in self._drives if d.state not in AT_REST and line.lives(d)]:
            if time.monotonic() >= deadline:
                self._rest_one_by_one(bus, moving)
                return
            try:
                line.wait(min(deadline, time.monotonic() + self._settings.cycle))
            except WireFormatError:
                continue

    def _rest_one_by_one(self, bus: Bus, drives: Sequence[Drive]) -> None:
        """Stop drives that do not say by their PDOs that they rest."""
        moving, answer_s = [], self._settings.answer_timeout
        clients = [SdoClient(bus, d.settings.node, d.name, answer_s) for d in drives]
        for drive, sdo in zip(drives, clients, strict=True):
            sdo.write(MAPPABLE["controlword"], drive.state.to_rest)
        deadline = time.monotonic() + self._settings.rest_timeout
        for drive, sdo in zip(drives, clients, strict=True):
            state = state_of(sdo.read(MAPPABLE["statusword"]))
            while state not in AT_REST and time.monotonic() < deadline:
                time.sleep(self._settings.cycle)
                state = state_of(sdo.read(MAPPABLE["statusword"]))
            if state not in AT_REST:
                moving.append(f"{drive.name} is in {state}")
        if moving:
            limit = self._settings.rest_timeout
            raise DeviceError(f"not at rest within {limit:g} s (rest_timeout): {', '.join(moving)}")

    def _sample(self, line: Line, number: int) -> Received:
        fault = line.fault
        return Received(
            self._measured(self._drives),
            device_time=number * self._settings.cycle,
            sequence=number,
            valid=fault is None,
            status=self._remarks() if fault is None else fault.code,
            taken=self._taken(line),
            age=line.age(number),
        )

    def _taken(self, line: Line) -> int | None:
        """Return which command all drives have taken; ``None``: one of them does not say."""
        if line.fault is not None:
            return self._count  # they are led to rest
        numbers = [drive.taken(self._count) for drive in self._drives]
        known_numbers = [number for number in numbers if number is not None]
        return (
            min(known_numbers)
            if len(known_numbers) == len(numbers) and self._settings.enable
            else None
        )

    def _measured(self, drives: Sequence[Drive]) -> list[float]:
        """Return the values of the outputs, in their order."""
        values = []
        for drive in drives:
            if drive.settings.has_position:
                values.append(self._position(drive))
            values += [drive.velocity, drive.torque]
        return values

    def _position(self, drive: Drive) -> float:
        return drive.position(displacement=self._settings.measured == "displacement")

    def _remarks(self) -> int:
        follows = FOLLOWS_COMMAND if self._settings.enable else 0
        marked = (
            d.statusword & (WARNING | INTERNAL_LIMIT) or d.statusword & follows != follows
            for d in self._drives
        )
        return sum(bool(mark) << (16 + i) for i, mark in enumerate(marked))

    def _opened(self) -> Line:
        if self._line is None:
            raise DeviceError("the device is not open")
        return self._line


def _input(drive: DriveSettings) -> DeviceConnector:
    position, velocity, torque = _UNITS[drive.axis]
    limit, speed, stop = drive.velocity_limit, math.inf, drive.quick_stop_deceleration
    acceleration = math.inf
    rests: Literal["in place", "at zero"] = "at zero"
    if drive.mode == "csp":
        quantity, unit, limit, speed = (
            "position",
            position,
            drive.position_limit,
            drive.velocity_limit,
        )
        rests, acceleration = "in place", drive.acceleration
    elif drive.mode == "csv":
        quantity, unit = "velocity", velocity
        speed = drive.acceleration_limit or math.inf
    else:
        quantity, unit, limit, stop = "torque", torque, drive.torque_limit, math.inf
    described = f"Wanted {quantity} of drive {drive.name}"
    connector_name = f"{drive.name}_{quantity}_set"
    return DeviceConnector(
        connector_name,
        unit,
        described,
        minimum=-limit,
        maximum=limit,
        speed=speed,
        acceleration=acceleration,
        rests=rests,
        deceleration=stop,
    )


def _outputs(drive: DriveSettings, line: CanopenSettings) -> list[DeviceConnector]:
    position, velocity, torque = _UNITS[drive.axis]
    kinds = ((line.measured, position), ("velocity", velocity), ("torque", torque))
    names = ("position", "velocity", "torque")
    return [
        DeviceConnector(f"{drive.name}_{name}", unit, f"Measured {quantity} of drive {drive.name}")
        for name, (quantity, unit) in zip(names, kinds, strict=True)
        if name != "position" or drive.has_position
    ]
