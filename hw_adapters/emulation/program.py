"""The life of an emulator as a program: its options, its ready line, its end."""

from __future__ import annotations

import argparse
import json
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faults import NAMES
from hw_adapters.emulation.options import positive
from orchestrator import SoftdockError

Address = tuple[str, int]
Readable = TypeVar("Readable", socket.socket, int)


def option_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every emulator has."""
    parser = argparse.ArgumentParser(
        prog=f"softdock devices emulate {name}", description=description
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address of the emulated device (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of noise and faults (default: %(default)s)"
    )
    parser.add_argument("--log", type=Path, help="CSV file for the log of the device")
    parser.add_argument("--json", action="store_true", help="print the ready line as JSON")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="FAULT",
        help=f"fault to inject, repeatable: {', '.join(NAMES)}",
    )
    parser.add_argument(
        "--on-signal",
        action="append",
        default=[],
        metavar="FAULT",
        help="fault to inject from SIGUSR1 on",
    )
    parser.add_argument(
        "--strike-after",
        type=positive,
        metavar="S",
        help="inject the faults of --on-signal S seconds after it first moves",
    )
    return parser


def print_ready(addresses: Mapping[str, Address | str], *, as_json: bool) -> None:
    """Print the one line that says that the device can be reached, and where."""
    if as_json:
        text = json.dumps(dict(addresses))
    else:
        texts = (p if isinstance(p, str) else f"{p[0]}:{p[1]}" for p in addresses.values())
        pairs = zip(addresses, texts, strict=True)
        text = f"listening on {', '.join(f'{address} ({name})' for name, address in pairs)}"
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run_program(main: Callable[[Sequence[str]], None]) -> int:
    """Run an emulator's main function; return the exit code, 2 for what its user can mend."""
    try:
        main(sys.argv[1:])
    except (SoftdockError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


class Emulated(Protocol):
    """An emulated device."""

    @property
    def addresses(self) -> Mapping[str, Address | str]:
        """Where it can be reached, by what is there."""

    def run(self, waiting: Waiting) -> None:
        """Be the device until somebody ends it."""

    def close(self) -> None:
        """Give back what it holds."""


def emulate(
    make: Callable[[argparse.Namespace, EventLog], Emulated],
    options: argparse.Namespace,
    columns: tuple[str, ...],
) -> None:
    """Make a device, say where it can be reached, and let it run until SIGTERM.

    ``columns`` are those of its log.
    """
    log = EventLog(options.log, columns)
    with Waiting() as waiting:
        device = make(options, log)
        try:
            print_ready(device.addresses, as_json=options.json)
            device.run(waiting)
        finally:
            device.close()
            log.close()


def udp_socket(host: str, port: int) -> socket.socket:
    """Return a bound socket.

    Raises
    ------
    OSError
        If the port is taken or not allowed; the text names it.
    """
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        udp.bind((host, port))
    except OSError as error:
        udp.close()
        raise OSError(error.errno, f"{error.strerror or error}: UDP {host}:{port}") from None
    return udp


class Waiting:
    """Waits for datagrams and deadlines until SIGTERM or SIGINT; used in a ``with`` statement."""

    def __init__(self) -> None:
        self.stopped = False
        self._read, self._write = socket.socketpair()

    def __enter__(self) -> Self:
        self._write.settimeout(0.0)
        signal.set_wakeup_fd(self._write.fileno())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # it is ending already
        self._read.close()
        self._write.close()

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def wait(self, sockets: Sequence[Readable], *deadlines: float | None) -> list[Readable]:
        """Return those that have something, at the first deadline (CLOCK_MONOTONIC, s)."""
        known_deadlines = [deadline for deadline in deadlines if deadline is not None]
        timeout = max(0.0, min(known_deadlines) - time.monotonic()) if known_deadlines else None
        watched: list[int | socket.socket] = [*sockets, self._read]
        ready, _, _ = select.select(watched, [], [], timeout)
        if self._read in ready:  # of a signal: else no later wait would wait
            self._read.recv(4096)
        return [readable for readable in sockets if readable in ready]
