"""An emulated drive: NMT, SDO, PDOs, the state machine of CiA 402, and what ends its motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from hw_adapters.canopen_cia402.emulated_objects import Dictionary
from hw_adapters.canopen_cia402.servo import Plate, Servo, Tuning
from hw_adapters.canopen_cia402.shaft import Shaft
from hw_adapters.canopen_cia402.tachometer import Tachometer

#: Statusword of each state, without the bits that are told beside it.
_STATUS = {
    "SWITCH_ON_DISABLED": 0x40,
    "READY": 0x31,
    "SWITCHED_ON": 0x33,
    "ENABLED": 0x37,
    "QUICK_STOP": 0x17,
    "FAULT_REACTION": 0x0F,
    "FAULT": 0x08,
}
#: What the loops follow, by the target that it comes from.
_DEMANDS = {0x607A: 0x6062, 0x60FF: 0x606B, 0x6071: 0x6074}
_BRAKING = ("QUICK_STOP", "FAULT_REACTION")
#: Below this a braking drive stands, rad/s.
_STANDS = 1e-3
#: States of NMT.
_OPERATIONAL, _PRE_OPERATIONAL, _STOPPED = 5, 0x7F, 4

Frame = tuple[int, bytes]
Tell = Callable[..., None]


class EmulatedDrive:
    """One node. Times are CLOCK_MONOTONIC in s.

    Parameters
    ----------
    node
        Its number.
    shaft
        That it turns; other drives may turn it as well.
    tuning, plate
        Of its loops; of its scales.
    tell
        Called with an event and ``node``, for the log.
    tachometer
        That its velocity is of; ``None``: of its encoder, as it is.
    """

    def __init__(
        self,
        node: int,
        shaft: Shaft,
        tuning: Tuning,
        plate: Plate,
        tell: Tell,
        tachometer: Tachometer | None = None,
    ) -> None:
        self.node, self.shaft, self.tachometer = node, shaft, tachometer
        self._tuning, self._plate, self._tell = tuning, plate, tell
        self.warns = self.is_mute = self.is_deaf = False
        #: What it makes of position, velocity and torque, in counts, before it says them.
        self.tell_felt: Callable[[Sequence[float]], Sequence[float]] = tuple
        self.boot()

    def boot(self) -> None:
        """Begin anew, as after power-on."""
        self.objects = Dictionary(self.node)
        self.nmt, self.state = _PRE_OPERATIONAL, "SWITCH_ON_DISABLED"
        self._servo = Servo(self._tuning)
        self._received: dict[int, bytes] = {}
        self._ramp = self._wanted = self._wanted_before = 0.0
        self._torque = 0.0
        self._word = 0
        self._beat_due = -math.inf
        self._master_heard: float | None = None
        self._sync: float | None = None
        self._off_track = 0.0
        self.enabled_at: float | None = None
        self.out: list[Frame] = [(0x700 + self.node, b"\0")]

    # --- what comes

    def take(self, identifier: int, data: bytes, now: float) -> None:
        """Take a frame of the line."""
        if identifier == 0 and len(data) == 2 and data[1] in {0, self.node}:
            self._command_nmt(data[0])
        elif identifier == 0x600 + self.node and len(data) == 8:
            self.out.append((0x580 + self.node, self._access(data, now)))
        elif identifier == 0x700 + (self.objects[0x1016, 1] >> 16 & 0x7F):
            self._master_heard = now
        elif self.nmt == _OPERATIONAL and not self.is_deaf:
            for number in range(4):
                if self.objects[0x1400 + number, 1] == identifier:
                    self._received[number] = data

    def sync(self, now: float) -> list[Frame]:
        """Use what was received, and return the TPDOs; the shaft has come to ``now`` already."""
        if self.nmt != _OPERATIONAL or self.is_deaf:
            return []
        self._sync = now
        for number, data in self._received.items():
            self._use(number, data)
        self._received.clear()
        self._wanted_before, self._wanted = self._wanted, self._target()
        for target, demand in _DEMANDS.items():
            self.objects[demand, 0] = self.objects[target, 0]
        self._obey(self.objects[0x6040, 0], now)
        self._measure()
        return list(self._process_data())

    def tick(self, now: float) -> None:
        """Look at the clock: heartbeats, and what was missed."""
        period = self.objects[0x1017, 0] * 1e-3
        if period and now >= self._beat_due and not self.is_mute:
            self._beat_due = now + period
            self.out.append((0x700 + self.node, bytes((self.nmt,))))
        limit = (self.objects[0x1016, 1] & 0xFFFF) * 1e-3
        if limit and self._master_heard is not None and now - self._master_heard > limit:
            silent, self._master_heard = now - self._master_heard, None
            self._tell("heartbeat_lost", node=self.node, silent_ms=f"{1e3 * silent:.3f}")
            self._emergency(0x8130)
            self._abort_connection()
        cycle = self.objects[0x1006, 0] * 1e-6
        lost = cycle and self._sync is not None and self.state == "ENABLED"
        if lost and now - (self._sync or now) > self._plate.sync_tolerance * cycle:
            self.fail(0x8700)

    # --- motion

    def torque(self, h: float, share: float) -> float:
        """Return the mean torque of ``h`` s, N.m; after them ``share`` of the cycle is over."""
        limit = self.objects[0x6072, 0] * 1e-3 * self._plate.rated_torque
        target = 0.0
        if self.state in _BRAKING:
            target = self._brake(h, limit)
        elif self.state == "ENABLED":
            target = self._drive(h, share, limit)
        self._torque = target if self.state in {"ENABLED", *_BRAKING} else 0.0
        return self._servo.follow(self._torque, h) * self._tuning.torque_at(self.shaft.position)

    @property
    def command(self) -> float | None:
        """What it was told at the last SYNC, in its mode: rad, rad/s or N.m; ``None``: nothing."""
        return self._wanted if self.nmt == _OPERATIONAL else None

    @property
    def torque_count(self) -> int:
        """Its torque, in thousandths of the rated one."""
        return round(self._servo.torque / self._plate.rated_torque * 1e3)

    def watch(self, h: float) -> None:
        """Look after a cycle of ``h`` s whether it follows, and whether it stands."""
        if self.state in _BRAKING and abs(self.shaft.velocity) <= _STANDS and self._ramp == 0.0:
            self._after_stop()
        window = self.objects[0x6065, 0]
        off = abs(self._wanted - self.shaft.position) * self._plate.counts / math.tau
        tracks = self.objects[0x6060, 0] == 8 and self.state == "ENABLED" and window != 0xFFFFFFFF
        self._off_track = self._off_track + h if tracks and off > window else 0.0
        if self._off_track > self.objects[0x6066, 0] * 1e-3:
            self.fail(0x8611)

    def fail(self, code: int) -> None:
        """Go into fault for a reason, braking if there is something to brake."""
        if self.state in {"FAULT", "FAULT_REACTION"}:
            return
        self._emergency(code)
        self.objects[0x603F, 0] = code
        moves = self.state in {"ENABLED", "QUICK_STOP"}
        self._go("FAULT_REACTION" if moves else "FAULT", code)

    def _drive(self, h: float, share: float, limit: float) -> float:
        mode = self.objects[0x6060, 0]
        if mode == 10:
            return max(-limit, min(limit, self._wanted))
        if mode == 9:
            return self._servo.velocity(self._wanted - self.shaft.velocity, h, limit)
        span = self._wanted - self._wanted_before
        rate = span / (self.objects[0x60C2, 1] * 10.0 ** self.objects[0x60C2, 2])
        error = self._wanted_before + share * span - self.shaft.position
        return self._servo.position(error, rate, self.shaft.velocity, h, limit)

    def _brake(self, h: float, limit: float) -> float:
        step = self.objects[0x6085, 0] * math.tau / self._plate.counts * h
        self._ramp = math.copysign(max(abs(self._ramp) - step, 0.0), self._ramp)
        return self._servo.velocity(self._ramp - self.shaft.velocity, h, limit)

    def _after_stop(self) -> None:
        if self.state == "FAULT_REACTION":
            self._go("FAULT", 0)
        elif self.objects[0x605A, 0] == 2:
            self._go("SWITCH_ON_DISABLED", 0)

    def _target(self) -> float:
        turn = math.tau / self._plate.counts
        mode, objects = self.objects[0x6060, 0], self.objects
        if mode == 10:
            return objects[0x6071, 0] * 1e-3 * self._plate.rated_torque
        if mode == 9:
            return objects[0x60FF, 0] * turn
        counts = self.shaft.position / turn
        return (counts + math.remainder(objects[0x607A, 0] - counts, 2.0**32)) * turn

    # --- the state machine

    def _obey(self, word: int, now: float) -> None:
        rises, self._word = word & ~self._word & 0x80, word
        state = self.state
        if state == "FAULT":
            if rises:
                self.objects[0x603F, 0] = 0
                self._emergency(0)
                self._go("SWITCH_ON_DISABLED", 0)
        elif state == "FAULT_REACTION":
            pass
        elif not word & 2:
            if state != "SWITCH_ON_DISABLED":
                self._go("SWITCH_ON_DISABLED", 0)
        elif not word & 4:
            if state == "ENABLED":
                self._go("QUICK_STOP", 0)
            elif state in {"READY", "SWITCHED_ON"}:
                self._go("SWITCH_ON_DISABLED", 0)
        elif word & 0x80 == 0:
            self._switch(word & 0x0F, now)

    def _switch(self, word: int, now: float) -> None:
        steps = {
            ("SWITCH_ON_DISABLED", 6): "READY",
            ("READY", 7): "SWITCHED_ON",
            ("READY", 15): "SWITCHED_ON",
            ("SWITCHED_ON", 15): "ENABLED",
            ("SWITCHED_ON", 6): "READY",
            ("ENABLED", 7): "SWITCHED_ON",
            ("ENABLED", 6): "READY",
        }
        state = steps.get((self.state, word))
        if state is None:
            return
        if state == "ENABLED":
            self._servo.reset()
            self._wanted_before = self._wanted
            self.enabled_at = self.enabled_at or now
        self._go(state, 0)

    def _go(self, state: str, code: int) -> None:
        self.state = state
        if state in _BRAKING:
            self._servo.reset()
            self._ramp = self.shaft.velocity
        velocity = f"{self.shaft.velocity:.9g}"
        self._tell(state.lower(), node=self.node, code=f"{code:04x}", velocity=velocity)

    def _abort_connection(self) -> None:
        """Do what object 0x6007 says."""
        option = self.objects[0x6007, 0]
        if self.state != "ENABLED" or option == 0:
            return
        if option == 1:
            self.fail(0x8130)
        else:
            self._go("SWITCH_ON_DISABLED" if option == 2 else "QUICK_STOP", 0x8130)

    # --- its wire

    def _command_nmt(self, command: int) -> None:
        if command in {0x81, 0x82}:
            self.boot()
            return
        self.nmt = {1: _OPERATIONAL, 2: _STOPPED, 0x80: _PRE_OPERATIONAL}.get(command, self.nmt)
        if command == 1:
            self._beat_due = -math.inf
        else:
            self._sync = None

    def _access(self, request: bytes, now: float) -> bytes:
        self._measure()
        answer = self.objects.answer(request)
        self.objects[0x6061, 0] = self.objects[0x6060, 0]
        if request[1:4] == b"\x40\x60\0" and answer[0] == 0x60:
            self._obey(self.objects[0x6040, 0], now)  # an SDO acts at once, a PDO at SYNC
        return answer

    def _use(self, number: int, data: bytes) -> None:
        at = 0
        mapped = self.objects.mapped(0x1400, number) or []
        if sum(size for _, _, size in mapped) != len(data):
            self._emergency(0x8210)
            return
        for index, sub, size in mapped:
            self.objects[index, sub] = int.from_bytes(data[at : at + size], "little")
            at += size

    def _measure(self) -> None:
        turn, objects = math.tau / self._plate.counts, self.objects
        follows = 0x1000 if self.state == "ENABLED" else 0
        objects[0x6041, 0] = _STATUS[self.state] | 0x200 | follows | (0x80 if self.warns else 0)
        rate = self.tachometer.shown if self.tachometer else self.shaft.velocity
        position, velocity = self.shaft.position / turn, rate / turn
        felt = map(round, self.tell_felt((position, velocity, self.torque_count)))
        objects[0x6064, 0], objects[0x606C, 0], objects[0x6077, 0] = felt

    def _process_data(self) -> list[Frame]:
        frames = []
        for number in range(4):
            mapped = self.objects.mapped(0x1800, number)
            if mapped and self.objects[0x1800 + number, 2] == 1:
                data = b"".join(self.objects.read(index, sub) for index, sub, _ in mapped)
                frames.append((self.objects[0x1800 + number, 1], data))
        return frames

    def _emergency(self, code: int) -> None:
        self.out.append(
            (0x80 + self.node, code.to_bytes(2, "little") + bytes((code != 0, *bytes(5))))
        )
