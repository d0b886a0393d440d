"""An emulated rig that is a DCP slave: ``python -m hw_adapters.dcp.emulator --port PORT``.

One axis over UDP in SRT and HRT, ``axis.dcpx``. It reads and writes its PDUs by itself, little
endian, from section 3.3.7 of the standard. The position follows what is wanted by a delay and a
lag. Faults act on data PDUs; dead, it answers nothing at all.
"""

from __future__ import annotations

import argparse
import struct
import sys
import time
from collections.abc import Sequence

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
    udp_socket,
)
from hw_adapters.emulation.tracking import Tracking

_COLUMNS = ("number", "state", "wanted", "position", "velocity")
_UUID = bytes.fromhex("8a1f6f0e3d0b4c579c1e5f2b7a90d311")
_NOT_ALLOWED, _STATE, _WRONG_UUID, _SEQUENCE, _MODE = 0x1003, 0x200D, 0x2011, 0x2013, 0x2008
#: STC request: the states that it is allowed in, and those that the slave passes through after it.
_MOVES = {
    0x01: ((0x00,), (0x01,)),
    0x02: ((0x01, 0x10, 0x12), (0x00,)),
    0x03: ((0x01,), (0x02, 0x03)),
    0x04: ((0x03,), (0x04, 0x05)),
    0x05: ((0x05,), (0x06, 0x07)),
    0x08: ((0x07,), (0x08, 0x05)),
    0x09: (tuple(range(0x02, 0x0F)), (0x0F, 0x10)),
}
_RUN = {0x05: (0x09, 0x0A), 0x0A: (0x0B,)}
#: What a saturated axis shows, m and m/s.
_LARGEST = 1e3
_WITHOUT = {
    "wrong-status": "a slave that is not in order leaves RUNNING and sends no data",
    "clock-jump": "a data PDU has a number, which counts PDUs, and no time",
}


class Axis:
    """The rig as a slave."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._sender = sender_of(options, log, _WITHOUT, wraps=True)
        self.socket = udp_socket(options.host, options.port)
        self._begin()

    def _begin(self) -> None:
        """Be as after switching on."""
        self._state, self._number, self._last, self._error = 0, 0, 0, 0
        self._master: Address | None = None
        self._heard = time.monotonic()
        self._steps, self._target = 2, ("", 0)
        self._sent = int(self._sender.first(0, 65536, 1e3 / self._steps))
        self._input_id = self._output_id = -1
        self._places: dict[int, int] = {}
        self._due: float | None = None
        self._born = time.monotonic()
        options = self._options
        self._axis = Tracking(1, round(options.delay * 1e6), options.bandwidth, options.damping)

    @property
    def addresses(self) -> dict[str, Address | str]:
        """Where it can be reached."""
        return {"udp": self.socket.getsockname()}

    def close(self) -> None:
        """Give its port back."""
        self.socket.close()

    def run(self, waiting: Waiting) -> None:
        """Answer, and sample at the rate, until SIGTERM."""
        while not waiting.stopped:
            silence = self._heard + self._options.silence if 0x00 < self._state < 0x11 else None
            if waiting.wait([self.socket], self._due, self._sender.due, silence):
                content, sender = self.socket.recvfrom(4096)
                if not self._sender.dead:
                    self._take(content, sender)
            self._sender.flush()
            if self._sender.restarts():
                self._begin()
            if silence is not None and time.monotonic() > silence:
                self._fail(0x1002)
            if self._due is not None and time.monotonic() >= self._due:
                self._sample(self._due)

    def _take(self, content: bytes, sender: Address) -> None:
        if len(content) >= 5 and content[0] == 0xF0:
            self._take_data(content)
            return
        if len(content) < 4:
            return
        kind, number, receiver = struct.unpack_from("<BHB", content)
        is_mine = receiver == self._number and sender == self._master
        if kind >= 0xB0 or not (is_mine if self._state else receiver):
            return
        if self._state and number != (self._last + 1) % 65536:
            self._refuse(sender, number, receiver, _SEQUENCE)
            return
        self._last, self._heard = number, time.monotonic()
        error = self._do(kind, content, sender)
        if error:
            self._refuse(sender, number, receiver, error)

    def _refuse(self, sender: Address, number: int, receiver: int, error: int) -> None:
        self._log.write("refused", number=number, state=self._state)
        nack = struct.pack("<BHBHH", 0xB1, number, receiver, (self._last + 1) % 65536, error)
        self.socket.sendto(nack, sender)

    def _do(self, kind: int, content: bytes, sender: Address) -> int:
        number, receiver = self._last, content[3]
        if kind == 0x80:
            self.socket.sendto(struct.pack("<BHBB", 0xB2, number, receiver, self._state), sender)
            return 0
        if kind == 0x81 and self._state >= 0x11:
            self.socket.sendto(struct.pack("<BHBH", 0xB3, number, receiver, self._error), sender)
            return 0
        if kind >= 0x20:
            if self._state != 0x01 or kind == 0x81:
                return _NOT_ALLOWED
            self._configure(kind, content)
            self.socket.sendto(struct.pack("<BHB", 0xB0, number, receiver), sender)
            return 0
        return self._move(kind, content, sender)

    def _configure(self, kind: int, content: bytes) -> None:
        if kind == 0x21:
            self._steps = int(struct.unpack_from("<I", content, 4)[0])
        elif kind == 0x22:
            self._input_id = int(struct.unpack_from("<H", content, 4)[0])
        elif kind == 0x23:
            self._output_id, at, reference = struct.unpack_from("<HHQ", content, 4)
            self._places[at] = reference
        elif kind == 0x25:
            port, host = struct.unpack_from("<HI", content, 7)
            self._target = (".".join(map(str, host.to_bytes(4, "big"))), port)

    def _move(self, kind: int, content: bytes, sender: Address) -> int:
        before, after = _MOVES.get(kind, ((), ()))
        if kind == 0x06:
            before, after = tuple(_RUN), _RUN.get(self._state, ())
        if self._state not in before:
            return _NOT_ALLOWED
        if content[4] != self._state:
            return _STATE
        if kind == 0x01:
            if content[5:21] != _UUID:
                return _WRONG_UUID
            if content[21] > 1:
                return _MODE
            self._number, self._master = content[3], sender
        self.socket.sendto(struct.pack("<BHB", 0xB0, self._last, self._number), sender)
        for state in after:
            self._enter(state)
        return 0

    def _enter(self, state: int) -> None:
        if state == 0x08:
            self._send_outputs()
        self._state = state
        self._log.write("state", state=state)
        if self._master is not None and not self._sender.dead:
            self.socket.sendto(bytes([0xE0, self._number, state]), self._master)
        if state == 0x09:
            self._due = time.monotonic()
        elif state in (0x0F, 0x11):
            self._due = None
        elif state == 0x00:
            self._begin()

    def _fail(self, error: int) -> None:
        self._error = error
        self._enter(0x11)
        self._enter(0x12)

    def _take_data(self, content: bytes) -> None:
        number, data_id = struct.unpack_from("<HH", content, 1)
        if data_id != self._input_id or len(content) != 13:
            self._log.write("foreign")
            return
        (target,) = struct.unpack_from("<d", content, 5)
        self._axis.command(self._since_birth(time.monotonic()), np.array([target]))
        self._log.write("command", number=number, wanted=f"{target:.12g}")

    def _since_birth(self, moment: float) -> int:
        return round((moment - self._born) * 1e9)

    def _sample(self, due: float) -> None:
        self._axis.advance(self._since_birth(due))
        self._send_outputs()
        self._due = due + self._steps * 1e-3

    def _send_outputs(self) -> None:
        position, velocity = float(self._axis.position[0]), float(self._axis.velocity[0])
        values_by_reference = dict(
            zip((20, 21), self._sender.values((position, velocity), _LARGEST), strict=True)
        )
        values = [values_by_reference[self._places[at]] for at in sorted(self._places)]
        header = struct.pack("<BHH", 0xF0, self._sent, self._output_id)
        self._log.write(
            "sample",
            number=self._sent,
            position=f"{position:.12g}",
            velocity=f"{velocity:.12g}",
        )
        self._sent = (self._sent + 1) % 65536
        content = header + struct.pack(f"<{len(values)}d", *values)
        target = self._target
        self._sender.send(lambda datagram: self.socket.sendto(datagram, target), content)


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("dcp", "A DCP slave: a rig with one axis that follows its commands.")
    add = parser.add_argument
    add("--port", type=int, default=8080, help="UDP port; 0: any free port (default: %(default)s)")
    add(
        "--silence",
        type=positive,
        default=2.0,
        help="silence of the master after which it stops, s (default: %(default)s)",
    )
    add_tracking_options(parser)
    options = parser.parse_args(arguments)
    emulate(Axis, options, _COLUMNS)


if __name__ == "__main__":
    sys.exit(run_program(main))
