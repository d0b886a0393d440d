"""What every run says of its loops: their modes, exact and as sampled, as far as that is cheap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import description_of, open_description
from orchestrator.core.system import Component, SourceKind, System
from orchestrator.loops.loop_account import LoopAccount, Mode
from orchestrator.loops.signal_graph import coupled_groups
from orchestrator.loops.whole_system import LinearSystem, linear_system

#: Components of a system, and samples that its delays take: more of them take seconds.
MOST_COMPONENTS, MOST_NUMBERS = 40, 10_000
#: How the figures are had all the same.
_ASK = "'softdock analyze loop' does so"


@dataclass(frozen=True)
class RunAccount:
    """What a run says of its loops.

    Parameters
    ----------
    accounts
        Of all loops; empty where there are none.
    contact
        The same with contacts that are just open taken as ``open`` and as ``closed``; empty where
        no component stands at a kink.
    notice
        Why there are no accounts although there are loops, or none of both sides of a kink; empty
        if there are.
    seconds
        Wall time that it took.
    step_s
        Communication step in s: what dies down within one by more than exp(-pi) is not warned of.
    """

    accounts: tuple[LoopAccount, ...] = ()
    contact: Mapping[str, Sequence[LoopAccount]] = field(default_factory=dict)
    notice: str = ""
    seconds: float = 0.0
    step_s: float = 0.0

    def warnings(self) -> list[str]:
        """Return what the schedule misjudges, by more than a twentieth or in its sign."""
        found = [text for account in self.accounts for text in self._lasting(account).warnings()]
        for side, accounts in self.contact.items():
            said = (text for account in accounts for text in self._lasting(account).warnings())
            found += [f"with the contact {side}, {text}" for text in said]
        return found

    def _lasting(self, account: LoopAccount) -> LoopAccount:
        """Leave out modes that no sample shows, whatever the schedule makes of them."""
        lasting = (m for m in account.modes if m.exact and m.exact.real * self.step_s > -math.pi)
        return replace(account, modes=tuple(lasting))

    def remarks(self) -> list[str]:
        """Return the warnings, and why there is nothing to warn of."""
        return [*self.warnings(), *([self.notice] if self.notice else [])]

    def as_json(self) -> dict[str, Any]:
        """Return plain data; growth rates in 1/s, frequencies in Hz."""
        return {
            "loops": [account_json(account) for account in self.accounts],
            "contact": {
                side: [account_json(account) for account in accounts]
                for side, accounts in self.contact.items()
            },
            "notice": self.notice,
            "seconds": self.seconds,
        }


def run_account(system: System, **options: Any) -> RunAccount:
    """Account for the loops of a system at its start, if that is cheap and without side effects.

    It never raises: what stands in the way is said in the notice. Components are instantiated once
    more for it, in this process.

    Parameters
    ----------
    system
        As it was run.
    options
        Of :func:`~orchestrator.loops.linear_system`.
    """
    begin = perf_counter()
    try:
        if not coupled_groups(system):
            return RunAccount()
        _expect_harmless(system)
        linear = linear_system(system, **options)
        _expect_small(linear)
        accounts = tuple(linear.loop_accounts())
    except Exception as error:  # noqa: BLE001 - a run that is done is never lost to its analysis
        notice = f"loops were not linearised: {_said(error)}"
        return RunAccount(notice=notice, seconds=perf_counter() - begin)
    contact, notice = {}, ""
    try:
        contact = linear.contact_accounts()
    except Exception as error:  # noqa: BLE001 - the same, and no more than this part is
        notice = f"loops were not linearised on both sides of what is just open: {_said(error)}"
    took_s, step_s = perf_counter() - begin, linear.step_ns / 1e9
    return RunAccount(accounts, contact, notice=notice, seconds=took_s, step_s=step_s)


def loop_warnings(system: System, **options: Any) -> tuple[str, ...]:
    """Return what the account of a run warns of; options of :func:`run_account`."""
    return tuple(run_account(system, **options).warnings())


def account_json(account: LoopAccount) -> dict[str, Any]:
    """Return an account as plain data."""
    return {
        "components": list(account.components),
        "free_motions": account.free,
        "numbers": account.size,
        "modes": [_mode_json(mode) for mode in account.modes],
        "remarks": list(account.remarks),
    }


def _mode_json(mode: Mode) -> dict[str, Any]:
    exact = mode.exact
    return {
        "growth_1_s": mode.growth,
        "frequency_hz": mode.frequency,
        "damping_ratio": mode.damping,
        "exact_growth_1_s": None if exact is None else exact.real,
        "exact_frequency_hz": None if exact is None else abs(exact.imag) / (2.0 * math.pi),
        "growth_error_1_s": None if exact is None else mode.error,
    }


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, CapabilityError) else f"{type(error).__name__}: {error}"


def _expect_harmless(system: System) -> None:
    """Expect components that may be instantiated once more here, and that can be linearised.

    Raises
    ------
    CapabilityError
        Otherwise; it names the first that is not, and few enough components.
    """
    if len(system.components) > MOST_COMPONENTS:
        raise CapabilityError(
            f"{len(system.components)} components, more than {MOST_COMPONENTS}; {_ASK}"
        )
    for name, component in system.components.items():
        if why := next(_harm(component), ""):
            raise CapabilityError(f"component '{name}' {why}")


def _harm(component: Component) -> Iterator[str]:
    kind = component.source.kind
    if kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        yield "is neither an FMU nor a block"
    if component.options.isolation is not None:
        yield f"runs in a process of its own, as it may crash; {_ASK} in this one"
    if kind is SourceKind.FMU and not description_of(component).capabilities.can_roll_back:
        described = open_description(Path(component.source.location))
        if described.modelExchange is None or described.fmiVersion.startswith("1"):
            yield (
                "has no interface for Model Exchange and cannot go back to a state"
                " (canGetAndSetFMUstate)"
            )


def _expect_small(linear: LinearSystem) -> None:
    numbers = sum(max(row[1], 2) for row in linear.schedule().histories)
    if numbers > MOST_NUMBERS:
        raise CapabilityError(
            f"the delays take {numbers} samples of {linear.step_ns / 1e6:g} ms, more than"
            f" {MOST_NUMBERS}; {_ASK}"
        )
