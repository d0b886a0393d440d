"""All checks of one adapter, one function each: what was seen, or NotKeptError."""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Literal

from orchestrator.core.diagnostics import (
    DeviceError,
    PluginError,
    SoftdockError,
    UnknownNameError,
    WireFormatError,
    choices_for,
    counted,
)
from orchestrator.core.plugins import PluginNames
from orchestrator.core.structs import Struct
from orchestrator.rig.devices.conformance.clocks import (
    NotKeptError,
    SkippedError,
    clock_jump,
    expect,
    expect_order,
    restart,
    wrapped,
)
from orchestrator.rig.devices.conformance.session import (
    Bench,
    Heard,
    Session,
    hear,
    session,
    stop_emulators_of,
)
from orchestrator.rig.devices.conformance.values import value_problems
from orchestrator.rig.devices.device import Device
from orchestrator.rig.devices.registry import device_class, read_settings

_ENOUGH = 40
#: How often a device is led before it counts as one that stands still: a busy machine holds it up.
_LEADS = 3
#: What a check may take, s: on a busy machine the slowest takes a fifth of it.
LIMIT_S = 90.0


def golden_bytes(_: str, bench: Bench) -> str:
    """Bytes that are known are written and read as they are known."""
    expect(bool(bench.golden), "the bench has golden bytes, found none")
    for golden in bench.golden:
        actual = golden.actual()
        expect(actual == golden.expected, f"{golden.name}: {golden.expected!r}, found {actual!r}")
    return f"{len(bench.golden)} as expected"


def foreign_bytes(_: str, bench: Bench) -> str:
    """Bytes of another protocol, cut short or damaged, are refused with one error."""
    expect(bool(bench.refused), "the bench has bytes to refuse, found none")
    for refused in bench.refused:
        try:
            content = refused.read()
        except WireFormatError as error:
            expect(bool(str(error)), f"{refused.name}: an error that names the problem")
        else:
            raise NotKeptError(f"{refused.name}: expected WireFormatError, found {content!r}")
    return f"{len(bench.refused)} refused"


def back_to_back(name: str, bench: Bench) -> str:
    """Without faults each sample arrives once, in order, finite and within its range."""
    with session(name, bench) as bench_session:
        heard = bench_session.hear(_ENOUGH)
        expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        expect(not heard.refused, f"nothing refused, found {heard.refused[:1]}")
        expect_order(bench_session, bench, heard.steps)
        outputs = bench_session.device.connectors(bench_session.device.settings).outputs
        width = sum(connector.size for connector in outputs)
        limits = [(c.minimum, c.maximum) for c in outputs for _ in range(c.size)]
        for sample in heard.samples:
            expect(sample.valid, f"valid samples, found status {sample.status:#x}")
            expect(len(sample.values) == width, f"{width} values, found {len(sample.values)}")
            for value, (low, high) in zip(sample.values, limits, strict=True):
                expect(math.isfinite(value), f"finite values, found {value}")
                expect(low <= value <= high, f"{low:g} to {high:g}, found {value:g}")
        times = [s.device_time for s in heard.samples if s.device_time is not None]
        fall = next((b - a for a, b in pairwise(times) if b < a), 0.0)
        expect(fall == 0.0, f"device times that grow, found one that falls by {-fall:.6g} s")
        bench_session.device.send(bench_session.start_values())
    code = bench_session.emulator.stop()
    expect(code == 0, f"an emulator that ends with exit code 0, found {code}")
    return f"{_ENOUGH} samples in order"


def values(name: str, bench: Bench) -> str:
    """Each value is that of the emulator's own log, and each command what came there."""
    compared, problems = value_problems(name, bench)
    if problems:
        raise NotKeptError("; ".join(problems))
    if not compared:
        return "nothing to compare: the bench does not say where the log has signals (truth, asked)"
    return f"{compared} signals as in the emulator's log"


def lost(name: str, bench: Bench) -> str:
    """Lost samples are gaps in the sequence, and nothing else."""
    with session(name, bench, "drop:0.3") as bench_session:
        heard = bench_session.hear(_ENOUGH)
        expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        expect(not heard.refused, f"nothing refused, found {heard.refused[:1]}")
        gaps = sum(step - 1 for step in heard.steps if step > 1)
        expect(gaps > 0, "gaps in the sequence, found none")
    return f"{gaps} lost, detected by the sequence"


def late_frames(name: str, bench: Bench) -> str:
    """Late samples arrive, complete and in order."""
    with session(name, bench, "late:20") as bench_session:
        heard = bench_session.hear(_ENOUGH)
        expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        expect_order(bench_session, bench, heard.steps)
    return "20 ms later, in order"


def repeated(name: str, bench: Bench) -> str:
    """A repeated sample has the number that it had."""
    with session(name, bench, "duplicate:0.5") as bench_session:
        repeats = sum(step == 0 for step in bench_session.hear(_ENOUGH).steps)
        expect(repeats > 0, "repeated sequence numbers, found none")
    return f"{repeats} repeated, detected by the sequence"


def reordered(name: str, bench: Bench) -> str:
    """An overtaken sample has the number that it had."""
    with session(name, bench, "reorder:0.3") as bench_session:
        back = sum(step < 0 for step in bench_session.hear(_ENOUGH).steps)
        expect(back > 0, "sequence numbers that go back, found none")
    return f"{back} overtaken, detected by the sequence"


def malformed(name: str, bench: Bench) -> str:
    """Damaged datagrams are refused one by one, and receiving goes on."""
    with session(name, bench, "malformed:0.3") as bench_session:
        heard = bench_session.hear(_ENOUGH)
        expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        expect(len(heard.refused) > 0, "damaged datagrams that are refused, found none")
    return f"{len(heard.refused)} refused, {_ENOUGH} received"


def wrong_status(name: str, bench: Bench) -> str:
    """Samples of a faulty device are marked: not valid, or a status other than 0."""
    with session(name, bench, "wrong-status") as bench_session:
        samples = bench_session.hear(5).samples
        expect(bool(samples), "samples, found none")
        marked = [s for s in samples if not s.valid or s.status]
        expect(len(marked) == len(samples), f"all marked, found {len(marked)} of {len(samples)}")
    return "flagged by the sample"


def frozen(name: str, bench: Bench) -> str:
    """What a frozen device says stands still while its count goes on, so that it can be found."""
    with session(name, bench, later="freeze") as bench_session:
        moved = any(_poses(bench_session) > 1 for _ in range(_LEADS))
        expect(moved, "values that change while it is commanded, found none")
        bench_session.strike()
        expect(_poses(bench_session) == 1, "one value again and again, found others")
    return "the values freeze; the count continues"


def _poses(bench_session: Session) -> int:
    """Count what a device says that is led somewhere."""
    heard = bench_session.stir(_ENOUGH // 2)
    expect(
        sum(heard.steps) > 0 or not heard.steps,
        "a count that continues, found one that has stopped",
    )
    return len({tuple(sample.values) for sample in heard.samples})


def no_numbers(name: str, bench: Bench) -> str:
    """What is no number is refused, and receiving goes on."""
    with session(name, bench, later="nan") as bench_session:
        expect(bool(bench_session.hear(5).samples), "samples before the fault, found none")
        bench_session.strike()
        heard = bench_session.hear(_ENOUGH, 0.5)
        expect(bool(heard.refused), "refusals, found none")
        expect(not heard.samples, f"no sample, found {heard.samples[:1]}")
    return f"{len(heard.refused)} refused"


def saturated(name: str, bench: Bench) -> str:
    """Values at the end of their range arrive there, or the sample says so."""
    with session(name, bench, later="saturated") as bench_session:
        usual = max(_sizes(bench_session.hear(_ENOUGH)), default=math.nan)
        bench_session.strike()
        heard = bench_session.hear(_ENOUGH // 2)
        expect(bool(heard.samples), "samples, found none")
        smallest = min(_sizes(heard))
        if smallest <= 2.0 * usual:
            is_marked = all(not s.valid or s.status for s in heard.samples)
            expect(is_marked, f"a status, or values far beyond {usual:g}, found {smallest:g}")
            return "flagged by the sample"
    return f"{smallest:.3g}, where {usual:.3g} was usual"


def drifting(name: str, bench: Bench) -> str:
    """At least one value of a device at rest moves by more than before the fault."""
    with session(name, bench, later="drift:1000") as bench_session:
        before = bench_session.hear(_ENOUGH)
        bench_session.strike()
        after = bench_session.hear(_ENOUGH)
    expect(bool(before.samples and after.samples), "samples before and after, found none")
    columns = zip(
        *(zip(*(s.values for s in heard.samples), strict=True) for heard in (before, after)),
        strict=True,
    )
    moved = max(
        abs(drifts[-1] - drifts[0]) - (max(rests) - min(rests)) for rests, drifts in columns
    )
    expect(moved > 0.0, "a value that moves more than before the fault, found none")
    return f"moved by {moved:.3g} in {len(after.samples)} samples"


def _sizes(heard: Heard) -> list[float]:
    return [max(map(abs, sample.values)) for sample in heard.samples]


def dead_peer(name: str, bench: Bench) -> str:
    """Of a dead device nothing comes, in the time that was given, and it can be closed."""
    with session(name, bench, "dead-after:0.6") as bench_session:
        heard = bench_session.hear(10_000, until_silent=True)
        expect(bool(heard.samples), "samples before it dies, found none")
        begin = time.monotonic()
        after = bench_session.device.receive(0.05)
        expect(after is None, f"nothing from a dead device, found {after}")
        waited = time.monotonic() - begin
        expect(0.04 <= waited < 3.0, f"to wait for 0.05 s, found {waited:.3f} s")
        bench_session.device.send(bench_session.start_values())
    return f"silent after {counted(len(heard.samples), 'sample')}"


def two_clients(name: str, bench: Bench) -> str:
    """A second adapter on the same device is refused, or takes it over; no third thing happens."""
    with session(name, bench) as bench_session:
        expect(bool(bench_session.hear(5).samples), "samples, found none")
        second = type(bench_session.device)(bench_session.device.settings)
        try:
            second.open()
            outcome = (
                f"taken over: {len(hear(second, 5, 2.0, bench_session.start_values()).samples)}"
                " samples"
            )
        except (DeviceError, OSError) as error:
            expect(bool(str(error)), f"an error that names the problem, found {error!r}")
            outcome = "the second is refused"
        finally:
            second.close()
        bench_session.device.close()
        bench_session.device.open()
        expect(bool(bench_session.hear(5).samples), "samples when the second has gone, found none")
    return outcome


def absent(name: str, bench: Bench) -> str:
    """Without a device opening fails with one error, or nothing is received; both can be closed."""
    kind = device_class(name)
    device: Device = kind(read_settings(kind, bench.wiring().settings, f"bench of {name}"))
    device.close()
    try:
        device.open()
        sample = device.receive(0.05)
        expect(sample is None, f"nothing where there is no device, found {sample}")
        outcome = "silence"
    except (DeviceError, OSError) as error:
        expect(bool(str(error)), f"an error that names the problem, found {error!r}")
        outcome = "refused"
    finally:
        device.close()
        device.close()
    return outcome


_BENCHES = PluginNames("softdock.device_benches", "bench of device")


def bench_of(name: str) -> Bench:
    """Return the bench of an adapter (entry point ``softdock.device_benches``).

    Raises
    ------
    UnknownNameError, PluginError
        If there is no adapter of that name, it brings none, or it cannot be imported.
    """
    device_class(name)
    if name not in _BENCHES.entry_points:
        raise PluginError(
            f"device '{name}' has no bench, and so no emulator to check it with: register a bench"
            " under the entry point softdock.device_benches"
        )
    bench = _BENCHES.loaded(name)
    if not isinstance(bench, Bench):
        raise PluginError(f"{_BENCHES.title(name)}: expected a Bench")
    return bench


Check = Callable[[str, Bench], str]
#: By name; checks that need a fault name it first.
CHECKS: Mapping[str, tuple[str, Check]] = {
    "golden-bytes": ("", golden_bytes),
    "foreign-bytes": ("", foreign_bytes),
    "back-to-back": ("", back_to_back),
    "values": ("", values),
    "lost": ("drop", lost),
    "late": ("late", late_frames),
    "repeated": ("duplicate", repeated),
    "reordered": ("reorder", reordered),
    "malformed": ("malformed", malformed),
    "wrong-status": ("wrong-status", wrong_status),
    "frozen": ("freeze", frozen),
    "no-numbers": ("nan", no_numbers),
    "saturated": ("saturated", saturated),
    "drifting": ("drift", drifting),
    "clock-jump": ("clock-jump", clock_jump),
    "dead-peer": ("dead-after", dead_peer),
    "wrapped": ("", wrapped),
    "restart": ("restart-after", restart),
    "two-clients": ("", two_clients),
    "absent": ("", absent),
}


class CheckResult(Struct):
    """What one check found.

    Parameters
    ----------
    name
        In :data:`CHECKS`.
    outcome
        ``skipped``: the protocol cannot have the fault, and the remark says why.
    remark
        What was seen, or what was expected and found.
    """

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    remark: str


def check_device(
    name: str, only: Iterable[str] = (), limit_s: float = LIMIT_S
) -> list[CheckResult]:
    """Hold an adapter to the suite.

    Parameters
    ----------
    name
        Of the adapter.
    only
        Names of checks; default: all.
    limit_s
        What one check may take, s: an adapter that does not come back has failed it.

    Raises
    ------
    UnknownNameError, PluginError
        If there is no such adapter or check, or the adapter brings no bench.
    """
    bench, selected = bench_of(name), list(only) or list(CHECKS)
    for check in selected:
        if check not in CHECKS:
            raise UnknownNameError(f"no check '{check}'{choices_for(check, CHECKS, 'check')}")
    return [_limited(name, bench, check, limit_s) for check in selected]


def _limited(name: str, bench: Bench, check_name: str, limit_s: float) -> CheckResult:
    """Run a check in a thread, which is left behind if the adapter hangs."""
    results: list[CheckResult] = []
    thread = threading.Thread(
        target=lambda: results.append(_run(name, bench, check_name)),
        name=f"check {check_name}",
        daemon=True,
    )
    thread.start()
    thread.join(limit_s)
    if results:
        return results[0]
    location = _place_of(thread, device_class(name))
    stop_emulators_of(thread)
    return CheckResult(
        check_name, "failed", f"expected the check to end within {limit_s:g} s, found it {location}"
    )


def _place_of(thread: threading.Thread, kind: type[Device]) -> str:
    """Say where a thread stands: in which function of the adapter, if in one."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the only way
    file = sys.modules[kind.__module__].__file__
    stack = [] if frame is None else traceback.extract_stack(frame)
    device_entry = next((entry for entry in stack if entry.filename == file), None)
    last = device_entry or (stack[-1] if stack else None)
    if last is None:
        return "at its end without a result"
    return f"in {last.name} ({Path(last.filename).name}, line {last.lineno})"


def _run(name: str, bench: Bench, check_name: str) -> CheckResult:
    fault, check = CHECKS[check_name]
    if fault in bench.without:
        return CheckResult(check_name, "skipped", bench.without[fault])
    try:
        return CheckResult(check_name, "passed", check(name, bench))
    except SkippedError as error:
        return CheckResult(check_name, "skipped", str(error))
    except NotKeptError as error:
        return CheckResult(check_name, "failed", str(error))
    except (SoftdockError, OSError) as error:
        return CheckResult(check_name, "failed", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 # whatever an adapter raises is a finding
        return CheckResult(check_name, "failed", f"raised {type(error).__name__}: {error}")
