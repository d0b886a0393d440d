"""An emulated Net F/T on a metal sheet: ``python -m hw_adapters.ati_net_ft.emulator``.

It streams RDT records to whoever asked last, and has the page of its calibration. Where the tip
is comes over a link of its own, ``--link-port``: see the emulator of ``kuka_rsi``.
"""

from __future__ import annotations

import argparse
import http.server
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence

from hw_adapters.ati_net_ft.sheet import Probe, Sheet
from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faulty_sender import sender_of
from hw_adapters.emulation.options import positive
from hw_adapters.emulation.program import (
    Address,
    Waiting,
    option_parser,
    print_ready,
    run_program,
    udp_socket,
)

_COLUMNS = ("number", "client", "rdt", "ft", "status", "displacement", "force")
_PAGE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<netft><runstat>0x00000000</runstat><cfgcpf>{cpf}</cfgcpf><cfgcpt>{cpt}</cfgcpt>
<scfgfu>N</scfgfu><scfgtu>Nm</scfgtu><comrdte>Enabled</comrdte><comrdtrate>{rate}</comrdtrate>
<comrdtbsiz>1</comrdtbsiz></netft>
"""
_MOST = 2**31 - 1
_WITHOUT = {"nan": "RDT sends whole counts, which are always numbers"}


class Sensor:
    """One sensor, sample by sample."""

    def __init__(self, options: argparse.Namespace, log: EventLog) -> None:
        self._options, self._log = options, log
        self._sender = sender_of(options, log, _WITHOUT, wraps=True)
        self._sheet = Sheet(
            options.stiffness,
            options.damping,
            "XYZ".index(options.axis),
            options.gap * 1e-3,
            options.both_sides,
            options.noise,
            options.seed,
        )
        self._probe = Probe()
        self._bias = [0] * 6
        self._client: Address | None = None
        self._left: int | None = None
        self._per_datagram = 1
        self._buffer: list[bytes] = []
        self._rdt, self._ft = 0, self._sender.first(0.0, 2**32, options.internal_rate)
        self.socket = udp_socket(options.host, options.port)
        self.link = udp_socket(options.host, options.link_port)

    def run(self, waiting: Waiting) -> None:
        """Sample at the rate until SIGTERM."""
        period = 1.0 / self._options.rate
        begin, count = time.monotonic(), 0
        while not waiting.stopped:
            deadline = begin + count * period
            for ready in waiting.wait([self.socket, self.link], deadline, self._sender.due):
                self._take(ready)
            self._sender.flush()
            if time.monotonic() >= deadline:
                self._sample()
                count += 1

    def _take(self, ready: socket.socket) -> None:
        datagram, client = ready.recvfrom(4096)
        if self._sender.dead:
            return
        if ready is self.link:
            if not self._probe.take(datagram):
                self._log.write("foreign", client=f"{client[0]}:{client[1]}")
        elif len(datagram) == 8 and datagram[:2] == b"\x12\x34":
            _, command, samples = struct.unpack("!HHL", datagram)
            self._obey(command, samples, client)
        else:
            self._log.write("foreign", client=f"{client[0]}:{client[1]}")

    def _obey(self, command: int, samples: int, client: Address) -> None:
        self._log.write(f"request {command:#06x}", client=f"{client[0]}:{client[1]}")
        if command in {2, 3}:
            self._client, self._left = client, samples or None
            self._rdt, self._buffer = 0, []
            self._per_datagram = self._options.buffer if command == 3 else 1
        elif command == 0:
            self._client = None
        elif command == 0x42:
            self._bias = self._counts()[0]

    def _counts(self) -> tuple[list[int], float, float]:
        displacement, rate = self._probe.at(time.monotonic_ns(), self._sheet.axis)
        wrench = self._sheet.wrench(displacement, rate)
        scales = [self._options.cpf] * 3 + [self._options.cpt] * 3
        counts = [round(value * scale) for value, scale in zip(wrench, scales, strict=True)]
        return counts, displacement, wrench[self._sheet.axis]

    def _sample(self) -> None:
        self._ft = (self._ft + self._options.internal_rate / self._options.rate) % 2**32
        if self._sender.restarts():
            self._client, self._ft, self._bias = None, 0.0, [0] * 6
        if self._client is None:
            return
        felt, displacement, force = self._counts()
        sent = self._sender.values(
            felt, 2.0 * _MOST, drifting=self._sheet.axis, scale=self._options.cpf
        )
        felt = [int(count) for count in sent]
        counts = [a - b for a, b in zip(felt, self._bias, strict=True)]
        saturated = any(abs(count) > _MOST for count in counts)
        counts = [max(-_MOST, min(_MOST, count)) for count in counts]
        status = (0x80020000 if saturated else 0) | (0x80000000 if self._sender.wrong_status else 0)
        self._rdt = (self._rdt + 1) % 2**32
        ahead = self._sender.clock_jump_s * self._options.internal_rate
        clock = int(self._ft + ahead) % 2**32
        self._buffer.append(struct.pack("!LLL6l", self._rdt, clock, status, *counts))
        self._log.write(
            "record",
            rdt=self._rdt,
            ft=int(self._ft),
            status=f"{status:#010x}",
            displacement=f"{displacement:.9g}",
            force=f"{force:.9g}",
        )
        if len(self._buffer) >= self._per_datagram:
            self._pass_on(self._client)

    def _pass_on(self, client: Address) -> None:
        datagram, self._buffer = b"".join(self._buffer), []
        self._sender.send(lambda content: self.socket.sendto(content, client), datagram)
        if self._left is not None:
            self._left -= self._per_datagram
            if self._left <= 0:
                self._client = None


def _page_server(options: argparse.Namespace) -> http.server.HTTPServer:
    page = _PAGE.format(cpf=options.cpf, cpt=options.cpt, rate=round(options.rate)).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that http.server calls
            """Answer with the page of the calibration."""
            if self.path != "/netftapi2.xml":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Say nothing: standard error is for errors."""

    return http.server.HTTPServer((options.host, options.http_port), Handler)


def main(arguments: Sequence[str]) -> None:
    """Emulate until SIGTERM."""
    parser = option_parser("ati_net_ft", "A force-torque sensor on a metal sheet.")
    add = parser.add_argument
    add(
        "--port",
        type=int,
        default=49152,
        help="UDP port of RDT; 0: any free port (default: %(default)s)",
    )
    add(
        "--http-port",
        type=int,
        default=0,
        help="TCP port of the calibration; 0: any free port (default: %(default)s)",
    )
    add(
        "--link-port",
        type=int,
        default=0,
        help="UDP port to which an emulated robot sends its position (default: any free port)",
    )
    add(
        "--rate",
        type=positive,
        default=7000.0,
        help="records per second, Hz (default: %(default)s)",
    )
    add(
        "--internal-rate",
        type=positive,
        default=7000.0,
        help="samples per second inside the sensor, Hz (default: %(default)s)",
    )
    add(
        "--buffer",
        type=int,
        default=10,
        help="records in a datagram of a buffered stream (default: %(default)s)",
    )
    add("--cpf", type=int, default=1000000, help="counts per N (default: %(default)s)")
    add("--cpt", type=int, default=1000000, help="counts per N.m (default: %(default)s)")
    add(
        "--stiffness",
        type=float,
        default=1000.0,
        help="stiffness of the sheet, N/m (default: %(default)s)",
    )
    add(
        "--damping",
        type=float,
        default=0.0,
        help="damping of the sheet, N.s/m (default: %(default)s)",
    )
    add(
        "--axis",
        choices=("X", "Y", "Z"),
        default="X",
        help="axis across the sheet (default: %(default)s)",
    )
    add(
        "--gap",
        type=float,
        default=0.0,
        help="displacement at which the tip touches, mm (default: %(default)s)",
    )
    add("--both-sides", action="store_true", help="fasten the tip to the sheet")
    add(
        "--noise",
        type=float,
        default=0.0,
        help="standard deviation of the noise, N and N.m (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    log = EventLog(options.log, _COLUMNS)
    with Waiting() as waiting, _page_server(options) as pages:
        threading.Thread(target=pages.serve_forever, args=(0.05,), daemon=True).start()
        sensor = Sensor(options, log)
        endpoints: dict[str, Address | str] = {
            "udp": sensor.socket.getsockname(),
            "http": (options.host, pages.server_port),
            "link": sensor.link.getsockname(),
        }
        try:
            print_ready(endpoints, as_json=options.json)
            sensor.run(waiting)
        finally:
            pages.shutdown()
            sensor.socket.close()
            sensor.link.close()
            log.close()


if __name__ == "__main__":
    sys.exit(run_program(main))
