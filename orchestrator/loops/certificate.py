"""Certificate: what the rules of several masters do to the loops of one system."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import (
    AlgebraicLoopError,
    CapabilityError,
    DescriptionError,
    FmuError,
    SoftdockError,
)
from orchestrator.core.display import escaped, html_table
from orchestrator.core.master import ExecutionSettings, compile_schedule
from orchestrator.core.master.run.assembly import prepared
from orchestrator.core.simunits import resolve
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import (
    Loop,
    System,
    closed_loops,
    communication_step_ns,
    with_starts,
)
from orchestrator.core.system.experiment import WAY
from orchestrator.core.system.time import time_text
from orchestrator.loops.loop_account import LoopAccount, Mode
from orchestrator.loops.loop_transfer import Margins, open_loop
from orchestrator.loops.rule_map import (
    MASTERS,
    MasterRule,
    OutputReading,
    Remedy,
    RuledSystem,
    master_rules,
    obstacles_of,
    remedies,
)
from orchestrator.loops.run_account import (
    MOST_COMPONENTS,
    LinearSystem,
    RunAccount,
    account_json,
    linear_system,
)
from orchestrator.loops.sampled_loop import SampledLoop
from orchestrator.loops.step_choice import Search, StepReference, choose_step
from orchestrator.loops.step_error import at_step, lines_to_cut, step_error

#: What the master of this package is called among the others.
OWN = "softdock"
#: Rings that are listed, and loops whose margins are taken, at most.
MOST_RINGS, MOST_MARGINS = 20, 10
_UNPACKED = re.compile(r"\S*[\\/]softdock-ssp-\w+[\\/]")
_NO_MODES = "modes and margins cannot be told"
#: What stands in the way of one figure, and not of the others.
_IN_THE_WAY = (CapabilityError, DescriptionError)


class RingDelay(Struct):
    """What a rule and its step add to the delay of a ring of lines.

    ring: Its outputs in order.
    declared_ns: Delay that its lines declare.
    added_ns: What exchange and step add; where a master knows no declared delays, they are missing.
    """

    ring: str
    declared_ns: float
    added_ns: float

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "ring": self.ring,
            "declared_ms": self.declared_ns / 1e6,
            "added_ms": self.added_ns / 1e6,
        }


class MasterAccount(Struct):
    """What one master does.

    name, rule: The master, and how it exchanges, as plain data.
    rings: Delays of rings, the shortest rings first.
    loops: Modes of every loop, in continuous time with all declared delays and as it is stepped.
    margins: As stepped, by the line where a loop is cut.
    longest_step_ns: The longest step that is within the tolerance; ``None`` if there is none.
    remarks: What it cannot do, and what could not be told.
    obstacles: Why the tool cannot run the system as it is.
    """

    name: str
    rule: Mapping[str, Any]
    rings: tuple[RingDelay, ...] = ()
    loops: tuple[LoopAccount, ...] = ()
    margins: Mapping[str, Margins] = field(default_factory=dict)
    longest_step_ns: int | None = None
    remarks: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()

    def verdict(self, tolerance: float) -> str:
        """Say what this master does to the loops: a sentence without its name.

        tolerance: Error of a mode, a share of its size, up to which it counts as kept.
        """
        modes = [(loop.modes[0], loop) for loop in self.loops if loop.modes and loop.modes[0].exact]
        if not modes:
            return f"no mode can be compared; see its delays of rings{self._not_run}."
        flips = [(loop_mode, loop) for loop_mode, loop in modes if _growth_sign_differs(loop_mode)]
        mode, loop = max(flips or modes, key=lambda pair: _mode_error(pair[0]))
        exact = mode.exact.real if mode.exact is not None else math.nan
        label = f"the least damped mode of {', '.join(loop.components)} ({mode.frequency:.3g} Hz)"
        rate = "grows" if mode.growth > 0.0 else "decays"
        rates = f"{rate} with {abs(mode.growth):.4g} 1/s; exact growth: {exact:+.4g} 1/s"
        error = _mode_error(mode)
        if flips:
            finding = f"the wrong stability: {label} {rates}"
        elif error <= tolerance:
            finding = f"right within {tolerance:.0%}: largest error {error:.1g} of {label}"
        else:
            finding = f"an error of {error:.0%}: {label} {rates}"
        return f"{finding}{self._not_run}."

    @property
    def _not_run(self) -> str:
        if not self.obstacles:
            return ""
        return f"; its tool cannot run the system as it is: {'; '.join(self.obstacles)}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "master": self.name,
            "rule": dict(self.rule),
            "rings": [ring.as_json() for ring in self.rings],
            "loops": [account_json(loop) for loop in self.loops],
            "margins": {line: margins.as_json() for line, margins in self.margins.items()},
            "longest_step_ms": None if self.longest_step_ns is None else self.longest_step_ns / 1e6,
            "remarks": list(self.remarks),
            "obstacles": list(self.obstacles),
        }


def _growth_sign_differs(mode: Mode) -> bool:
    return mode.exact is not None and mode.growth * mode.exact.real < 0.0


def _mode_error(mode: Mode) -> float:
    """Return the larger error of growth rate and frequency, each a share of its own size."""
    if mode.exact is None:
        return 0.0
    size = max(abs(mode.exact.real), _LEAST_DAMPING * abs(mode.exact))
    growth = abs(mode.growth - mode.exact.real) / size
    omega = abs(mode.exact.imag)
    frequency = abs(2.0 * math.pi * mode.frequency - omega) / omega if omega else 0.0
    return max(growth, frequency)


#: Growth rates count as no smaller than this share of a mode's size.
_LEAST_DAMPING = 1e-6


class Certificate(Struct):
    """What the rules of masters do to the loops of one system.

    system, at, step_ns, tolerance: Its name, the point, the communication step, and what the
        longest steps are held to.
    margins: In continuous time with all declared delays, by the line where a loop is cut.
    masters: Our own first.
    remedies: What would leave less of an error at this step, the best first.
    limits: What this is valid for, and what could not be told, in sentences.
    """

    system: str
    at: str
    step_ns: int
    tolerance: float
    margins: Mapping[str, Margins]
    masters: tuple[MasterAccount, ...]
    remedies: tuple[Remedy, ...]
    limits: tuple[str, ...]

    def __repr__(self) -> str:
        step = f"step {time_text(self.step_ns)}, at {self.at}, tolerance {self.tolerance:g}"
        lines = [*self.verdicts(), *(f"limit: {text}" for text in self.limits)]
        return "\n  ".join([f"Certificate of '{self.system}': {step}", *lines])

    def _repr_html_(self) -> str:
        rows = [(master.name, master.verdict(self.tolerance)) for master in self.masters]
        rows += [("limit", text) for text in self.limits]
        heading = escaped(repr(self).partition("\n")[0])
        return f"<p>{heading}</p>{html_table(('master', 'verdict'), rows)}"

    def verdicts(self) -> tuple[str, ...]:
        """Return a sentence for each master, in their order."""
        return tuple(f"{master.name}: {master.verdict(self.tolerance)}" for master in self.masters)

    @property
    def is_whole(self) -> bool:
        """Whether modes could be told, and not the delays of rings alone."""
        return any(master.loops for master in self.masters)

    def as_json(self) -> dict[str, Any]:
        """Return plain data; equal for equal systems."""
        return {
            "system": self.system,
            "at": self.at,
            "step_ms": self.step_ns / 1e6,
            "tolerance": self.tolerance,
            "margins": {line: margins.as_json() for line, margins in self.margins.items()},
            "verdicts": list(self.verdicts()),
            "masters": [master.as_json() for master in self.masters],
            "remedies": [remedy.as_json() for remedy in self.remedies],
            "limits": list(self.limits),
        }


def certify(
    system: System,
    masters: Sequence[str] | None = None,
    *,
    tolerance: float = 0.01,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Certificate:
    """Compute how this master and those of other tools change every loop of a system.

    Figures that cannot be computed, such as the modes of a system with an FMU of another platform,
    are sentences of ``limits``; the others are given.

    Parameters
    ----------
    system
        Of any FMUs and blocks.
    masters
        Names of other masters, such as ``"fmpy"`` and ``"libcosim"``; ``None``: all known ones.
    tolerance
        Largest relative error of growth rates and frequencies at the longest step.
    progress
        Called with the finished share, 0 to 1.
    **options
        Of :func:`orchestrator.loops.linear_system`: ``step``, ``at``, ``algorithm``, ``delay``.

    Returns
    -------
    Certificate
        ``verdicts()`` are sentences, ``masters`` the figures by master, ``remedies`` possible
        improvements, ``limits`` the assumptions; ``as_json()`` has everything.

    Raises
    ------
    DescriptionError
        If the system is described wrongly, or no communication step is given.
    UnknownNameError
        If a master does not exist.
    """
    rules = master_rules(MASTERS if masters is None else masters)
    mode = _settings(system, options).mode
    obstacles = {rule.name: tuple(obstacles_of(system, rule)) for rule in rules}
    certificate = _certified(system, rules, tolerance, mode, options, progress)
    accounts = [
        replace(account, obstacles=obstacles.get(account.name, ()))
        for account in certificate.masters
    ]
    return replace(certificate, masters=tuple(accounts))


def _certified(
    system: System,
    rules: Sequence[MasterRule],
    tolerance: float,
    mode: DelayMode,
    options: Mapping[str, Any],
    progress: Callable[[float], None] | None,
) -> Certificate:
    try:
        flat, _ = prepared(system, mode, strict=False)
    except (DescriptionError, FmuError) as error:
        unopened, _ = with_starts(resolve(system, runnable=False).flat())
        certificate = _of_rings(
            unopened.closed().check(algebraic_loops=True), rules, tolerance, options
        )
        return replace(
            certificate, limits=(*certificate.limits, f"{_NO_MODES}: {_in_a_line(error)}")
        )
    certificate = _of_rings(flat, rules, tolerance, options)
    if not any(master.rings for master in certificate.masters):
        return certificate
    limits = list(certificate.limits)
    try:
        linear = _linear(system, options, limits)
    except SoftdockError as error:
        limits.append(f"{_NO_MODES}: {_in_a_line(error)}")
        return replace(certificate, limits=tuple(dict.fromkeys(limits)))
    limits += _validity(linear, certificate.at, rules=len(certificate.masters) > 1)
    return _with_modes(replace(certificate, limits=tuple(limits)), linear, rules, progress)


def _of_rings(
    flat: System, rules: Sequence[MasterRule], tolerance: float, options: Mapping[str, Any]
) -> Certificate:
    """Return what the lines of a system say, without its models: the delays of rings."""
    step_ns = communication_step_ns(flat, options.get("step"))
    rings = closed_loops(flat)
    limits = [] if rings else ["there is no loop: no signal feeds back"]
    if len(rings) > MOST_RINGS:
        limits.append(f"of {len(rings)} kinds of rings the {MOST_RINGS} shortest are listed")
    settings = _settings(flat, options)
    order, delay = settings.algorithm, str(settings.mode)
    rule = {"tool": "Softdock", "order": order, "delay": delay, "evidence": "run"}
    own_account = MasterAccount(OWN, rule, _own_rings(flat, step_ns, settings, limits))
    others = (
        MasterAccount(rule.name, rule.as_json(), tuple(_rings(rings, rule, step_ns)))
        for rule in rules
    )
    at = str(options.get("at") or "the start")
    return Certificate(
        flat.name, at, step_ns, tolerance, {}, (own_account, *others), (), tuple(limits)
    )


def _with_modes(
    certificate: Certificate,
    linear: LinearSystem,
    rules: Sequence[MasterRule],
    progress: Callable[[float], None] | None,
) -> Certificate:
    limits = list(certificate.limits)
    choices = list(lines_to_cut(linear.system))
    if len(choices) > MOST_MARGINS:
        limits.append(f"margins are those of {MOST_MARGINS} of {len(choices)} loops")
    lines = [_readable(linear, choice) for choice in choices[:MOST_MARGINS]]
    margins: dict[str, Margins] = {}
    for line in lines:
        try:
            margins[line] = open_loop(linear.system, linear.models, line).margins()
        except _IN_THE_WAY as error:
            limits.append(f"no margins in continuous time at {line}: {_in_a_line(error)}")
    reference = None
    try:
        if len(linear.models) > MOST_COMPONENTS:
            raise CapabilityError(
                f"{len(linear.models)} components, more than {MOST_COMPONENTS};"
                " 'softdock analyze step' looks for a step all the same"
            )
        reference = StepReference.of(linear, lines=[])
    except _IN_THE_WAY as error:
        limits.append(f"no longest step and no remedies: {_in_a_line(error)}")
    accounts: dict[object, MasterAccount] = {}
    masters: list[MasterAccount] = []
    for master, rule in zip(certificate.masters, [None, *rules], strict=True):
        key = rule and (rule.outputs, rule.transforms, rule.converts)
        if key not in accounts:
            stepped = linear if rule is None else RuledSystem.of(linear, rule)
            accounts[key] = _account(master, stepped, lines, reference, certificate.tolerance)
        account = accounts[key]
        if progress is not None:
            progress((len(masters) + 1) / (len(rules) + 2))  # remedies come last
        masters.append(replace(account, name=master.name, rule=master.rule, rings=master.rings))
    return replace(
        certificate,
        margins=margins,
        masters=tuple(masters),
        remedies=() if reference is None else remedies(linear, reference.modes),
        limits=tuple(dict.fromkeys(limits)),
    )


def _readable(linear: LinearSystem, lines: Sequence[str]) -> str:
    """Return the first of some lines that the own schedule reads once in a step, if one is."""
    for line in lines:
        with suppress(*_IN_THE_WAY):
            SampledLoop.of(linear, line)
            return line
    return lines[0]


def _account(
    master: MasterAccount,
    stepped: LinearSystem,
    lines: Sequence[str],
    reference: StepReference | None,
    tolerance: float,
) -> MasterAccount:
    """Tell the modes, margins and the longest step of one master."""
    remarks = list(master.remarks)
    try:
        loops = tuple(stepped.loop_accounts())
    except _IN_THE_WAY as error:
        return replace(master, remarks=(*remarks, f"no modes: {_in_a_line(error)}"))
    remarks += RunAccount(loops, step_s=stepped.step_ns / 1e9).warnings()
    margins = {}
    for line in lines:
        try:
            cut = SampledLoop.of(stepped, line)
            if cut is not None:
                margins[line] = cut.margins()
        except _IN_THE_WAY as error:
            remarks.append(f"no margins as stepped at {line}: {_in_a_line(error)}")
    longest_ns = None
    if reference is not None:
        try:
            longest_ns = _longest_step(stepped, reference, tolerance)
        except _IN_THE_WAY as error:
            remarks.append(f"no longest step: {_in_a_line(error)}")
    return replace(
        master, loops=loops, margins=margins, longest_step_ns=longest_ns, remarks=tuple(remarks)
    )


def _longest_step(stepped: LinearSystem, reference: StepReference, tolerance: float) -> int | None:
    """Return the longest step with which, as with shorter ones, modes are within the tolerance."""
    if not isinstance(stepped, RuledSystem):
        return choose_step(reference, tolerance).step_ns

    def error(step_ns: int) -> float:
        try:
            return step_error(at_step(stepped, step_ns), reference.modes).share
        except _IN_THE_WAY:
            return float("inf")

    return Search(error, tolerance).largest(reference.steps)


def _linear(system: System, options: Mapping[str, Any], limits: list[str]) -> LinearSystem:
    """Linearise a system; one with an algebraic loop, which our masters refuse, all the same."""
    try:
        linear = linear_system(system, **options)
    except AlgebraicLoopError as error:
        limits.append(f"our master refuses it as it is: {_in_a_line(error)}")
        passing = {"algorithm": "jacobi", "algorithm_options": {"algebraic_loops": "delay"}}
        linear = linear_system(system, **{**options, **passing})
    if not (sides := linear.sides()):
        return linear
    limits.append(
        "a contact is just open here and is taken as closed; 'softdock analyze loop' shows both"
    )
    return sides[1]


def _settings(system: System, options: Mapping[str, Any]) -> ExecutionSettings:
    requested: dict[str, Any] = {name: options.get(name) for name in WAY}
    return ExecutionSettings.of(system, **requested)


def _own_rings(
    flat: System, step_ns: int, settings: ExecutionSettings, limits: list[str]
) -> tuple[RingDelay, ...]:
    master = settings.algorithm, step_ns, settings.mode
    try:
        schedule = compile_schedule(flat, *master, (), settings.algorithm_options, settings.rates)
    except _IN_THE_WAY as error:
        limits.append(f"our master refuses it as it is: {_in_a_line(error)}")
        return ()
    return tuple(
        RingDelay(str(loop.loops[0]), loop.physical_ns, loop.numerical_ns)
        for loop in schedule.loop_delays[:MOST_RINGS]
    )


def _rings(rings: Iterable[Loop], rule: MasterRule, step_ns: int) -> Iterator[RingDelay]:
    """Give the delays of rings: a line that is held half a step, what passes at once another."""
    again = rule.outputs is OutputReading.AFTER_INPUTS
    for ring in list(rings)[:MOST_RINGS]:
        halves = sum((0 if again else 2) if through else 1 for through in ring.feedthrough)
        yield RingDelay(str(ring), ring.physical_ns, halves * step_ns / 2.0 - ring.physical_ns)


def _validity(linear: LinearSystem, at: str, *, rules: bool) -> Iterator[str]:
    """Say what the figures rest on."""
    yield f"linear about {at}: what opens, closes, saturates or switches elsewhere has other limits"
    for name, model in linear.models.items():
        if model.continuous is None:
            yield (
                f"component '{name}' has no model in continuous time, as of a block that remembers"
                " samples: its loops are analysed as stepped only"
            )
        yield from model.remarks
    if rules and any(line.delay for line in linear.system.connections):
        yield (
            "delays of connections are annotations of Softdock: other tools run without them, which"
            " is counted in what they add"
        )
    yield (
        "what the integration of an FMU itself leaves is not counted where its equations are known"
        " (Model Exchange)"
    )


def _in_a_line(error: SoftdockError) -> str:
    """Return what an error says, without the folder that an archive was unpacked to."""
    return _UNPACKED.sub("", "; ".join(str(error).splitlines()))
