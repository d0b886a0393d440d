"""All checks of one adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.core.diagnostics import PluginError, SoftdockError, UnknownNameError, nearest
from orchestrator.rig.devices.conformance import checks
from orchestrator.rig.devices.conformance.session import Bench
from orchestrator.rig.devices.registry import device_class


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
    "golden-bytes": ("", checks.golden_bytes),
    "foreign-bytes": ("", checks.foreign_bytes),
    "back-to-back": ("", checks.back_to_back),
    "lost": ("drop", checks.lost),
    "late": ("late", checks.late),
    "repeated": ("duplicate", checks.repeated),
    "reordered": ("reorder", checks.reordered),
    "malformed": ("malformed", checks.malformed),
    "wrong-status": ("wrong-status", checks.wrong_status),
    "frozen": ("freeze", checks.frozen),
    "no-numbers": ("nan", checks.no_numbers),
    "saturated": ("saturated", checks.saturated),
    "clock-jump": ("clock-jump", checks.clock_jump),
    "dead-peer": ("dead-after", checks.dead_peer),
    "restart": ("restart-after", checks.restart),
    "two-clients": ("", checks.two_clients),
    "absent": ("", checks.absent),
}


@dataclass(frozen=True, slots=True)
class CheckResult:
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
    except checks.NotKeptError as error:
        return CheckResult(which, "failed", str(error))
    except (SoftdockError, OSError) as error:
        return CheckResult(which, "failed", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 # whatever an adapter raises is a finding
        return CheckResult(which, "failed", f"raised {type(error).__name__}: {error}")
