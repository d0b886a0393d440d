"""A device and its emulator, and what was received."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import DeviceError, WireFormatError
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.structs import MutableStruct, Struct, field
from orchestrator.rig.devices.device import Device, DeviceConnector, Received
from orchestrator.rig.devices.registry import device_class, read_settings


class Golden(Struct):
    """Bytes, or what they mean, that stand in a document or were seen on a wire.

    Parameters
    ----------
    name
        What it is.
    actual
        Makes it, by the codec of the adapter.
    expected
        What it must be.
    """

    name: str
    actual: Callable[[], object]
    expected: object


class Refused(Struct):
    """Bytes that are not of the protocol.

    Parameters
    ----------
    name
        What is wrong with them.
    read
        Reads them, by the codec of the adapter; it must raise ``WireFormatError``.
    """

    name: str
    read: Callable[[], object]


class RelayPlaces(Struct):
    """Where a relay stands between an adapter and its emulator, all of them on this machine.

    Parameters
    ----------
    transport
        ``udp``; ``tcp``; ``serial``: lines that end with a carriage return; ``memory``: a block of
        the adapter ``shm``.
    front
        Where the adapter finds the relay: a port, a path, or the name of a block.
    device
        Where the emulator is; of UDP 0 if the emulator sends first.
    adapter
        Port of the adapter, of UDP; 0 if the adapter sends first.
    back
        Port where the emulator finds the relay, of UDP; 0: any.
    settings
        Keys of the adapter's settings that say where the other side is.
    """

    transport: Literal["udp", "tcp", "serial", "memory"]
    front: int | str
    device: int | str = 0
    adapter: int = 0
    back: int = 0
    settings: tuple[str, ...] = ()


class Wiring(Struct):
    """How an emulator and an adapter reach each other, both on this machine.

    Parameters
    ----------
    arguments
        Of the emulator.
    settings
        Of the adapter.
    relay
        What stands between them; ``None``: nothing.
    """

    arguments: tuple[str, ...]
    settings: Mapping[str, Any]
    relay: RelayPlaces | None = None


class Logged(Struct):
    """Where a scalar signal stands in the log of an emulator (``--log``).

    Parameters
    ----------
    event, column
        Rows and column of it.
    scale
        What a value is multiplied by to have the unit of the signal.
    row_key
        What a row must have besides: a column and its text; ``None``: nothing.
    """

    event: str
    column: str
    scale: float = 1.0
    row_key: tuple[str, str] | None = None

    def is_in(self, row: Mapping[str, str]) -> bool:
        """Whether a row, cells by column, tells it."""
        marked = self.row_key is None or row.get(self.row_key[0]) == self.row_key[1]
        return row["event"] == self.event and marked and bool(row.get(self.column))


#: Of settings of an adapter: where its signals stand in the log, elements as ``name[0]``.
LoggedSignals = Callable[[Any], Mapping[str, Logged]]


def _nothing(settings: object) -> Mapping[str, Logged]:
    del settings
    return {}


class Bench(Struct):
    """A test bench of one adapter: the entry point ``softdock.device_benches`` of its name.

    Parameters
    ----------
    emulator
        Module that is run as a program of its own. It prints one line when it can be reached, ends
        at SIGTERM with exit code 0, and takes ``--fault FAULT`` (``drop:P``, ``late:MS``,
        ``duplicate:P``, ``reorder:P``, ``malformed:P``, ``dead-after:S``, ``restart-after:S``,
        ``drift:RATE``, ``wrong-status``, ``freeze``, ``nan``, ``saturated``, ``clock-jump:S``), the
        same from SIGUSR1 on with ``--on-signal FAULT``, ``--log FILE``,
        ``--seed N`` and ``--json``.
    wiring
        Makes a wiring on free ports, another one at each call.
    golden, refused
        At least one of each.
    without
        Faults that its protocol cannot have, and why.
    follows
        It has something that follows commands, and takes ``--on-signal slower:MS`` as well.
    relayed
        Makes a wiring with a relay in between, which ``softdock devices faults`` starts; ``None``:
        the adapter cannot be tried behind one.
    variants
        More of these, by the name of a variant: ``softdock devices faults ADAPTER:VARIANT``.
    readdressed
        From what an adapter sends, the port of the relay that the device finds, and that of the
        device, makes what the relay passes on, where addresses are part of the protocol; ``None``:
        they are not.
    forged
        From a datagram of the device makes one that is right but for a value far off, its number,
        and its time if it has one, a number of samples ahead; ``None``: samples have neither number
        nor time.
    resolution
        By which a value may differ from that in the emulator's log: half of the last digit on the
        wire, in the unit of the first signal that ``truth`` has.
    counts_on
        Its count and clock may go on, jump ahead or go back at a restart, and it takes
        ``restart-on:S``, ``restart-ahead:S`` and ``restart-back:S`` as well.
    wraps
        Its count or clock runs over, and it takes ``--fault wrap-after:S`` as well.
    newest_only
        It holds the newest sample only, so that a slow reader passes over some.
    truth
        What the emulator's log says of outputs, without any fault of the wire.
    logged_commands
        The same of inputs: the command as it came over the wire.
    """

    emulator: str
    wiring: Callable[[], Wiring]
    golden: tuple[Golden, ...]
    refused: tuple[Refused, ...]
    without: Mapping[str, str] = field(default_factory=dict)
    follows: bool = False
    relayed: Callable[[], Wiring] | None = None
    variants: Mapping[str, Callable[[], Wiring]] = field(default_factory=dict)
    readdressed: Callable[[bytes, int, int], bytes] | None = None
    forged: Callable[[bytes, int], bytes] | None = None
    resolution: float = 0.0
    counts_on: bool = False
    wraps: bool = False
    newest_only: bool = False
    truth: LoggedSignals = _nothing
    logged_commands: LoggedSignals = _nothing


#: A busy machine may take so long to import what an emulator needs.
_START_S = 30.0
_END_S = 10.0


class EmulatorProcess:
    """Starts an emulator; used in a ``with`` statement, which begins when it can be reached.

    Parameters
    ----------
    module
        Of the emulator.
    arguments
        More than ``--json``.

    Attributes
    ----------
    places
        What its ready line says: where it can be reached, by name.

    Raises
    ------
    DeviceError
        If it ends, or says nothing within 30 s; with what it wrote to standard error.
    """

    def __init__(self, module: str, arguments: Sequence[str]) -> None:
        self._module = module
        self._process = OwnProcess(
            module,
            "--json",
            *arguments,
            tied=True,
            stdout=subprocess.PIPE,
            keeps_stderr=True,
        )
        self._thread = threading.current_thread()
        #: What it wrote to standard error, once it has been stopped.
        self.said = ""
        self.places: Mapping[str, Any] = {}

    def __enter__(self) -> Self:
        line = self._process.first_line(_START_S)
        if not line:
            reason = self._process.finish() or f"it printed no ready line within {_START_S:g} s"
            raise DeviceError(f"emulator {self._module} did not start: {reason}")
        _RUNNING.add(self)
        self.places = json.loads(line)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.is_running

    def is_of(self, thread: threading.Thread) -> bool:
        """Whether a thread started it."""
        return self._thread is thread

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._process.pid

    def prefer(self, priority: int) -> None:
        """Give it a priority of SCHED_FIFO, if that is allowed here."""
        with contextlib.suppress(PermissionError, ProcessLookupError):
            operating_system.take_priority(priority, self._process.pid)

    def stop(self) -> int:
        """End it by SIGTERM, or SIGKILL after 10 s; return its exit code."""
        _RUNNING.discard(self)
        if self._process.end.alive:
            self._process.send_signal(signal.SIGTERM)
            self.said = self._process.finish(_END_S)
        code = self._process.returncode
        return -signal.SIGKILL if code is None else code


#: Emulators that were started and not yet stopped.
_RUNNING: set[EmulatorProcess] = set()


def stop_emulators_of(thread: threading.Thread) -> None:
    """Stop the emulators that a thread started and cannot stop, because an adapter hangs in it."""
    for emulator in [entry for entry in _RUNNING if entry.is_of(thread)]:
        emulator.stop()


def free_udp_port() -> int:
    """Return a port of the loop-back interface that nothing uses at the moment."""
    return _free_port(socket.SOCK_DGRAM)


def free_tcp_port() -> int:
    """Return a port of the loop-back interface that nothing listens at."""
    return _free_port(socket.SOCK_STREAM)


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


#: How long is waited for one sample: a busy machine must not look like a dead device.
_WAIT_S = 1.0
#: Number of samples that may have left before a fault began.
_UNDER_WAY = 10
#: Of a range and of a speed, what one command moves.
_SHARE_OF_RANGE, _SHARE_OF_SPEED = 1e-3, 0.2


class Heard(MutableStruct):
    """What came of some calls of ``receive``, in order.

    samples, arrivals: That came, and when, s.
    refused: What was no sample.
    """

    samples: list[Received] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    refused: list[WireFormatError] = field(default_factory=list)

    @property
    def steps(self) -> list[int]:
        """Differences of the sequence numbers of samples that follow each other."""
        numbers = [s.sequence for s in self.samples if s.sequence is not None]
        return [b - a for a, b in pairwise(numbers)]


class Session(Struct):
    """An emulator that runs and an adapter that is open.

    device: Opened.
    emulator: Its peer.
    begun_s: When the emulator could be reached, CLOCK_MONOTONIC.
    """

    device: Device
    emulator: EmulatorProcess
    begun_s: float = 0.0

    def start_values(self) -> list[float]:
        """Return what is commanded before a run gives anything."""
        return self._commands(0)

    def strike(self) -> None:
        """Let the later fault begin; samples that were under way are heard, and forgotten."""
        os.kill(self.emulator.pid, signal.SIGUSR1)
        self.hear(_UNDER_WAY, 1.0)

    def stir(self, samples: int) -> Heard:
        """Receive a number of samples while each command moves slightly forth and back."""
        heard = Heard()
        for i in range(samples):
            values = self._commands(min(i, samples - i))
            if not self.device.answers:
                self.device.send(values)
            answer = hear(self.device, 1, _WAIT_S, values)
            heard.samples += answer.samples
            heard.refused += answer.refused
        return heard

    def distinct_commands(self, step: int) -> list[float]:
        """Return commands that go another way each, so that none is taken for another.

        step: From the start values on.
        """
        ports = self.device.connectors(self.device.settings)
        count = sum(connector.size for connector in ports.inputs)
        values: list[float] = []
        for connector in ports.inputs:
            for _ in range(connector.size):
                share = (len(values) + 1) / count
                distance = step * share * _stride(connector, ports.rate)
                down = len(values) % 2 and connector.start - distance >= connector.minimum
                values.append(connector.start + (-distance if down else distance))
        return values

    def _commands(self, step: int) -> list[float]:
        ports = self.device.connectors(self.device.settings)
        return [
            connector.start + step * _stride(connector, ports.rate)
            for connector in ports.inputs
            for _ in range(connector.size)
        ]

    def hear(self, samples: int, seconds: float = 5.0, *, until_silent: bool = False) -> Heard:
        """Receive until there are enough samples, or the time has passed."""
        return hear(self.device, samples, seconds, self.start_values(), until_silent=until_silent)


def _stride(connector: DeviceConnector, rate: float) -> float:
    room = connector.maximum - connector.start
    stride = _SHARE_OF_RANGE * (room if math.isfinite(room) else 1.0)
    return min(stride, _SHARE_OF_SPEED * connector.speed / rate)


def hear(
    device: Device,
    samples: int,
    seconds: float,
    answer: Sequence[float],
    *,
    until_silent: bool = False,
    wait_s: float = _WAIT_S,
) -> Heard:
    """Receive, and answer if the device needs answers.

    device: Opened.
    samples: Number of samples after which it ends.
    seconds: It is given up after so long.
    answer: To each sample, of a device that is to be answered.
    until_silent: It is enough as well when nothing came in a wait, after something did.
    wait_s: Of one wait at most.
    """
    heard, end = Heard(), time.monotonic() + seconds
    while len(heard.samples) < samples and (remaining_s := end - time.monotonic()) > 0.0:
        try:
            received = device.receive(min(remaining_s, wait_s))
        except WireFormatError as error:
            heard.refused.append(error)
            continue
        if received is None:
            if until_silent and heard.samples:
                break
            continue
        heard.arrivals.append(time.monotonic())
        heard.samples.append(received)
        if device.answers:
            device.send(answer)
    return heard


@contextmanager
def session(
    name: str, bench: Bench, *faults: str, later: str = "", log: Path | None = None
) -> Iterator[Session]:
    """Start an emulator with faults, now and after a strike; open the adapter on it; end both."""
    wiring = bench.wiring()
    kind = device_class(name)
    settings = read_settings(kind, wiring.settings, f"bench of {name}")
    options = [part for fault in faults for part in ("--fault", fault)]
    options += ["--on-signal", later] if later else []
    options += ["--log", str(log)] if log else []
    device = kind(settings)
    with EmulatorProcess(bench.emulator, [*wiring.arguments, *options]) as emulator:
        begun_s = time.monotonic()
        try:
            device.open()
            yield Session(device, emulator, begun_s)
        finally:
            device.close()
