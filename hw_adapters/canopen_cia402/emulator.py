"""Emulated drives behind a serial CAN adapter: ``python -m hw_adapters.canopen_cia402.emulator``.

The CAN adapter is a pseudo terminal that speaks LAWICEL's lines; behind it is the line with one or
more drives, on a shaft each or on one. Their time goes on with SYNC, a cycle each, and by the clock
where SYNC is missing. The faults of ``--fault`` are those of TPDOs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import time
import tty
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hw_adapters.canopen_cia402.drive_faults import DriveFault, read_drive_faults
from hw_adapters.canopen_cia402.emulated_drive import EmulatedDrive, Frame
from hw_adapters.canopen_cia402.emulated_line import EmulatedLine
from hw_adapters.canopen_cia402.servo import Plate, Tuning
from hw_adapters.canopen_cia402.shaft import Shaft
from hw_adapters.canopen_cia402.tachometer import Tachometer
from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faulty_sender import sender_of
from hw_adapters.emulation.options import positive
from hw_adapters.emulation.program import Waiting, option_parser, print_ready, run_program

_COLUMNS = ("number", "node", "code", "silent_ms", "velocity", "position", "torque", "wanted")
_RATES = (10, 20, 50, 100, 125, 250, 500, 800, 1000)
_LINE = re.compile(rb"t([0-7][0-9A-F]{2})([0-8])((?:[0-9A-F]{2})*)", re.IGNORECASE)
#: Between two looks at the clock, s.
_TICK = 2e-3
#: Of position, velocity and torque on the wire.
_LARGEST = (2**31 - 1, 2**31 - 1, 2**15 - 1)
_WITHOUT = {
    "reorder": "a CAN line carries one frame after the other",
    "nan": "objects of a drive are whole numbers, which are always numbers",
    "clock-jump": "PDOs have no time: it is SYNC that counts, which a drive does not give",
}


class SerialAdapter:
    """A LAWICEL adapter at a pseudo terminal, and the line behind it."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._sender = sender_of(options, log, _WITHOUT)
        self._faults: list[DriveFault] = read_drive_faults(options.drive_fault, options.nodes)
        tuning = Tuning(options.inertia, options.bandwidth, options.current_lag * 1e-3)
        rippled = replace(tuning, ripple=options.ripple, segments=options.segments)
        plate = Plate(options.counts, options.rated_torque, options.sync_tolerance)
        shared_shaft = self._shaft()
        drives = [
            EmulatedDrive(
                n,
                shared_shaft if options.one_shaft else self._shaft(),
                rippled if n == options.nodes[0] else tuning,
                plate,
                log.write,
                self._tachometer() if n == options.tachometer else None,
            )
            for n in options.nodes
        ]
        for drive in drives:
            drive.tell_felt = partial(self._felt, drive.node)
        self._line = EmulatedLine(drives, by_clock=options.time == "clock")
        self._is_open, self._rate, self._rest = False, 0, b""
        self._has_errors = False
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self._slave)

    def _felt(self, node: int, values: Sequence[float]) -> list[float]:
        return self._sender.values(values, *_LARGEST, part=node)

    def _shaft(self) -> Shaft:
        options = self._options
        return Shaft(
            options.inertia, options.viscous, options.coulomb, misalignment=options.misalignment
        )

    def _tachometer(self) -> Tachometer:
        options = self._options
        return Tachometer(options.tachometer_corner, options.tachometer_noise, options.seed)

    def run(self, waiting: Waiting) -> None:
        """Serve until SIGTERM."""
        tick = time.monotonic()
        while not waiting.stopped:
            ready = waiting.wait([self.master], tick, self._sender.due)
            self._sender.flush()
            now = time.monotonic()
            if ready and not self._sender.dead:
                self._hear(os.read(self.master, 65536), now)
            elif ready:
                os.read(self.master, 65536)
            if now >= tick:
                tick = now + _TICK
                self._tick(now)

    def close(self) -> None:
        """Take the CAN adapter away."""
        os.close(self._slave)
        os.close(self.master)

    def _tick(self, now: float) -> None:
        if self._sender.dead:
            return
        if self._sender.restarts():
            for drive in self._line.drives:
                drive.boot()
        for drive in self._line.drives:
            drive.warns = self._sender.wrong_status
        self._inject(now)
        if self._line.tick(now):
            self._log_motion()
        self._flush()

    def _inject(self, now: float) -> None:
        for fault in list(self._faults):
            drive = next(d for d in self._line.drives if d.node == fault.node)
            if drive.enabled_at is not None and now - drive.enabled_at >= fault.after:
                self._faults.remove(fault)
                self._log.write(f"inject_{fault.kind}", node=fault.node)
                fault.inject(drive)
                if fault.kind == "dead":
                    self._line.drives.remove(drive)

    def _hear(self, data: bytes, now: float) -> None:
        *lines, self._rest = (self._rest + data).split(b"\r")
        for line in lines:
            self._obey(line, now)
        self._flush()

    def _obey(self, line: bytes, now: float) -> None:
        reply: bytes | None = b"\r"
        if line[:1] == b"t":
            reply = self._frame(line, now)
        elif line[:1] == b"S" and line[1:].isdigit() and int(line[1:]) < len(_RATES):
            self._rate = _RATES[int(line[1:])] * 1000
        elif line == b"O":
            self._is_open, self._has_errors = True, False
        elif line == b"C":
            self._is_open = False
        elif line == b"F":
            reply = b"F80\r" if self._has_errors else b"F00\r"
        elif line and line != b"Z0":
            reply = b"\a"
        if reply:
            self._write(reply)

    def _frame(self, line: bytes, now: float) -> bytes | None:
        match = _LINE.fullmatch(line)
        if not self._is_open or match is None or len(match[3]) != 2 * int(match[2]):
            return b"\a"
        if self._rate != self._options.bitrate:
            self._has_errors = True  # nobody acknowledges what nobody understands
            return None
        identifier, data = int(match[1], 16), bytes.fromhex(match[3].decode())
        for frame in self._line.take(identifier, data, now):
            self._sender.send(self._write, _line(frame))
        if identifier == 0x80:
            self._log_motion()
        return None

    def _log_motion(self) -> None:
        if self._options.log is None:
            return
        for drive in self._line.drives:
            self._log.write(
                "cycle",
                node=drive.node,
                position=f"{drive.shaft.position:.9g}",
                velocity=f"{drive.shaft.velocity:.9g}",
                torque=drive.torque_count,
                wanted="" if drive.command is None else f"{drive.command:.9g}",
            )

    def _flush(self) -> None:
        for frame in self._line.answers():
            self._write(_line(frame))

    def _write(self, data: bytes) -> None:
        is_frame = data[:1] == b"t" or not data.endswith((b"\r", b"\a"))
        if is_frame and (not self._is_open or self._rate != self._options.bitrate):
            return
        ended = data if data.endswith((b"\r", b"\a")) else data + b"\r"
        with contextlib.suppress(BlockingIOError):  # nobody reads: the buffer of the port is full
            os.write(self.master, ended)


def _line(frame: Frame) -> bytes:
    identifier, data = frame
    return b"t%03X%d%s\r" % (identifier, len(data), data.hex().upper().encode())


def _nodes(text: str) -> list[int]:
    nodes = [int(part) if part.isdecimal() else 0 for part in text.split(",")]
    if len(set(nodes)) < len(nodes) or not all(0 < node < 128 for node in nodes):
        raise argparse.ArgumentTypeError(f"expected nodes from 1 to 127, each once, found '{text}'")
    return nodes


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to below 1, found '{text}'")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number >= 1, found '{text}'")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser("canopen_cia402", "Drives of CiA 402 behind a serial CAN adapter.")
    add = parser.add_argument
    add("--link", type=Path, help="symbolic link to the pseudo terminal, which must not exist")
    add("--nodes", type=_nodes, default=[1], help="nodes of the drives, such as 1,2 (default: 1)")
    add("--one-shaft", action="store_true", help="put all drives on one shaft")
    add(
        "--bitrate",
        type=int,
        default=1_000_000,
        help="bit rate of the line, bit/s (default: %(default)s)",
    )
    add("--counts", type=int, default=65536, help="increments per turn (default: %(default)s)")
    add(
        "--rated-torque",
        type=positive,
        default=1.0,
        help="rated torque, N.m (default: %(default)s)",
    )
    add(
        "--inertia",
        type=positive,
        default=1e-3,
        help="inertia of a shaft, kg m2 (default: %(default)s)",
    )
    add(
        "--viscous",
        type=float,
        default=1e-4,
        help="viscous friction of a shaft, N.m.s/rad (default: %(default)s)",
    )
    add(
        "--coulomb",
        type=float,
        default=0.0,
        help="Coulomb friction of a shaft, N.m (default: %(default)s)",
    )
    add(
        "--misalignment",
        type=float,
        default=0.0,
        help="torque of bent couplings, once per turn, N.m (default: %(default)s)",
    )
    add(
        "--ripple",
        type=_share,
        default=0.0,
        help="ripple of the first node's torque, 0 to below 1 (default: %(default)s)",
    )
    add(
        "--segments",
        type=_count,
        default=7,
        help="periods of the ripple per turn (default: %(default)s)",
    )
    add(
        "--tachometer",
        type=int,
        default=0,
        help="node whose velocity is that of a tachometer (default: none)",
    )
    add(
        "--tachometer-noise",
        type=float,
        default=0.0,
        help="noise of the tachometer in a cycle, rad/s (default: %(default)s)",
    )
    add(
        "--tachometer-corner",
        type=positive,
        default=50.0,
        help="corner of its Butterworth filter, Hz (default: %(default)s)",
    )
    add(
        "--bandwidth",
        type=positive,
        default=40.0,
        help="bandwidth of the velocity loop, Hz (default: %(default)s)",
    )
    add(
        "--current-lag",
        type=float,
        default=0.5,
        help="lag of the torque, ms (default: %(default)s)",
    )
    add(
        "--time",
        choices=("clock", "sync"),
        default="clock",
        help="sync: the time of the shafts advances with SYNC only, by a cycle each",
    )
    add(
        "--sync-tolerance",
        type=int,
        default=20,
        help="cycles without SYNC until a fault (default: %(default)s)",
    )
    add(
        "--drive-fault",
        default="",
        metavar="NODE:KIND:SECONDS",
        help="fault of a drive after SECONDS in operation: mute, dead, deaf, reset, blocked, cut"
        " (its tachometer), or the code of an emergency in hex; several separated by commas",
    )
    return parser


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    options = _parser().parse_args(arguments)
    log = EventLog(options.log, _COLUMNS)
    with Waiting() as waiting:
        adapter = SerialAdapter(options, log)
        try:
            if options.link is not None:
                options.link.symlink_to(adapter.path)
            print_ready({"slcan": str(options.link or adapter.path)}, as_json=options.json)
            adapter.run(waiting)
        finally:
            if options.link is not None and options.link.is_symlink():
                options.link.unlink()
            adapter.close()
            log.close()


if __name__ == "__main__":
    sys.exit(run_program(main))
