"""All checks of one adapter, one function each: what was seen, or NotKeptError."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from orchestrator.core.diagnostics import (
    DeviceError,
    PluginError,
    SoftdockError,
    UnknownNameError,
    WireFormatError,
    nearest,
)
from orchestrator.core.structs import Struct
from orchestrator.rig.devices.conformance.session import Bench, Heard, Session, hear, session
from orchestrator.rig.devices.conformance.values import value_problems
from orchestrator.rig.devices.device import Device
from orchestrator.rig.devices.registry import device_class, read_settings

_ENOUGH = 40
#: How often a device is led before it counts as one that stands still: a busy machine holds it up.
_LEADS = 3
#: Far more than samples need that were under way.
_JUMP_S = 100.0


class NotKeptError(Exception):
    """An adapter does not do what every adapter must."""


def golden_bytes(_: str, bench: Bench) -> str:
    """Bytes that are known are written and read as they are known."""
    _expect(bool(bench.golden), "the bench has golden bytes, found none")
    for golden in bench.golden:
        found = golden.found()
        _expect(found == golden.expected, f"{golden.name}: {golden.expected!r}, found {found!r}")
    return f"{len(bench.golden)} as expected"


def foreign_bytes(_: str, bench: Bench) -> str:
    """Bytes of another protocol, cut short or damaged, are refused with one error."""
    _expect(bool(bench.refused), "the bench has bytes to refuse, found none")
    for refused in bench.refused:
        try:
            found = refused.read()
        except WireFormatError as error:
            _expect(bool(str(error)), f"{refused.name}: an error that says what is wrong")
        else:
            raise NotKeptError(f"{refused.name}: expected WireFormatError, found {found!r}")
    return f"{len(bench.refused)} refused"


def back_to_back(name: str, bench: Bench) -> str:
    """Without faults each sample arrives once, in order, finite and within its range."""
    with session(name, bench) as found:
        heard = found.hear(_ENOUGH)
        _expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        _expect(not heard.refused, f"nothing refused, found: {heard.refused[:1]}")
        _expect_order(found, bench, heard.steps)
        outputs = found.device.connectors(found.device.settings).outputs
        width = sum(connector.size for connector in outputs)
        limits = [(c.minimum, c.maximum) for c in outputs for _ in range(c.size)]
        for sample in heard.samples:
            _expect(sample.valid, f"valid samples, found status {sample.status:#x}")
            _expect(len(sample.values) == width, f"{width} values, found {len(sample.values)}")
            for value, (low, high) in zip(sample.values, limits, strict=True):
                _expect(math.isfinite(value), f"finite values, found {value}")
                _expect(low <= value <= high, f"{low:g} to {high:g}, found {value:g}")
        times = [s.device_time for s in heard.samples if s.device_time is not None]
        _expect(times == sorted(times), "device times that grow")
        found.device.send(found.start_values())
    _expect(found.emulator.stop() == 0, "an emulator that ends with exit code 0")
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
    with session(name, bench, "drop:0.3") as found:
        heard = found.hear(_ENOUGH)
        _expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        _expect(not heard.refused, f"nothing refused, found: {heard.refused[:1]}")
        gaps = sum(step - 1 for step in heard.steps if step > 1)
        _expect(gaps > 0, "gaps in the sequence, found none")
    return f"{gaps} lost, told by the sequence"


def late(name: str, bench: Bench) -> str:
    """Late samples arrive, complete and in order."""
    with session(name, bench, "late:20") as found:
        heard = found.hear(_ENOUGH)
        _expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        _expect_order(found, bench, heard.steps)
    return "20 ms later, in order"


def repeated(name: str, bench: Bench) -> str:
    """A repeated sample has the number that it had."""
    with session(name, bench, "duplicate:0.5") as found:
        repeats = sum(step == 0 for step in found.hear(_ENOUGH).steps)
        _expect(repeats > 0, "repeated sequence numbers, found none")
    return f"{repeats} repeated, told by the sequence"


def reordered(name: str, bench: Bench) -> str:
    """An overtaken sample has the number that it had."""
    with session(name, bench, "reorder:0.3") as found:
        back = sum(step < 0 for step in found.hear(_ENOUGH).steps)
        _expect(back > 0, "sequence numbers that go back, found none")
    return f"{back} overtaken, told by the sequence"


def malformed(name: str, bench: Bench) -> str:
    """Damaged datagrams are refused one by one, and receiving goes on."""
    with session(name, bench, "malformed:0.3") as found:
        heard = found.hear(_ENOUGH)
        _expect(len(heard.samples) == _ENOUGH, f"{_ENOUGH} samples, found {len(heard.samples)}")
        _expect(len(heard.refused) > 0, "damaged datagrams that are refused, found none")
    return f"{len(heard.refused)} refused, {_ENOUGH} received"


def wrong_status(name: str, bench: Bench) -> str:
    """A device that is not in order is told so: not valid, or a status other than 0."""
    with session(name, bench, "wrong-status") as found:
        samples = found.hear(5).samples
        _expect(bool(samples), "samples, found none")
        marked = [s for s in samples if not s.valid or s.status]
        _expect(len(marked) == len(samples), f"all marked, found {len(marked)} of {len(samples)}")
    return "told by the sample"


def frozen(name: str, bench: Bench) -> str:
    """What a frozen device says stands still while its count goes on, so that it can be found."""
    with session(name, bench, later="freeze") as found:
        moved = any(_poses(found) > 1 for _ in range(_LEADS))
        _expect(moved, "values that change while it is led, found none that do")
        found.strike()
        _expect(_poses(found) == 1, "one value again and again, found others")
    return "stands still; the count goes on"


def _poses(found: Session) -> int:
    """Count what a device says that is led somewhere."""
    heard = found.stir(_ENOUGH // 2)
    _expect(sum(heard.steps) > 0 or not heard.steps, "a count that goes on, found one that stands")
    return len({tuple(sample.values) for sample in heard.samples})


def no_numbers(name: str, bench: Bench) -> str:
    """What is no number is refused, and receiving goes on."""
    with session(name, bench, later="nan") as found:
        _expect(bool(found.hear(5).samples), "samples before the fault, found none")
        found.strike()
        heard = found.hear(_ENOUGH, 0.5)
        _expect(bool(heard.refused), "refusals, found none")
        _expect(not heard.samples, f"no sample, found {heard.samples[:1]}")
    return f"{len(heard.refused)} refused"


def saturated(name: str, bench: Bench) -> str:
    """Values at the end of their range arrive there, or the sample says so."""
    with session(name, bench, later="saturated") as found:
        usual = max(_sizes(found.hear(_ENOUGH)), default=math.nan)
        found.strike()
        heard = found.hear(_ENOUGH // 2)
        _expect(bool(heard.samples), "samples, found none")
        least = min(_sizes(heard))
        if least <= 2.0 * usual:
            told = all(not s.valid or s.status for s in heard.samples)
            _expect(told, f"a status, or values far beyond {usual:g}, found {least:g}")
            return "told by the sample"
    return f"{least:.3g}, where {usual:.3g} was usual"


def _sizes(heard: Heard) -> list[float]:
    return [max(map(abs, sample.values)) for sample in heard.samples]


def clock_jump(name: str, bench: Bench) -> str:
    """A clock that jumps shows in the device's time, or in its count."""
    with session(name, bench, later=f"clock-jump:{_JUMP_S}") as found:
        before = found.hear(5).samples
        found.strike()
        after = found.hear(1).samples
        _expect(bool(before and after), "samples before and after, found none")
        times = [s.device_time for s in (before[-1], after[0]) if s.device_time is not None]
        counts = [s.sequence for s in (before[-1], after[0]) if s.sequence is not None]
        rate = found.device.connectors(found.device.settings).rate
        told = (
            times[-1] - times[0] if times else 0.0,
            (counts[-1] - counts[0]) / rate if counts else 0.0,
        )
        gone = max(told)
        _expect(gone > _JUMP_S, f"more than {_JUMP_S:g} s to have gone by, found {gone:.3f} s")
    return f"{gone:.2f} s by its own clock"


def dead_peer(name: str, bench: Bench) -> str:
    """Of a dead device nothing comes, in the time that was given, and it can be closed."""
    with session(name, bench, "dead-after:0.6") as found:
        heard = found.hear(10_000, until_silent=True)
        _expect(bool(heard.samples), "samples before it dies, found none")
        begin = time.monotonic()
        _expect(found.device.receive(0.05) is None, "nothing from a dead device")
        waited = time.monotonic() - begin
        _expect(0.04 <= waited < 3.0, f"to wait for 0.05 s, found {waited:.3f} s")
        found.device.send(found.start_values())
    return f"silent after {len(heard.samples)} samples"


def restart(name: str, bench: Bench) -> str:
    """A device that began anew is heard again, at once or when it is opened again."""
    with session(name, bench, "restart-after:0.6") as found:
        heard = _until_restart(found)
        _expect(heard != 0, "samples before the restart, found none")
        if heard is None:
            return "heard at once; the sequence goes back"
        found.device.close()
        found.device.open()
        _expect(bool(found.hear(5).samples), "samples after the device was opened again")
    return "heard when it was opened again"


def _until_restart(found: Session) -> int | None:
    """Count samples until there are no more; ``None`` if the sequence goes back before that."""
    last, end, count = -math.inf, time.monotonic() + 3.0, 0
    try:
        while (heard := found.hear(1, 1.0)).samples and time.monotonic() < end:
            number, count = heard.samples[0].sequence, count + 1
            if number is not None and number < last:
                return None
            last = last if number is None else number
    except DeviceError as error:  # it tells that the device is not the one that was opened
        _expect(bool(str(error)), "an error that says what is wrong")
    return count


def two_clients(name: str, bench: Bench) -> str:
    """A second adapter on the same device is refused, or takes it over; no third thing happens."""
    with session(name, bench) as found:
        _expect(bool(found.hear(5).samples), "samples, found none")
        second = type(found.device)(found.device.settings)
        try:
            second.open()
            outcome = (
                f"taken over: {len(hear(second, 5, 2.0, found.start_values()).samples)} samples"
            )
        except (DeviceError, OSError) as error:
            _expect(bool(str(error)), "an error that says what is wrong")
            outcome = "the second is refused"
        finally:
            second.close()
        found.device.close()
        found.device.open()
        _expect(bool(found.hear(5).samples), "samples when the second has gone")
    return outcome


def absent(name: str, bench: Bench) -> str:
    """Without a device opening fails with one error, or nothing is received; both can be closed."""
    kind = device_class(name)
    device: Device = kind(read_settings(kind, bench.wiring().settings, f"bench of {name}"))
    device.close()
    try:
        device.open()
        _expect(device.receive(0.05) is None, "nothing where there is no device")
        outcome = "silence"
    except (DeviceError, OSError) as error:
        _expect(bool(str(error)), "an error that says what is wrong")
        outcome = "refused"
    finally:
        device.close()
        device.close()
    return outcome


def _expect_order(found: Session, bench: Bench, steps: list[int]) -> None:
    period = found.device.sequence_period
    counted = [s % period if period else s for s in steps]
    strange = [s for s in counted if not (s > 0 if bench.newest_only else s == 1)]
    _expect(not strange, f"sequence numbers one by one, found steps of {strange[:5]}")


def _expect(kept: bool, what: str) -> None:  # noqa: FBT001 # reads as a sentence
    if not kept:
        raise NotKeptError(f"expected {what}")


def bench_of(name: str) -> Bench:
    """Return the bench of an adapter (entry point ``softdock.device_benches``).

    Raises
    ------
    UnknownNameError, PluginError
        If there is no adapter of that name, it brings none, or it cannot be imported.
    """
    from importlib.metadata import entry_points

    device_class(name)
    for entry in entry_points(group="softdock.device_benches", name=name):
        try:
            bench = entry.load()
        except Exception as error:
            raise PluginError(
                f"the bench of device '{name}' ({entry.value}) cannot be imported: {error}"
            ) from error
        if not isinstance(bench, Bench):
            raise PluginError(f"the bench of device '{name}' ({entry.value}): expected a Bench")
        return bench
    raise PluginError(
        f"device '{name}' brings no bench, so that it has no emulator and cannot be checked:"
        " register one, entry point softdock.device_benches"
    )


Check = Callable[[str, Bench], str]
#: By name; those that need a fault name it first.
CHECKS: Mapping[str, tuple[str, Check]] = {
    "golden-bytes": ("", golden_bytes),
    "foreign-bytes": ("", foreign_bytes),
    "back-to-back": ("", back_to_back),
    "values": ("", values),
    "lost": ("drop", lost),
    "late": ("late", late),
    "repeated": ("duplicate", repeated),
    "reordered": ("reorder", reordered),
    "malformed": ("malformed", malformed),
    "wrong-status": ("wrong-status", wrong_status),
    "frozen": ("freeze", frozen),
    "no-numbers": ("nan", no_numbers),
    "saturated": ("saturated", saturated),
    "clock-jump": ("clock-jump", clock_jump),
    "dead-peer": ("dead-after", dead_peer),
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


def check_device(name: str, only: Iterable[str] = ()) -> list[CheckResult]:
    """Hold an adapter to the suite.

    Parameters
    ----------
    name
        Of the adapter.
    only
        Names of checks; default: all.

    Raises
    ------
    UnknownNameError, PluginError
        If there is no such adapter or check, or the adapter brings no bench.
    """
    bench, chosen = bench_of(name), list(only) or list(CHECKS)
    for each in chosen:
        if each not in CHECKS:
            raise UnknownNameError(
                f"check '{each}' is not known{nearest(each, CHECKS)}; known: {', '.join(CHECKS)}"
            )
    return [_run(name, bench, each) for each in chosen]


def _run(name: str, bench: Bench, which: str) -> CheckResult:
    fault, check = CHECKS[which]
    if fault in bench.without:
        return CheckResult(which, "skipped", bench.without[fault])
    try:
        return CheckResult(which, "passed", check(name, bench))
    except NotKeptError as error:
        return CheckResult(which, "failed", str(error))
    except (SoftdockError, OSError) as error:
        return CheckResult(which, "failed", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 # whatever an adapter raises is a finding
        return CheckResult(which, "failed", f"raised {type(error).__name__}: {error}")
