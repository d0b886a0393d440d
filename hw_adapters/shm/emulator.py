"""An emulated program with one axis in shared memory: ``python -m hw_adapters.shm.emulator``.

It makes the block ``/dev/shm/NAME`` with two measurements, position in m and velocity in m/s, and
one command, the position wanted in m; the position follows it by a delay and a lag. Faults that a
newest sample cannot have (``duplicate``, ``reorder``) are refused.
"""

from __future__ import annotations

import argparse
import array
import binascii
import math
import mmap
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faulty_sender import sender_of
from hw_adapters.emulation.options import add_tracking_options, positive
from hw_adapters.emulation.program import (
    Address,
    Waiting,
    emulate,
    option_parser,
    run_program,
)
from hw_adapters.emulation.tracking import Tracking

#: What a saturated axis shows, m and m/s.
_LARGEST = 1e3
#: A command whose number is behind the newest by less is an old one, unless none came for a while.
_OLD, _PAUSE_S = 10_000, 1.0
_COLUMNS = ("number", "wanted", "position", "velocity")
#: Header, two measurements, one command.
_SIZE = 32 + (32 + 16) + (32 + 8)
_MEASURED, _WANTED = 32, 80
_NEWEST = "shared memory holds the newest sample only: it can neither be repeated nor overtaken"
_WITHOUT = dict.fromkeys(("duplicate", "reorder", "burst"), _NEWEST)


class Program:
    """The axis, sample by sample."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._sender = sender_of(options, log, _WITHOUT, counts_on=True)
        self.path = Path("/dev/shm") / options.name  # noqa: S108 # that is where it is
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.ftruncate(descriptor, _SIZE)
            self._block = mmap.mmap(descriptor, _SIZE)
        finally:
            os.close(descriptor)
        self._block[0:16] = b"SDSHM1\0\0" + bytes((2, 0, 0, 0, 1, 0, 0, 0))
        self._taken = self._number_taken = 0
        self._heard = -math.inf
        self._axis = Tracking(1, round(options.delay * 1e6), options.bandwidth, options.damping)
        self._begin(time.monotonic())

    def _begin(self, born: float) -> None:
        self._axis.stand()
        self._born = born
        self._number = 0

    def _restart(self, due: float) -> None:
        clock, number = self._since_birth(due), self._number
        born = max(self._sender.count_after_restart(clock * 1e-9, 0.0, 1.0), 0.0)
        self._begin(due - born)
        rate = self._options.rate
        self._number = max(round(self._sender.count_after_restart(number, 0.0, rate)), 0)

    @property
    def addresses(self) -> dict[str, Address | str]:
        """Where it can be reached."""
        return {"shm": self._options.name}

    def run(self, waiting: Waiting) -> None:
        """Sample at the rate until SIGTERM."""
        period = 1.0 / self._options.rate
        begin, count = self._born, 0
        while not waiting.stopped:
            deadline = begin + count * period
            waiting.wait([], deadline, self._sender.due)
            self._sender.flush()
            if time.monotonic() >= deadline:
                self._take()
                self._sample(deadline)
                count += 1

    def close(self) -> None:
        """Take the block away; whoever has it mapped keeps what was in it."""
        self._block.close()
        self.path.unlink(missing_ok=True)

    def _since_birth(self, moment: float) -> int:
        return round((moment - self._born) * 1e9)

    def _take(self) -> None:
        record = self._block[_WANTED : _WANTED + 40]
        counter = int.from_bytes(record[:8], "little")
        if self._sender.dead or counter == self._taken or counter & 1:
            return
        if binascii.crc32(record[32:], binascii.crc32(record[8:28])) != int.from_bytes(
            record[28:32], "little"
        ):
            return  # torn: it is whole at the next sample
        self._taken = counter
        number, now = int.from_bytes(record[8:16], "little"), time.monotonic()
        if 0 < self._number_taken - number < _OLD and now - self._heard < _PAUSE_S:
            self._log.write("old", number=number)
            return
        self._number_taken, self._heard = number, now
        (target,) = array.array("d", record[32:])
        self._axis.command(self._since_birth(time.monotonic()), np.array([target]))
        self._log.write("command", number=number, wanted=f"{target:.12g}")

    def _sample(self, due: float) -> None:
        """Sample at the moment that was due: a device's clock does not wait for a program."""
        if self._sender.restarts():
            self._restart(due)
        now = self._since_birth(due)
        self._axis.advance(now)
        felt = float(self._axis.position[0]), float(self._axis.velocity[0])
        values = array.array("d", self._sender.values(felt, _LARGEST)).tobytes()
        status = int(self._sender.wrong_status)
        clock = now + round(self._sender.clock_jump_s * 1e9)
        fixed = b"".join(
            n.to_bytes(size, "little") for n, size in ((self._number, 8), (clock, 8), (status, 4))
        )
        crc = binascii.crc32(values, binascii.crc32(fixed)).to_bytes(4, "little")
        self._log.write(
            "sample",
            number=self._number,
            position=f"{felt[0]:.12g}",
            velocity=f"{felt[1]:.12g}",
        )
        self._number += 1
        self._sender.send(self._store, fixed + crc + values)

    def _store(self, content: bytes) -> None:
        at = _MEASURED
        counter = int.from_bytes(self._block[at : at + 8], "little")
        self._block[at : at + 8] = (counter + 1).to_bytes(8, "little")
        self._block[at + 8 : at + 8 + len(content)] = content
        self._block[at + 8 + len(content) : at + 48] = bytes(40 - len(content))
        self._block[at : at + 8] = (counter + 2).to_bytes(8, "little")


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("shm", "A program with one axis that follows its commands.")
    add = parser.add_argument
    add("--name", required=True, help="name of the block, /dev/shm/NAME, which must not exist")
    add(
        "--rate",
        type=positive,
        default=1000.0,
        help="samples per second, Hz (default: %(default)s)",
    )
    add_tracking_options(parser)
    options = parser.parse_args(arguments)
    if "/" in options.name or options.name in {"", ".", ".."}:
        parser.error(f"--name: expected a name without '/', found '{options.name}'")
    emulate(Program, options, _COLUMNS)


if __name__ == "__main__":
    sys.exit(run_program(main))
