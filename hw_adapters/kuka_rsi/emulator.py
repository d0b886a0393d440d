"""An emulated KUKA robot: ``python -m hw_adapters.kuka_rsi.emulator --peer HOST:PORT``.

It is the clock: a datagram for each cycle, at absolute deadlines. It writes and reads its XML by
itself. With ``--link HOST:PORT`` it tells an emulated sensor where it is, in every cycle, as
``<4sIQ12d``: ``b"SDPL"``, the number of the cycle, CLOCK_MONOTONIC in ns, the displacement from
the start in m and rad (X Y Z A B C), and its rate in m/s and rad/s.
"""

from __future__ import annotations

import argparse
import math
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

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
from hw_adapters.kuka_rsi.controller import IPOC_PERIOD, Controller, Setup

_COLUMNS = ("number", "cycle", "ipoc", "late", *(f"asked_{i}" for i in range(1, 7)))
_COLUMNS += (*(f"commanded_{i}" for i in range(1, 7)), *(f"actual_{i}" for i in range(1, 7)))
_LINK = struct.Struct("<4sIQ12d")
#: What a saturated encoder shows, mm and degrees.
_LARGEST = 1e4
_MOST_PPM = 1e5
_SI = (*(1e-3,) * 3, *(math.pi / 180.0,) * 3)


class Robot:
    """The controller at its wire."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._setup = Setup(
            cycle_ms=options.cycle,
            space=options.space,
            relative=options.relative,
            hold_on=options.hold_on == 1,
            timeout=options.timeout,
            lower=options.lower,
            upper=options.upper,
            monitor=options.monitor,
            delay_ms=options.delay,
            bandwidth_hz=options.bandwidth,
            damping=options.damping,
            echo=options.echo,
        )
        self._sender = sender_of(options, log, follows=True, counts_on=True, wraps=True)
        ipoc = self._sender.first(options.ipoc, IPOC_PERIOD, 1000.0)
        self._controller = Controller(self._setup, round(ipoc))
        self._jumped = False
        self.socket = udp_socket(options.host, 0)

    @property
    def addresses(self) -> dict[str, Address | str]:
        """Where it can be reached."""
        return {"udp": self.socket.getsockname()}

    def close(self) -> None:
        """Give its port back."""
        self.socket.close()

    def run(self, waiting: Waiting) -> None:
        """Send a frame for each cycle until SIGTERM or a stop of the robot."""
        period = self._setup.cycle_ms * 1e-3 * (1.0 + self._options.clock_ppm * 1e-6)
        deadline = time.monotonic()
        self._begin_cycle()
        deadline += period
        while not waiting.stopped and not self._controller.stopped:
            ready = waiting.wait([self.socket], deadline, self._sender.due)
            self._sender.flush()
            if time.monotonic() >= deadline:
                self._end_cycle()
                deadline += period / (1.0 + self._sender.clock_fast)
            elif ready:
                self._take(self.socket.recv(4096))
        self._log.write("stop", **self._log_cells())

    def _end_cycle(self) -> None:
        if self._controller.asked.any():
            self._sender.moved()
        self._controller.follow_later(self._sender.slower_ms)
        happened = self._controller.next_cycle()
        if happened:
            self._log.write(happened, **self._log_cells())
        if self._controller.stopped:
            sys.stderr.write(f"robot stopped: {self._controller.stopped}\n")
            return
        jump_s = 0.0 if self._sender.clock_fast else self._sender.clock_jump_s
        if jump_s and not self._jumped:
            self._jumped = True
            self._controller.ipoc = (self._controller.ipoc + round(jump_s * 1e3)) % IPOC_PERIOD
        if self._sender.restarts():
            pose = tuple(self._controller.pose.tolist())  # it does not move while it is off
            ipoc = self._sender.count_after_restart(
                self._controller.ipoc, self._options.ipoc // 2, 1000.0
            )
            self._controller = Controller(
                replace(self._setup, start=pose), round(ipoc) % IPOC_PERIOD
            )
        self._begin_cycle()

    def _begin_cycle(self) -> None:
        self._log.write("cycle", **self._log_cells())
        self._sender.send(self._to_peer, self._frame())
        if self._options.link is not None and not self._sender.dead:
            self.socket.sendto(self._displacement(), self._options.link)

    def _to_peer(self, datagram: bytes) -> None:
        self.socket.sendto(datagram, self._options.peer)

    def _take(self, datagram: bytes) -> None:
        if not self._sender.dead:
            self._log.write(self._controller.take(datagram), **self._log_cells())

    def _frame(self) -> bytes:
        robot = self._controller
        actual, commanded = (
            ("RIst", "RSol") if self._setup.space == "cartesian" else ("AIPos", "ASPos")
        )
        names = "XYZABC" if self._setup.space == "cartesian" else [f"A{i}" for i in range(1, 7)]
        ends = [
            start + offset for start, offset in zip(robot.setup.start, robot.commanded, strict=True)
        ]
        parts = ['<Rob TYPE="KUKA">']
        pose = self._sender.values(robot.pose.tolist(), _LARGEST)
        groups = [(actual, pose), (commanded, ends)]
        if self._setup.echo:
            groups.append((self._setup.echo, robot.in_force.tolist()))
        for tag, values in groups:
            cells = " ".join(f'{n}="{v:.4f}"' for n, v in zip(names, values, strict=True))
            parts.append(f"<{tag} {cells}/>")
        late_packets = robot.late + (1 + robot.cycle if self._sender.wrong_status else 0)
        parts.append(f'<Delay D="{late_packets}"/><IPOC>{robot.ipoc}</IPOC></Rob>')
        return "".join(parts).encode()

    def _displacement(self) -> bytes:
        robot = self._controller
        offset = (robot.pose - self._setup.start) * _SI
        now = time.monotonic_ns()
        return _LINK.pack(b"SDPL", robot.cycle & 0xFFFFFFFF, now, *offset, *(robot.velocity * _SI))

    def _log_cells(self) -> dict[str, object]:
        robot = self._controller
        cells: dict[str, object] = {"cycle": robot.cycle, "ipoc": robot.ipoc, "late": robot.late}
        groups = (("asked", robot.asked), ("commanded", robot.commanded), ("actual", robot.pose))
        for name, values in groups:
            cells |= {f"{name}_{i}": f"{value:.9g}" for i, value in enumerate(values, 1)}
        return cells


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("kuka_rsi", "A KUKA robot under RSI that follows its corrections.")
    add = parser.add_argument
    add("--peer", type=address, required=True, help="HOST:PORT of the adapter")
    add(
        "--cycle",
        type=int,
        choices=(4, 12),
        default=4,
        help="cycle of the interpolator, ms (default: %(default)s)",
    )
    add(
        "--space",
        choices=("cartesian", "joint"),
        default="cartesian",
        help="space of the corrections (default: %(default)s)",
    )
    add("--relative", action="store_true", help="take corrections as increments")
    add(
        "--hold-on",
        type=int,
        choices=(0, 1),
        default=1,
        help="0: a late answer is a correction of zero (default: %(default)s)",
    )
    add(
        "--timeout",
        type=int,
        default=100,
        help="late answers until RSI stops (default: %(default)s)",
    )
    add(
        "--lower",
        type=float,
        default=-50.0,
        help="lower limit of a correction, mm or degrees (default: %(default)s)",
    )
    add(
        "--upper",
        type=float,
        default=50.0,
        help="upper limit of a correction, mm or degrees (default: %(default)s)",
    )
    add(
        "--monitor",
        type=positive,
        default=100.0,
        help="correction beyond which RSI stops, mm or degrees (default: %(default)s)",
    )
    add_tracking_options(parser, delay_ms=16.0)
    add(
        "--ipoc",
        type=int,
        default=4208163634,
        help="IPOC of the first frame (default: %(default)s)",
    )
    add(
        "--clock-ppm",
        type=float,
        default=0.0,
        help="millionths by which its second is longer (default: %(default)s)",
    )
    add("--echo", default="", help="element in which it sends the correction back that it uses")
    add("--link", type=address, help="HOST:PORT of an emulated sensor that receives its position")
    options = parser.parse_args(arguments)
    if options.delay < options.cycle:
        parser.error(
            f"--delay: expected at least a cycle, {options.cycle} ms, found {options.delay}"
        )
    if not 0 <= options.ipoc < IPOC_PERIOD:
        parser.error(f"--ipoc: expected 32 bits, found {options.ipoc}")
    if not abs(options.clock_ppm) <= _MOST_PPM:
        parser.error(f"--clock-ppm: expected at most {_MOST_PPM:g} either way")
    emulate(Robot, options, _COLUMNS)


if __name__ == "__main__":
    sys.exit(run_program(main))
