"""An emulated rig with one axis: ``python -m hw_adapters.udp.emulator --peer HOST:PORT``.

Little endian, without gaps, CRC-32 of all bytes before it at the end. It sends 44 bytes: u32
0x53444D31, u32 number, u64 time in ns, u32 status (0: in order), f64 position in m, f64 velocity
in m/s, u32 number of the newest command that it took (0: none; with ``--no-taken`` it is left out:
40 bytes), u32 CRC. It takes 28 bytes: u32 0x53444331, u32 number, u64 time, f64 position wanted
in m, u32 CRC. The position follows what is wanted by a delay and a lag.
"""

from __future__ import annotations

import argparse
import binascii
import math
import struct
import sys
import time
from collections.abc import Sequence

import numpy as np

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faulty_sender import sender_of
from hw_adapters.emulation.options import add_tracking_options, address, positive
from hw_adapters.emulation.program import (
    Address,
    Waiting,
    emulate,
    option_parser,
    run_program,
    udp_socket,
)
from hw_adapters.emulation.tracking import Tracking

_COLUMNS = ("number", "wanted", "position", "velocity")
#: What a saturated axis shows, m and m/s.
_LARGEST = 1e3
#: A command whose number is behind the newest by less is an old one, unless none came for a while.
_OLD, _PAUSE_S = 10_000, 1.0


class Rig:
    """The axis, sample by sample."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._sender = sender_of(options, log, counts_on=True, wraps=True)
        self._heard = -math.inf
        self.socket = udp_socket(options.host, options.port)
        self._axis = Tracking(1, round(options.delay * 1e6), options.bandwidth, options.damping)
        self._begin(time.monotonic())
        self._number = int(self._sender.first(0, 2**32, options.rate))

    def _begin(self, born: float) -> None:
        self._axis.stand()
        self._born = born
        self._number = self._taken = 0

    def _restart(self, due: float) -> None:
        clock, number = self._since_birth(due), self._number
        born = max(self._sender.count_after_restart(clock * 1e-9, 0.0, 1.0), 0.0)
        self._begin(due - born)
        rate = self._options.rate
        self._number = max(round(self._sender.count_after_restart(number, 0.0, rate)), 0)

    @property
    def addresses(self) -> dict[str, Address | str]:
        """Where it can be reached."""
        return {"udp": self.socket.getsockname()}

    def close(self) -> None:
        """Give its port back."""
        self.socket.close()

    def run(self, waiting: Waiting) -> None:
        """Sample at the rate until SIGTERM."""
        period = 1.0 / self._options.rate
        begin, count = self._born, 0
        while not waiting.stopped:
            deadline = begin + count * period
            if waiting.wait([self.socket], deadline, self._sender.due):
                self._take(self.socket.recv(4096))
            self._sender.flush()
            if time.monotonic() >= deadline:
                self._sample(deadline)
                count += 1

    def _since_birth(self, moment: float) -> int:
        return round((moment - self._born) * 1e9)

    def _take(self, datagram: bytes) -> None:
        if self._sender.dead:
            return
        is_complete = len(datagram) == 28 and datagram[:4] == b"1CDS"
        if not is_complete or binascii.crc32(datagram[:24]).to_bytes(4, "little") != datagram[24:]:
            self._log.write("foreign")
            return
        number, _, target = struct.unpack_from("<LQd", datagram, 4)
        now, before = time.monotonic(), self._heard
        if 0 < self._taken - number < _OLD and now - before < _PAUSE_S:
            self._log.write("old", number=number)
            return
        self._heard = now
        self._axis.command(self._since_birth(time.monotonic()), np.array([target]))
        self._taken = number
        self._log.write("command", number=number, wanted=f"{target:.12g}")

    def _sample(self, due: float) -> None:
        """Sample at the moment that was due: a device's clock does not wait for a program."""
        if self._sender.restarts():
            self._restart(due)
        now = self._since_birth(due)
        self._axis.advance(now)
        position, velocity = float(self._axis.position[0]), float(self._axis.velocity[0])
        status = 1 if self._sender.wrong_status else 0
        values = self._sender.values((position, velocity), _LARGEST)
        clock = now + round(self._sender.clock_jump_s * 1e9)
        body = b"1MDS" + struct.pack("<LQLdd", self._number, clock, status, *values)
        if self._options.taken:
            body += struct.pack("<L", self._taken)
        body += binascii.crc32(body).to_bytes(4, "little")
        self._log.write(
            "sample",
            number=self._number,
            position=f"{position:.12g}",
            velocity=f"{velocity:.12g}",
        )
        self._number = (self._number + 1) % 2**32
        self._sender.send(lambda content: self.socket.sendto(content, self._options.peer), body)


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("udp", "A rig with one axis that follows its commands.")
    add = parser.add_argument
    add("--peer", type=address, required=True, help="HOST:PORT of the adapter")
    add(
        "--port",
        type=int,
        default=0,
        help="UDP port of the commands; 0: any free port (default: %(default)s)",
    )
    add(
        "--rate",
        type=positive,
        default=1000.0,
        help="samples per second, Hz (default: %(default)s)",
    )
    add_tracking_options(parser)
    add(
        "--no-taken", dest="taken", action="store_false", help="do not report which command it took"
    )
    options = parser.parse_args(arguments)
    emulate(Rig, options, _COLUMNS)


if __name__ == "__main__":
    sys.exit(run_program(main))
