"""One drive as the adapter leads it: how it is set up, what it is told, what it measured."""

from __future__ import annotations

from collections.abc import Sequence

from hw_adapters.canopen_cia402 import objects
from hw_adapters.canopen_cia402.codec import CanFrame
from hw_adapters.canopen_cia402.encoder_check import EncoderCheck
from hw_adapters.canopen_cia402.objects import DriveObject
from hw_adapters.canopen_cia402.pdo import AT_EACH_SYNC, UNUSED, PdoMap
from hw_adapters.canopen_cia402.sdo import SdoClient
from hw_adapters.canopen_cia402.settings import CanopenSettings, DriveSettings
from hw_adapters.canopen_cia402.state_machine import (
    ENABLED,
    NOT_READY,
    DriveState,
    state_of,
)
from hw_adapters.canopen_cia402.taken_commands import TakenCommands
from hw_adapters.counter import Counter
from orchestrator.rig.devices import DeviceError

#: Device profile of drives, the lower half of object 0x1000.
_PROFILE = 402
#: Of 0x6007 and 0x605A: quick stop; slow down on its ramp, then switch on disabled.
_ABORT_BY_QUICK_STOP, _STOP_ON_RAMP = 3, 2
_WORD = 1 << 32


class Drive:
    """A drive, in SI units on this side and in increments on the other.

    Parameters
    ----------
    settings
        Of the drive.
    """

    def __init__(self, settings: DriveSettings) -> None:
        self.settings = settings
        self.name = f"drive '{settings.name}' (node {settings.node})"
        self.commands, self.measurements = settings.command_maps, settings.measurement_maps
        self._sign = -1.0 if settings.inverted else 1.0
        self._position = Counter(_WORD)
        self._found: dict[str, int] = {}
        self._came: set[int] = set()
        self._origin = 0
        self._command = 0.0
        self._told = 0.0
        #: Whether a position came since the last look at the encoder; else since when, in s:
        #: by the count of cycles, and at least and at most.
        self._has_position_come, self._unseen = False, (0.0, 0.0, 0.0)
        self._target = 0
        self._sent: int | None = None
        self._taken = TakenCommands(objects.DEMANDS[settings.mode])
        self._encoder = self._new_check()
        #: Where the acceleration of its commands is from, once it is configured.
        self.acceleration_source = ""
        self.statusword = 0
        self.state: DriveState = NOT_READY

    def configure(self, sdo: SdoClient, line: CanopenSettings) -> None:
        """Write all that the drive must know, and read it back.

        Raises
        ------
        DeviceError
            If it is no drive, refuses something, or has it otherwise afterwards.
        """
        profile = sdo.read(objects.DEVICE_TYPE) & 0xFFFF
        if profile != _PROFILE:
            raise DeviceError(
                f"{self.name}: expected a drive of CiA 402, found profile {profile}{_called(sdo)}"
            )
        mode = objects.MODES[self.settings.mode]
        if not sdo.read(objects.SUPPORTED_MODES) >> (mode - 1) & 1:
            raise DeviceError(f"{self.name}: it has no mode {self.settings.mode} (0x6502)")
        for drive_object, value in self._parameters(line).items():
            sdo.put(drive_object, value)
        self.acceleration_source = self._limit_acceleration(sdo)
        sdo.write(objects.MAPPABLE["mode"], mode)
        for pdo in (*self.commands, *self._mapped(sdo, line)):
            _map(sdo, pdo)

    def _limit_acceleration(self, sdo: SdoClient) -> str:
        """Write the largest acceleration if the drive has that object; say whose limit it is."""
        limit, settings = objects.MAX_ACCELERATION, self.settings
        if settings.acceleration_limit is None:
            return "its quick_stop_deceleration"
        try:
            sdo.read(limit)
        except DeviceError:
            return "acceleration_limit; the drive has no 60C5"
        sdo.put(limit, round(settings.acceleration_limit / settings.per_velocity))
        return "acceleration_limit, in the drive as well (60C5)"

    def _mapped(self, sdo: SdoClient, line: CanopenSettings) -> Sequence[PdoMap]:
        """Return what is left to map of its TPDOs, with its demand if it has that."""
        self.measurements, richer = self.settings.measurement_maps, self.settings.feedback_maps
        if richer == self.measurements or not line.carries_feedback:
            return self.measurements
        try:
            sdo.read(objects.MAPPABLE[objects.DEMANDS[self.settings.mode]])
            for pdo in richer:
                _map(sdo, pdo)
        except DeviceError:  # it has none, or none that can be mapped
            return self.measurements
        self.measurements = richer
        return ()

    def begin(self, *, here: bool) -> None:
        """Forget what came; with ``here``, positions count from where the axis is now."""
        if here:
            self._origin = self._found.get("position", 0)
            self._command = self._told = 0.0
            self._taken = TakenCommands(objects.DEMANDS[self.settings.mode])
            self._encoder = self._new_check()
        self._came.clear()

    def take(self, pdo: PdoMap, data: bytes) -> None:
        """Take a TPDO, the newest of its number.

        Raises
        ------
        WireFormatError
            If it does not have the length of its mapping, or tells no state.
        """
        values = pdo.decode(data)
        if "statusword" in values:
            self.state, self.statusword = state_of(values["statusword"]), values["statusword"]
        if "position" in values:
            values["position"] = self._position.count(values["position"])
            self._has_position_come = True
        self._came.add(pdo.number)
        self._found |= values
        self._taken.see(values)

    @property
    def is_complete(self) -> bool:
        """Whether all of its TPDOs came in this cycle."""
        return len(self._came) == len(self.measurements)

    def position(self, *, displacement: bool) -> float:
        """Return its position, rad (m); 0 if it is not measured."""
        counts = self._found.get("position", 0) - (self._origin if displacement else 0)
        return self._sign * counts * self.settings.position_scale

    @property
    def velocity(self) -> float:
        """Its velocity, rad/s (m/s)."""
        return self._sign * self._found["velocity"] * self.settings.per_velocity

    @property
    def torque(self) -> float:
        """Its torque, N.m (N)."""
        return self._sign * self._found["torque"] * self.settings.torque_scale

    def look_at_encoder(self, counted: float, passed: tuple[float, float]) -> str:
        """Return what is wrong with its position, or nothing.

        Parameters
        ----------
        counted, passed
            Since the last look, s: by the count of cycles, and at least and at most.
        """
        if not self.settings.has_position:
            return ""
        sums = zip(self._unseen, (counted, *passed), strict=True)
        counted, shortest, longest = (before + now for before, now in sums)
        if not self._has_position_come:  # its TPDO was lost, while that of the velocity came
            self._unseen = counted, shortest, longest
            return ""
        self._has_position_come, self._unseen = False, (0.0, 0.0, 0.0)
        before, self._told = self._told, self._command
        distances = {"csp": self._command - before, "csv": self._command * shortest}
        distance = distances.get(self.settings.mode, 0.0) if self.state is ENABLED else 0.0
        position = self.position(displacement=False)
        return self._encoder.look(position, self.velocity, distance, counted, (shortest, longest))

    def _new_check(self) -> EncoderCheck:
        settings = self.settings
        return EncoderCheck(settings.velocity_limit, settings.encoder_way, settings.position_scale)

    def command(self, value: float) -> None:
        """Take what is wanted, in SI units; it goes out with :meth:`frames`."""
        self._command = value

    def taken(self, count: int) -> int | None:
        """Return which command it has taken of so many; ``None``: it does not say."""
        return self._taken.newest(count)

    def sent(self, count: int) -> None:
        """Note that the target of the last frames was that of a command."""
        if self.state is ENABLED:
            self._taken.sent(count, self._target)

    def frames(self, *, enabling: bool) -> list[CanFrame]:
        """Return the RPDOs of the next cycle: towards operation with its target, or to rest."""
        word = self.state.to_enabled if enabling else self.state.to_rest
        moves = enabling and self.state is ENABLED
        values = {
            "controlword": word,
            "mode": objects.MODES[self.settings.mode],
            **self._targets(moves=moves, enabling=enabling),
        }
        return [pdo.encode(values) for pdo in self.commands]

    def _targets(self, *, moves: bool, enabling: bool) -> dict[str, int]:
        """Return every target: that of the mode, and what leaves the axis alone for the others.

        On the way to rest a position stays that which was sent: what is measured may be why.
        """
        settings = self.settings
        if enabling or self._sent is None:
            self._sent = _wrapped(self._found.get("position", 0))
        held = {"target_position": self._sent, "target_velocity": 0, "target_torque": 0}
        if not moves:
            return held
        value = self._sign * self._command
        if settings.mode == "csp":
            self._sent = self._target = _wrapped(
                self._origin + round(value / settings.position_scale)
            )
            return held | {"target_position": self._sent}
        scale = settings.per_velocity if settings.mode == "csv" else settings.torque_scale
        self._target = round(value / scale)
        return held | {settings.target: self._target}

    def _parameters(self, line: CanopenSettings) -> dict[DriveObject, int]:
        settings = self.settings
        parameters = {
            objects.PRODUCER_HEARTBEAT: line.heartbeat_ms,
            objects.CONSUMER_HEARTBEAT: line.master << 16 | line.heartbeat_timeout_ms,
            objects.ABORT_OPTION: _ABORT_BY_QUICK_STOP,
            objects.QUICK_STOP_OPTION: _STOP_ON_RAMP,
            **settings.written,
            objects.CYCLE_PERIOD: line.cycle_ms * 1000,
            objects.INTERPOLATION_PERIOD: line.cycle_ms,
            objects.INTERPOLATION_EXPONENT: -3,
        }
        for name in settings.without:
            for left_out in objects.MAY_LACK[name]:
                parameters.pop(left_out, None)
        return parameters


def _called(sdo: SdoClient) -> str:
    """Return what a node calls itself, for a message; not all do."""
    try:
        return f" ({sdo.read_bytes(objects.DEVICE_NAME).decode('ascii', 'replace')!r})"
    except DeviceError:
        return ""


def _wrapped(counts: int) -> int:
    return (counts + _WORD // 2) % _WORD - _WORD // 2


def _map(sdo: SdoClient, pdo: PdoMap) -> None:
    """Map a PDO as CiA 301 asks for: off, empty, entries, their number, on at each SYNC."""
    kind = f"{'RPDO' if pdo.commanded else 'TPDO'}{pdo.number}"
    parameters, mapping = pdo.parameters
    identifier = DriveObject(f"{kind} COB-ID", parameters, 1, "I")
    count = DriveObject(f"{kind} mapping", mapping, 0, "B")
    sdo.write(identifier, UNUSED | pdo.identifier)
    sdo.write(count, 0)
    for i, drive_object in enumerate(pdo.objects, 1):
        sdo.put(
            DriveObject(f"{kind} entry {i}, {drive_object.name}", mapping, i, "I"),
            drive_object.mapping,
        )
    sdo.put(count, len(pdo.objects))
    sdo.put(DriveObject(f"{kind} transmission type", parameters, 2, "B"), AT_EACH_SYNC)
    sdo.write(identifier, pdo.identifier)
