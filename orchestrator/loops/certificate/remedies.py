"""What would leave less of an error at the same step: another order, delay mode, partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.loops.certificate.master_rule import MASTERS
from orchestrator.loops.certificate.rule_map import RuledSystem
from orchestrator.loops.loop_account import coupled_groups, inner_lines
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.step_choice.step_error import LoopModes, at_step, step_error

#: Algorithms that are tried in every delay mode.
_ALGORITHMS = ("jacobi", "gauss-seidel", "newton", "waveform")
#: Pairs of components that are tried as one, and remedies that are told, at most.
_MOST_PAIRS, _MOST = 12, 6


@dataclass(frozen=True)
class Remedy:
    """Something else that could be done.

    Parameters
    ----------
    what
        In a sentence.
    share
        Largest error of a growth rate or frequency then, as a share of its size.
    """

    what: str
    share: float

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"what": self.what, "error": self.share}


def remedies(linear: LinearSystem, modes: Sequence[LoopModes]) -> tuple[Remedy, ...]:
    """Try other algorithms, delay modes and partitions at the same step; the best come first.

    Partitions are those of a master that knows neither delays nor any order (Jacobi).
    """
    found = []
    for what, stepped in _ways(linear):
        try:
            found.append(Remedy(what, step_error(stepped, modes).share))
        except (CapabilityError, DescriptionError):
            continue  # it is no way for this system
    found.sort(key=lambda one: one.share)
    return tuple(found[:_MOST])


def _ways(linear: LinearSystem) -> Iterator[tuple[str, LinearSystem]]:
    for algorithm in _ALGORITHMS:
        for mode in DelayMode:
            own = (algorithm, mode) == (linear.master.algorithm, linear.delay)
            what = f"Softdock, {algorithm}, delay {mode}{' (as it is run)' if own else ''}"
            yield what, at_step(replace(linear, delay=mode), linear.step_ns, algorithm)
    plain = RuledSystem.of(linear, MASTERS["libcosim"])
    yield "any Jacobi master", plain
    pairs = {
        tuple(sorted((line.source.component, line.target.component))): None
        for group in coupled_groups(linear.system)
        for line in inner_lines(linear.system, group)
        if line.delay is None and line.source.component != line.target.component
    }
    for pair in list(pairs)[:_MOST_PAIRS]:
        yield f"any Jacobi master, {pair[0]} and {pair[1]} in one FMU", replace(plain, joined=pair)
