"""One adapter behind a relay: each disturbance in a run of its own, judged by the log."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError, DeviceError
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.structs import Struct
from orchestrator.rig.devices import DeviceConnector, DeviceSettings, device_class, read_settings
from orchestrator.rig.devices.conformance import EmulatorProcess, Logged, Wiring, bench_of
from orchestrator.rig.devices.registry import write_address
from orchestrator.rig.trials.disturbances import (
    DISTURBANCES,
    Disturbance,
    Ending,
    impossible,
)
from orchestrator.rig.trials.relay import relay_process
from orchestrator.rig.trials.wire_run import FACTS, PRIORITY, WireOutcome, WireRun

_RUN = "orchestrator.rig.trials.wire_run"
#: From the first step to the disturbance, and what a run goes on for after it, s.
_LEAD_S, _AFTER_S = 1.0, 2.6
#: What a busy machine may take for the start and for the end, s.
_START_S, _END_S = 60.0, 60.0
_ATTEMPTS = 4
#: Age that may be hidden, s; and more of a speed than its limit.
_HIDDEN_S, _OF_SPEED = 0.02, 1.05
#: What a row of the log may be behind what left, s.
_LOGGED_S = 1e-3
_COUNTS = ("lost", "late", "repeated", "malformed", "restarts", "commands_missed")
Floats = npt.NDArray[np.float64]


class WireVerdict(Struct):
    """What came of one disturbance.

    adapter, disturbance: Which.
    impossible: Why the transport cannot have it; empty: it can.
    error: Of the run; empty: it went on.
    after_s: From the disturbance to the end of the run; NaN: it went on.
    hidden_s: Largest true age of a value minus the reported age, s; NaN: there are no rows.
    unknown: Values that the emulator never had.
    step: Largest step of the device between two rows of its log, from the disturbance on.
    unit: Of the judged signal.
    counts: What the run counted of samples and commands.
    wrongs: What is wrong with all this, a sentence each.
    """

    adapter: str
    disturbance: str
    impossible: str = ""
    error: str = ""
    after_s: float = math.nan
    hidden_s: float = math.nan
    unknown: int = 0
    step: float = math.nan
    unit: str = ""
    counts: Mapping[str, int] = {}
    wrongs: tuple[str, ...] = ()

    @property
    def cell(self) -> str:
        """Its cell of the table."""
        if self.impossible:
            return self.impossible
        parts = [self._end]
        parts += [f"{count} {_word(name, count)}" for name, count in self.counts.items() if count]
        if self.hidden_s >= 1e-3:
            parts.append(f"{self.hidden_s * 1e3:.0f} ms hidden")
        if self.step > 0.0:
            factor, unit = {"m": (1e3, "mm"), "rad": (1e3, "mrad")}.get(self.unit, (1.0, self.unit))
            parts.append(f"step {self.step * factor:.2g} {unit}")
        wrongs = f"**WRONG: {'; '.join(self.wrongs)}**; " if self.wrongs else ""
        return wrongs + "; ".join(parts)

    @property
    def _end(self) -> str:
        if not self.error:
            return "goes on"
        return f"ends after {max(self.after_s, 0.0):.2f} s: {short_cause(self.error)}"


def _word(name: str, count: int) -> str:
    many = "s" * (count > 1)
    words = {"commands_missed": f"command{many} missed", "restarts": f"restart{many}"}
    return words.get(name, name)


#: Words of an error, and the text in the table.
_CAUSES = {
    "in the same motion": "restarted",
    "restarted": "restarted",
    "started again": "restarted",
    "older by its own clock": "samples held, by its clock",
    "answer requests of": "samples held, by their requests",
    "confirmed no request": "requests not answered",
    "it shows": "restarted",
    "do not follow from the newest": "samples do not follow",
    "old or repeated sample": "old samples only",
    "since then no sample came": "no sample came",
    "no command that was sent": "commands not taken",
    "confirmed no inputs": "commands not taken",
    "does not take its commands": "it stands while its command moves",
    "ignores its commands": "commands not taken",
    "it was sent no command": "samples too old to be answered",
    "more than one sends": "two senders, both named",
    "of another run": "not opened: samples of another run",
    "no sample came within": "not opened: no sample came",
    "closed the connection": "connection closed",
    "onnection": "connection lost",
    "was silent for": "silent",
}


def short_cause(error: str) -> str:
    """Return an error in some words."""
    for text, short in _CAUSES.items():
        if text in error:
            return short
    return re.sub(r"^.*?\(device '[^']*'\): ", "", error).split(";")[0][:80]


def hidden_age(rows: Floats, truth: Floats, tolerance: float) -> tuple[float, int]:
    """Return by how much values were older than reported, s, and how many were never true.

    rows: Times, values and told ages, shape (n, 3).
    truth: Times and values, shape (m, 2).
    """
    hidden, unknown = math.nan, 0
    for moment, value, age in rows:
        before = truth[truth[:, 0] <= moment + _LOGGED_S]
        same = np.flatnonzero(np.abs(before[:, 1] - value) <= tolerance)
        if len(same):
            hidden = max(float(moment - before[same[-1], 0] - age), hidden, 0.0)
            hidden = 0.0 if math.isnan(hidden) else hidden
        else:
            unknown += 1
    return hidden, unknown


class WireBench:
    """An adapter, its emulator and a relay.

    name: Of the adapter, and of a variant of its wiring behind a colon.
    folder: For logs; each disturbance has its own in it.
    Raises DescriptionError: if the adapter cannot be tried behind a relay.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self._folder = name, folder
        self._adapter, _, variant = name.partition(":")
        self._bench = bench_of(self._adapter)
        wiring = self._bench.variants.get(variant) if variant else self._bench.relayed
        if wiring is None:
            expected = "Bench.variants" if variant else "Bench.relayed"
            raise DescriptionError(
                f"device '{name}': its bench has no such wiring with a relay ({expected})"
            )
        self._wiring = wiring

    def impossible(self, disturbance: Disturbance) -> str:
        """Say why the wire of this adapter cannot have a disturbance; empty: it can."""
        wiring = self._wiring()
        ports = device_class(self._adapter).connectors(self._settings(wiring))
        return impossible(self._bench, wiring, disturbance, commanded=bool(ports.inputs))

    def run(self, disturbance: Disturbance) -> WireVerdict:
        """Run one disturbance."""
        if reason := self.impossible(disturbance):
            return WireVerdict(self.name, disturbance.name, reason)
        folder = self._folder / re.sub(r"\W+", "-", f"{self.name} {disturbance.name}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wiring, log = self._wiring(), folder / "emulator.csv"
        signal_, port = self._judged(wiring)
        order = WireRun(
            write_address(self._adapter, {**wiring.settings, "connect_timeout": 8.0}),
            signal_,
            _LEAD_S + _AFTER_S,
            str(folder),
        )
        struck_s, outcome = self._attempt(disturbance, wiring, order, log, folder)
        with np.load(folder / "rows.npz") as archive:
            rows = archive["rows"]
        truth = self._truth(wiring)[signal_]
        return self._verdict(disturbance, rows, _logged(log, truth), outcome, struck_s, port)

    def _attempt(
        self, disturbance: Disturbance, wiring: Wiring, order: WireRun, log: Path, folder: Path
    ) -> tuple[float, WireOutcome]:
        arguments = [*wiring.arguments, "--log", str(log)]
        arguments += ["--on-signal", disturbance.restart] if disturbance.restart else []
        assert wiring.relay is not None  # noqa: S101 - of Bench.relayed
        with ExitStack() as stack:
            emulator = stack.enter_context(EmulatorProcess(self._bench.emulator, arguments))
            relay = stack.enter_context(
                relay_process(self._adapter, wiring.relay, disturbance.name)
            )
            for process in (emulator, relay):
                process.prefer(PRIORITY)
            child = stack.enter_context(_child(order, folder))
            struck_s = time.monotonic()
            if child.first_line(_START_S):
                begun_s = time.monotonic()
                time.sleep(_LEAD_S)
                struck_s = begun_s if disturbance.from_first else time.monotonic()
                for process in (relay, *([emulator] if disturbance.restart else [])):
                    os.kill(process.pid, signal.SIGUSR1)
            child.wait(_END_S)
            try:
                values = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
            except OSError:
                output = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
                raise DeviceError(
                    f"the run of '{disturbance.name}' did not end: {output[-300:]}"
                ) from None
        return struck_s, WireOutcome(**{**values, "notes": tuple(values["notes"])})

    def _settings(self, wiring: Wiring) -> DeviceSettings:
        return read_settings(device_class(self._adapter), wiring.settings, self._adapter)

    def _truth(self, wiring: Wiring) -> Mapping[str, Logged]:
        return self._bench.truth(self._settings(wiring))

    def _judged(self, wiring: Wiring) -> tuple[str, DeviceConnector]:
        """Return the first output that the log has, and its connector."""
        truth = self._truth(wiring)
        ports = device_class(self._adapter).connectors(self._settings(wiring))
        for port in ports.outputs:
            for scalar in port.scalars:
                if scalar in truth:
                    return scalar, port
        raise DescriptionError(
            f"device '{self._adapter}': its bench says nothing of its log (truth)"
        )

    def _verdict(
        self,
        disturbance: Disturbance,
        rows: Floats,
        truth: Floats,
        outcome: WireOutcome,
        struck_s: float,
        port: DeviceConnector,
    ) -> WireVerdict:
        wiring = self._wiring()
        inputs = device_class(self._adapter).connectors(self._settings(wiring)).inputs
        scale = float(np.abs(truth[:, 1]).max(initial=0.0))
        tolerance = max(self._bench.resolution, 1e-8 * scale)
        ages = rows[:, [0, 1, 2 + FACTS.index("sample_age")]]
        hidden_s, unknown = hidden_age(ages, truth, tolerance)
        after = truth[truth[:, 0] >= struck_s][:, 1] if len(truth) else np.zeros(0)
        step = float(np.abs(np.diff(after)).max()) if len(after) > 1 else math.nan
        last = dict(zip(FACTS, rows[-1, 2:], strict=True)) if len(rows) else {}
        verdict = WireVerdict(
            self.name,
            disturbance.name,
            error=outcome.error,
            after_s=outcome.ended_s - struck_s,
            hidden_s=hidden_s,
            unknown=unknown,
            step=step,
            unit=port.unit,
            counts={name: int(last.get(name, 0.0)) for name in _COUNTS},
        )
        largest_speed = inputs[0].speed if inputs and inputs[0].unit == port.unit else math.inf
        period = float(np.median(np.diff(truth[:, 0]))) if len(truth) > 1 else math.nan
        kind = device_class(self._adapter)
        has_moved = step > 0.0 and not outcome.error  # so its answers came in time
        ends, causes = disturbance.expected(
            in_cycle=kind.answers and not kind.takes_unasked and not has_moved,
            says_taken=bool(rows[:, 2 + FACTS.index("command_taken")].max(initial=-1.0) > 0.0),
        )
        if not inputs and verdict.counts["restarts"] and ends == "must":
            ends = "may"  # it is counted, and there is no command to hold
        wrongs = tuple(_wrongs(disturbance.hides_s, verdict, largest_speed * period, ends, causes))
        return WireVerdict(**{**asdict(verdict), "wrongs": wrongs})


def _wrongs(
    hides_s: float,
    verdict: WireVerdict,
    most_step: float,
    ends: Ending,
    causes: tuple[str, ...],
) -> Iterator[str]:
    """Yield what must not be."""
    if verdict.unknown:
        yield f"{verdict.unknown} values that the device never had"
    if verdict.hidden_s > max(_HIDDEN_S, hides_s):
        yield f"{verdict.hidden_s * 1e3:.0f} ms of age hidden"
    if verdict.step > _OF_SPEED * most_step:
        yield f"a step of {verdict.step:.3g} {verdict.unit}, where its speed allows {most_step:.3g}"
    if verdict.error and ends == "never":
        yield f"a false alarm: {short_cause(verdict.error)}"
    elif verdict.error and not any(cause in verdict.error for cause in causes):
        yield f"another cause: {short_cause(verdict.error)}"
    elif not verdict.error and ends == "must":
        yield "it went on"


@contextlib.contextmanager
def _child(order: WireRun, folder: Path) -> Iterator[OwnProcess]:
    with (folder / "said.txt").open("wb") as output:
        process = OwnProcess(
            _RUN, json.dumps(asdict(order)), stdout=subprocess.PIPE, stderr=output, tied=False
        )
    try:
        yield process
    finally:
        process.finish(_END_S)


def _logged(log: Path, signal_: Logged) -> Floats:
    """Return times and values of a signal, shape (n, 2)."""
    with log.open(encoding="utf-8", newline="") as file:
        rows = [
            (float(row["time_s"]), float(row[signal_.column]) * signal_.scale)
            for row in csv.DictReader(file)
            if signal_.is_in(row)
        ]
    return np.array(rows).reshape(-1, 2)


def _run(bench: WireBench, disturbance: Disturbance) -> WireVerdict:
    """Run a disturbance; again, if a program did not start or end on a machine that is busy."""
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(DeviceError):
            return bench.run(disturbance)
    return bench.run(disturbance)


def _stored_verdict(file: Path) -> WireVerdict | None:
    """Return a verdict of an earlier series; ``None``: there is none that can be read."""
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        return WireVerdict(**{**values, "wrongs": tuple(values["wrongs"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def wire_matrix(
    adapters: Sequence[str],
    only: Sequence[str],
    jobs: int,
    output: Path,
    tell: Callable[[WireVerdict], None],
) -> list[WireVerdict]:
    """Try all adapters behind a relay; ``only``: disturbances with one of these texts.

    Verdicts that are in the output folder already are read back.
    """
    output.mkdir(parents=True, exist_ok=True)
    disturbances = [d for d in DISTURBANCES if not only or any(text in d.name for text in only)]
    with tempfile.TemporaryDirectory(prefix="softdock-wire-") as folder:
        benches = [WireBench(adapter, Path(folder)) for adapter in adapters]

        def run(pair: tuple[WireBench, Disturbance]) -> WireVerdict:
            bench, disturbance = pair
            file = output / f"{bench.name}-{re.sub(r'[^a-z0-9]+', '-', disturbance.name)}.json"
            verdict = _stored_verdict(file)
            if verdict is None:
                verdict = _run(bench, disturbance)
                file.write_text(
                    json.dumps(asdict(verdict), indent=2), encoding="utf-8", newline="\n"
                )
            tell(verdict)
            return verdict

        with ThreadPoolExecutor(jobs) as pool:
            return list(
                pool.map(
                    run, [(bench, disturbance) for bench in benches for disturbance in disturbances]
                )
            )


def matrix_table(verdicts: Sequence[WireVerdict]) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of a table: a row for each disturbance, a column an adapter."""
    adapters = list(dict.fromkeys(verdict.adapter for verdict in verdicts))
    names = list(dict.fromkeys(verdict.disturbance for verdict in verdicts))
    cells = {(verdict.adapter, verdict.disturbance): verdict.cell for verdict in verdicts}
    return ["disturbance", *adapters], [[n, *(cells[a, n] for a in adapters)] for n in names]


_BEGIN, _END = "<!-- wires: begin -->", "<!-- wires: end -->"


def write_matrix(page: Path, verdicts: Sequence[WireVerdict]) -> None:
    """Put the table into a page, between its two marks.

    Raises LoadError, DescriptionError: if the page cannot be read, or has no such marks.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, remaining = text.partition(_BEGIN)
    _, end, after = remaining.partition(_END)
    if not (begin and end):
        raise DescriptionError(f"{page}: expected the marks {_BEGIN} and {_END}")
    columns, rows = matrix_table(verdicts)
    lines = [columns, ["---"] * len(columns), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    page.write_text(f"{before}{_BEGIN}\n{table}\n{_END}{after}", encoding="utf-8", newline="\n")
