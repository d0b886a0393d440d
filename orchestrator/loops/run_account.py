"""What every run says of its loops: their modes, exact and as sampled, as far as that is cheap."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import CapabilityError, SoftdockError, exits_are_errors
from orchestrator.core.display import escaped
from orchestrator.core.master import (
    Execution,
    ExecutionSettings,
    Schedule,
    StepKeywords,
    compile_schedule,
)
from orchestrator.core.master.run.assembly import prepared
from orchestrator.core.simunits import description_of, open_description
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import SourceKind, System
from orchestrator.loops.block_model import Side
from orchestrator.loops.loop_account import MODES, LoopAccount, Mode, coupled_groups, loop_accounts
from orchestrator.loops.operating_point import Again, by_model_exchange, unit_models
from orchestrator.loops.period_map import PeriodMap
from orchestrator.loops.state_space import UnitModel

if TYPE_CHECKING:
    from orchestrator.loops.loop_transfer import Margins

#: What can be started again and again without a side effect.
_MODELS = frozenset({SourceKind.FMU, SourceKind.BLOCK})


class LinearSystem(Struct, dict=True):
    """A system whose components are linear models, and how a master steps it.

    Parameters
    ----------
    system
        As it is run, with the nominal delays of lines that vary.
    master, delay, step_ns
        How it is stepped, what becomes of declared delays, and the communication step in
        nanoseconds.
    models
        Of the components, by name.
    record
        Outputs to keep although they are not connected.
    at
        Time of the point; ``None``: the start.
    contact
        What was taken of kinks.
    side_models
        Models of what stands at a kink, as an open contact and as a closed one, or why there are
        none; empty where nothing stands at one.
    """

    system: System
    master: ExecutionSettings
    delay: DelayMode
    step_ns: int
    models: Mapping[str, UnitModel]
    record: tuple[str, ...] = ()
    at: str | float | None = None
    contact: Side = Side.MEAN
    side_models: Mapping[Side, Mapping[str, UnitModel] | SoftdockError] = field(
        default_factory=dict
    )

    def __repr__(self) -> str:
        many = len(self.models)
        return (
            f"LinearSystem '{self.system.name}': {many} component{'s' if many != 1 else ''},"
            f" {self.master.algorithm}, step {self.step_ns / 1e6:g} ms"
        )

    def _repr_html_(self) -> str:
        try:
            _expect_small(self)
            html = "".join(account._repr_html_() for account in self.loop_accounts())
        except SoftdockError as error:
            html = f"<p>{escaped(str(error))}</p>"
        return f"<p>{escaped(repr(self))}</p>{html}"

    def schedule(self) -> Schedule:
        """Return what the master makes of it."""
        return self._compiled

    @cached_property
    def _compiled(self) -> Schedule:
        settings = self.master
        return compile_schedule(
            self.system,
            settings.algorithm,
            self.step_ns,
            self.delay,
            self.record,
            settings.algorithm_options,
            settings.rates,
        )

    def period_map(self, only: int | None = None) -> PeriodMap:
        """Return the map of one period of the schedule, or of only one of its steps."""
        return PeriodMap(self.schedule(), self.models, only)

    def loop_accounts(self, count: int = MODES) -> list[LoopAccount]:
        """Say what the schedule does to the modes of every loop, the least damped first."""
        return loop_accounts(self.system, self.models, self.period_map(), count=count)

    def margins(self, line: str, element: int = 1) -> Margins:
        """Return the margins at one line: in continuous time, or else as sampled.

        Those in continuous time are of :func:`open_loop`. A loop with a component that has no model
        there, such as one that samples, has margins as its schedule makes it, and they say so
        (:attr:`Margins.is_sampled`).
        """
        from orchestrator.loops.loop_transfer import find_line, open_loop
        from orchestrator.loops.sampled_loop import SampledLoop

        cut = find_line(self.system, line)
        ends = {cut.source.component, cut.target.component}
        group = next((g for g in coupled_groups(self.system) if ends <= set(g)), ())
        if all(self.models[name].continuous is not None for name in group):
            return open_loop(self.system, self.models, line, element).margins()
        loop = SampledLoop.of(self, line)
        if loop is None:
            raise AssertionError(f"the line {cut} is in a loop")
        return replace(loop.margins(), is_sampled=True)

    def contact_accounts(self, count: int = MODES) -> dict[str, list[LoopAccount]]:
        """Say the same for each mode of a contact that is just open: ``open`` and ``closed``.

        Empty where no component is at a kink.
        """
        return {str(side.contact): side.loop_accounts(count) for side in self.sides()}

    def sides(self) -> tuple[LinearSystem, ...]:
        """Return it with what stands at a kink as a contact that is open and one that is closed.

        There is neither where no component stands at one.
        """
        sides = []
        for side, models in self.side_models.items():
            if isinstance(models, SoftdockError):
                raise models
            sides.append(replace(self, models={**self.models, **models}, contact=side))
        return tuple(sides)

    def with_value(self, path: str, value: float) -> LinearSystem:
        """Linearise it again with another value of a parameter, ``component.parameter``.

        Raises
        ------
        SoftdockError
            If there is no such parameter, it does not take the value, or the system cannot be
            linearised with it.
        """
        settings = replace(self.master, step=f"{self.step_ns} ns", delay=self.delay)
        system = self.system.set(path, value)
        return _linearised(system, settings, self.record, at=self.at, contact=self.contact)


def linear_system(
    system: System,
    *,
    at: str | float | None = None,
    record: tuple[str, ...] = (),
    contact: Side | str = Side.MEAN,
    **keywords: Unpack[StepKeywords],
) -> LinearSystem:
    """Linearise every component of a system at a point of a run.

    Parameters
    ----------
    system
        As of :func:`orchestrator.start`.
    at
        Time of the point, on the grid of communication steps; seconds or text; ``None``: the start.
    record
        Outputs that are kept although nothing is connected to them.
    contact
        Side of a kink, such as a contact that is just open: ``"mean"``, ``"open"`` (the side with
        the smaller effect) or ``"closed"``.
    **given
        Settings of the run; see :class:`orchestrator.Execution`.

    Raises
    ------
    SoftdockError
        If the system cannot run to this point, or a component cannot be linearised.
    """
    settings = ExecutionSettings.of(system, **keywords)
    return _linearised(system, settings, record, at=at, contact=contact)


def _linearised(
    system: System,
    settings: ExecutionSettings,
    record: tuple[str, ...],
    *,
    at: str | float | None,
    contact: Side | str,
) -> LinearSystem:
    mode = settings.mode

    @contextmanager
    def led(as_run: Collection[str] = ()) -> Iterator[Execution]:
        alike = by_model_exchange(system, as_run)
        with Execution(alike, replace(settings, record=record)) as run:
            if at is not None:
                run.advance(at)
            yield run

    prepared_system, _ = prepared(system, mode, strict=False)
    with led() as run:
        kinds = {component.source.kind for component in prepared_system.components.values()}
        again = led if kinds <= _MODELS else None  # devices are started once
        models = unit_models(run, again, Side(contact))
        sides = _models_of_sides(run, again, models)
        step_ns = run.schedule.step_ns
    lines = tuple(
        replace(line, delay=line.delay and replace(line.delay, variation=None))
        for line in prepared_system.connections
    )
    flat = replace(prepared_system, connections=lines)
    return LinearSystem(flat, settings, mode, step_ns, models, record, at, Side(contact), sides)


def _models_of_sides(
    run: Execution, again: Again | None, models: Mapping[str, UnitModel]
) -> dict[Side, dict[str, UnitModel] | SoftdockError]:
    """Linearise what stands at a kink on both sides of it, in the same run."""
    smooth = {name for name, model in models.items() if not model.kinks}
    models_of_side: dict[Side, dict[str, UnitModel] | SoftdockError] = {}
    for side in (Side.OPEN, Side.CLOSED) if len(smooth) < len(models) else ():
        try:
            models_of_side[side] = unit_models(run, again, side, but=smooth)
        except SoftdockError as error:
            models_of_side[side] = error
    return models_of_side


#: Components of a system, and samples that its delays take: more of them take seconds.
MOST_COMPONENTS, MOST_NUMBERS = 40, 10_000
#: How the figures are had all the same.
_ASK = "'softdock analyze loop' does so"


class RunAccount(Struct):
    """What a run says of its loops.

    accounts: Of all loops; empty where there are none.
    contact: The same with contacts that are just open taken as ``open`` and as ``closed``; empty
        where no component stands at a kink.
    notice: Why there are no accounts although there are loops, or none of both sides of a kink;
        empty if there are.
    seconds: Wall time that it took.
    step_s: Communication step in s: what dies down within one by more than exp(-pi) is not warned
        of.
    """

    accounts: tuple[LoopAccount, ...] = ()
    contact: Mapping[str, Sequence[LoopAccount]] = field(default_factory=dict)
    notice: str = ""
    seconds: float = 0.0
    step_s: float = 0.0

    def warnings(self) -> list[str]:
        """Return what the schedule misjudges, by more than a twentieth or in its sign."""
        messages = [text for account in self.accounts for text in self._lasting(account).warnings()]
        for side, accounts in self.contact.items():
            of_side = (text for account in accounts for text in self._lasting(account).warnings())
            messages += [f"with the contact {side}, {text}" for text in of_side]
        return messages

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

    It never raises: the notice names the obstacle. Components are instantiated once
    more for it, in this process.
    """
    begin = perf_counter()
    try:
        if not coupled_groups(system):
            return RunAccount()
        _expect_harmless(system)
        with exits_are_errors():
            linear = linear_system(system, **options)
        _expect_small(linear)
        accounts = tuple(linear.loop_accounts())
    except Exception as error:  # noqa: BLE001 - a run that is done is never lost to its analysis
        notice = f"loops were not linearised: {_error_text(error)}"
        return RunAccount(notice=notice, seconds=perf_counter() - begin)
    contact, notice = {}, ""
    try:
        with exits_are_errors():
            contact = linear.contact_accounts()
    except Exception as error:  # noqa: BLE001 - the same, and no more than this part is
        notice = (
            f"loops were not linearised on both sides of what is just open: {_error_text(error)}"
        )
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


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, CapabilityError) else f"{type(error).__name__}: {error}"


def _expect_harmless(system: System) -> None:
    """Expect components that may be instantiated once more here, and that can be linearised."""
    if len(system.components) > MOST_COMPONENTS:
        raise CapabilityError(
            f"{len(system.components)} components, more than {MOST_COMPONENTS}; {_ASK}"
        )
    for name, component in system.components.items():
        kind, reason = component.source.kind, ""
        if kind not in _MODELS:
            reason = "is neither an FMU nor a block"
        elif component.options.isolation is not None:
            reason = f"runs in a process of its own, as it may crash; {_ASK} in this one"
        elif kind is SourceKind.FMU and not description_of(component).capabilities.can_roll_back:
            described = open_description(Path(component.source.location))
            if described.modelExchange is None or described.fmiVersion.startswith("1"):
                reason = (
                    "has no interface for Model Exchange and cannot go back to a state"
                    " (canGetAndSetFMUstate), so that it is started anew for every response;"
                    f" {_ASK}"
                )
        if reason:
            raise CapabilityError(f"component '{name}' {reason}")


def _expect_small(linear: LinearSystem) -> None:
    numbers = sum(max(row.depth, 2) for row in linear.schedule().histories)
    if numbers > MOST_NUMBERS:
        raise CapabilityError(
            f"the delays take {numbers} samples of {linear.step_ns / 1e6:g} ms, more than"
            f" {MOST_NUMBERS}; {_ASK}"
        )
