"""What the adapter must be told of a line and of the drives on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hw_adapters.canopen_cia402 import objects
from hw_adapters.canopen_cia402.objects import TARGETS, DriveObject, MayLack, Mode
from hw_adapters.canopen_cia402.pdo import PdoMap, frame_bits, pdo_maps, pdo_problems
from orchestrator.rig.devices import DeviceSettings

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
#: Share of the line that may be used: SDO, heartbeats and emergencies need the rest.
_MOST_LOAD = 0.9
#: What a velocity may lag, twice and with room for more, s.
_ENCODER_S = 0.02


class DriveSettings(BaseModel):
    """One drive.

    Parameters
    ----------
    name
        Its connectors begin with it.
    node
        Its CANopen node.
    mode
        ``csp``, ``csv``, ``cst``: cyclic synchronous position, velocity, torque.
    axis
        ``rotary``: rad and N.m; ``linear``: m and N.
    position_scale
        rad (m) for one increment of 0x607A and 0x6064.
    velocity_scale
        rad/s (m/s) for one of 0x60FF and 0x606C; default: increments of position per second.
    torque_scale
        N.m (N) for one of 0x6071 and 0x6077: a thousandth of the rated torque.
    inverted
        Whether the drive counts against the positive direction.
    position_limit, velocity_limit, torque_limit
        Of commands, either side of 0. The torque limit is written to the drive as well.
    quick_stop_deceleration
        rad/s2 (m/s2), written to the drive in increments of velocity per second.
    acceleration_limit
        rad/s2 (m/s2): of commands, with which one that was held back or lost is caught up with;
        default: ``quick_stop_deceleration``. It is written to the drive (0x60C5, in increments of
        velocity per second) if the drive has that object.
    following_window
        rad (m): where a drive under ``csp`` is in fault; default: as it stands in the drive.
    encoder_tolerance
        rad (m): what velocity or command may amount to while the position stands; default: the way
        at ``velocity_limit`` in 20 ms, since what filters leave of a velocity of that size after
        a stop is less (50 Hz, second order: 5 ms).
    commands, measurements
        Objects of each RPDO, each TPDO; default: what the mode needs. A drive that is not under
        ``csp`` may do without its position.
    feedback
        Whether the demand that the loops of the drive follow (0x6062, 0x606B, 0x6074) is mapped
        beside its measurements if the drive has it and there is room: so it shows which commands
        it took.
    without
        Objects that the drive does not have, or that are set in it: they are not written.
    eds
        Electronic data sheet of the drive, which the maps are held against.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    node: int = Field(ge=1, le=127)
    mode: Mode
    axis: Literal["rotary", "linear"] = "rotary"
    position_scale: Positive
    velocity_scale: Positive | None = None
    torque_scale: Positive
    inverted: bool = False
    position_limit: Positive = math.pi
    velocity_limit: Positive
    torque_limit: Positive
    quick_stop_deceleration: Positive
    acceleration_limit: Positive | None = None
    following_window: Positive | None = None
    encoder_tolerance: Positive | None = None
    commands: tuple[tuple[str, ...], ...] = ()
    measurements: tuple[tuple[str, ...], ...] = (
        ("statusword", "position", "torque"),
        ("velocity",),
    )
    feedback: bool = True
    without: tuple[MayLack, ...] = ()
    eds: Path | None = None

    @property
    def per_velocity(self) -> float:
        """rad/s (m/s) for one increment of velocity."""
        return self.velocity_scale or self.position_scale

    @property
    def encoder_way(self) -> float:
        """What velocity or command may amount to while the position stands, rad (m)."""
        return self.encoder_tolerance or _ENCODER_S * self.velocity_limit

    @property
    def written(self) -> dict[DriveObject, int]:
        """Limits that are written to the drive, in its increments."""
        values = {
            objects.QUICK_STOP_DECELERATION: self.quick_stop_deceleration / self.per_velocity,
            objects.MAX_TORQUE: self.torque_limit / self.torque_scale,
        }
        if self.following_window is not None:
            values[objects.FOLLOWING_WINDOW] = self.following_window / self.position_scale
        left_out = {
            drive_object for name in self.without for drive_object in objects.MAY_LACK[name]
        }
        return {
            drive_object: round(value)
            for drive_object, value in values.items()
            if drive_object not in left_out
        }

    @property
    def acceleration(self) -> float:
        """Of a position that is commanded, rad/s2 (m/s2)."""
        return self.acceleration_limit or self.quick_stop_deceleration

    @property
    def _largest_target(self) -> dict[DriveObject, int]:
        """The largest command, in its increments; a position runs over and has none."""
        limits = {
            "csv": self.velocity_limit / self.per_velocity,
            "cst": self.torque_limit / self.torque_scale,
        }
        limit = limits.get(self.mode)
        return {} if limit is None else {objects.MAPPABLE[self.target]: round(limit)}

    @property
    def has_position(self) -> bool:
        """Whether its position is measured."""
        return any("position" in measurement for measurement in self.measurements)

    @property
    def target(self) -> str:
        """Name of the object that is commanded."""
        return TARGETS[self.mode]

    @property
    def command_maps(self) -> tuple[PdoMap, ...]:
        """Its RPDOs."""
        return pdo_maps(self.node, self._commands, commanded=True)

    @property
    def measurement_maps(self) -> tuple[PdoMap, ...]:
        """Its TPDOs."""
        return pdo_maps(self.node, self.measurements, commanded=False)

    @property
    def feedback_maps(self) -> tuple[PdoMap, ...]:
        """Its TPDOs with the demand in the last that has room for it; without room as they are."""
        name, maps = objects.DEMANDS[self.mode], [list(pdo_map) for pdo_map in self.measurements]
        size = objects.MAPPABLE[name].size
        room = [m for m, pdo in zip(maps, self.measurement_maps, strict=True) if pdo.has_room(size)]
        if self.feedback and room and not any(name in pdo_map for pdo_map in maps):
            room[-1].append(name)
        return pdo_maps(self.node, maps, commanded=False)

    @property
    def _commands(self) -> tuple[tuple[str, ...], ...]:
        return self.commands or (("controlword", self.target),)

    @model_validator(mode="after")
    def _maps_fit(self) -> Self:
        needed = ("controlword", self.target)
        measured = ("statusword", *(("position",) if self.mode == "csp" else ()))
        problems = [
            *pdo_problems(self._commands, needed, commanded=True),
            *pdo_problems(self.measurements, (*measured, "velocity", "torque"), commanded=False),
        ]
        problems += [
            f"{drive_object}: expected 1 to {drive_object.largest} of its increments, found {value}"
            for drive_object, value in (self.written | self._largest_target).items()
            if not 1 <= value <= drive_object.largest
        ]
        if problems:
            raise ValueError(f"drive '{self.name}': {'; '.join(problems)}")
        return self


class CanopenSettings(DeviceSettings):
    """A line, and the drives on it.

    Parameters
    ----------
    channel
        ``/dev/ttyACM0``, ``can0``: as the interface calls it.
    interface
        ``slcan``: a serial CAN adapter of the LAWICEL protocol; else one of python-can
        (``socketcan``, ``pcan``, ..), which the extra ``rig`` installs.
    bitrate
        Of the line, bit/s; SocketCAN has its own, set by ``ip link``.
    tty_baudrate
        Of a serial port that is one; USB has none and ignores it.
    drives
        In the order of their connectors.
    cycle_ms
        Between two SYNCs, ms.
    master
        Node of this machine: its heartbeat is what the drives listen for.
    heartbeat_ms
        Between two heartbeats, of drives and master.
    heartbeat_timeout_ms
        Without one for so long, drives stop by themselves, and the master stops all of them.
    enable
        Whether torque is switched on; if not, the drives are read only.
    fault_reset
        Whether a fault that is there at the beginning is acknowledged; if not, it is refused.
    on_fault
        Of a drive while it runs, after all of them were told to stop: ``stop`` ends the run,
        ``hold`` goes on with samples that are not valid.
    measured
        ``displacement``: positions from where the axis was at the beginning; ``position``: as the
        drive says. Commands of ``csp`` count from the beginning in both.
    pace
        ``clock``: SYNC is due every ``cycle_ms``, and what has not been answered until the next one
        is lost. ``answers``: SYNC waits for the answers to the last one, for ``late_ms`` at most,
        which is not real time: for emulated drives on a busy machine.
    late_ms
        See there.
    answer_timeout, start_timeout, rest_timeout
        Of one SDO; of all drives to answer at all, which may be booting, and of all to be enabled;
        of all drives to stand still, s.
    """

    channel: str = Field(min_length=1)
    interface: str = "slcan"
    bitrate: Literal[
        10_000, 20_000, 50_000, 100_000, 125_000, 250_000, 500_000, 800_000, 1_000_000
    ] = 1_000_000
    tty_baudrate: Literal[9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600] = 115200
    drives: tuple[DriveSettings, ...] = Field(min_length=1, max_length=8)
    cycle_ms: int = Field(default=1, ge=1, le=100)
    master: int = Field(default=127, ge=1, le=127)
    heartbeat_ms: int = Field(default=20, ge=1, le=10_000)
    heartbeat_timeout_ms: int = Field(default=100, ge=2, le=60_000)
    enable: bool = True
    fault_reset: bool = False
    on_fault: Literal["stop", "hold"] = "stop"
    measured: Literal["displacement", "position"] = "displacement"
    pace: Literal["clock", "answers"] = "clock"
    late_ms: int = Field(default=1000, ge=1)
    answer_timeout: Positive = 1.0
    start_timeout: Positive = 5.0
    rest_timeout: Positive = 2.0

    @property
    def cycle(self) -> float:
        """Between two SYNCs, s."""
        return self.cycle_ms * 1e-3

    @property
    def cycle_bits(self) -> int:
        """At most so many bits are on the line in a cycle, heartbeats not among them."""
        return self._bits(m for d in self.drives for m in d.measurement_maps)

    def _bits(self, measurements: Iterable[PdoMap]) -> int:
        maps = (*(m for d in self.drives for m in d.command_maps), *measurements)
        return frame_bits(0) + sum(frame_bits(pdo_map.size) for pdo_map in maps)

    @property
    def _room(self) -> int:
        """Bits that the PDOs of a cycle may have."""
        return int(_MOST_LOAD * self.bitrate * self.cycle)

    @property
    def carries_feedback(self) -> bool:
        """Whether the line has room for the demand of every drive as well."""
        return self._bits(m for d in self.drives for m in d.feedback_maps) <= self._room

    @property
    def own_watchdog(self) -> float:
        """After which a drive stops without the heartbeat of its master."""
        return self.heartbeat_timeout_ms * 1e-3

    @model_validator(mode="after")
    def _line_fits(self) -> Self:
        if problems := list(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        for noun, values in (
            ("name", [str(d.name) for d in self.drives]),
            ("node", [str(n) for n in (self.master, *(d.node for d in self.drives))]),
        ):
            for value in sorted({v for v in values if values.count(v) > 1}):
                yield (
                    f"expected a different {noun} for each drive and the master; {noun} {value}"
                    " occurs twice"
                )
        if self.heartbeat_timeout_ms < 2 * self.heartbeat_ms:
            yield (
                f"heartbeat_timeout_ms: expected two heartbeats at least, {2 * self.heartbeat_ms},"
                f" found {self.heartbeat_timeout_ms}"
            )
        room = self._room
        if self.cycle_bits > room:
            yield (
                f"the PDOs do not fit: up to {self.cycle_bits} bits in a cycle of {self.cycle_ms}"
                f" ms; expected at most {room} at {self.bitrate} bit/s: use fewer objects, a longer"
                " cycle or a faster line"
            )
