"""What an experiment gives: results, measured figures, sweeps, and the files that were written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.recording import Draft, Result, whole_file
from orchestrator.core.structs import MutableStruct, Struct, field
from orchestrator.core.system import System, seconds
from orchestrator.study.content import Section

if TYPE_CHECKING:
    from orchestrator.core.simunits import Notice


#: What came of an experiment, and verdicts on its expectations, where it has some.
SUMMARY, JUNIT, VERDICTS = "summary.json", "junit.xml", "verdicts.json"


class Measured(Struct):
    """One figure that was read off a run.

    Parameters
    ----------
    value, unit
        The figure.
    details
        Further figures by name: the time of a peak in s, the frequency of a growing
        oscillation and the residual of its fit, a predicted value.
    """

    value: float
    unit: str
    details: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"value": self.value, "unit": self.unit, **self.details}


def _declared_ms(plan: DelayPlan) -> float | None:
    """Declared delay; ``None`` where a line without one is predicted."""
    return plan.connection.delay.nominal_ns / 1e6 if plan.connection.delay else None


class CaseSummary(TypedDict):
    """Entries of the summary of a case, besides those of extensions; s, ms, J."""

    case: str
    title: str
    algorithm: str
    step_s: float
    delay_mode: str
    simulated_s: float
    wall_s: float
    real_time_factor: float
    loops: list[dict[str, Any]]
    connections: list[dict[str, Any]]
    line_statistics: dict[str, dict[str, Any]]
    faults: list[dict[str, Any]]
    notices: list[dict[str, Any]]
    remarks: list[str]
    measures: dict[str, dict[str, Any]]
    energy_j: Mapping[str, float]


class CaseOutcome(Struct):
    """One finished case; its ``system`` is flat.

    ``sections`` is what extensions found: under ``"ledger"`` what became of its energy, under
    ``"verification"`` a comparison with runs with shorter steps, under ``"step_choice"`` how its
    step was chosen, under ``"linearised"`` what its schedule does to its loops, under
    ``"realtime"`` how it kept to real time; of its devices under ``"identified"`` their twins,
    under ``"arming"`` with which margins they were armed, under ``"tracking"`` what was tracked
    of them, and under ``"supervisor"`` the states of their rig.
    """

    title: str
    system: System
    result: Result
    measured: dict[str, Measured]
    sections: Sequence[Section] = ()

    def value(self, key: str) -> Any:
        """Return the object that was found under a key; ``None``: nothing was."""
        return next((section.value for section in self.sections if section.key == key), None)

    def as_json(self) -> dict[str, Any]:
        """Return plain data (times in seconds, delays in milliseconds)."""
        result = self.result
        summary: CaseSummary = {
            "case": result.name,
            "title": self.title,
            "algorithm": result.algorithm,
            "step_s": seconds(result.step_ns),
            "delay_mode": result.delay_mode,
            "simulated_s": result.simulated_seconds,
            "wall_s": result.wall_seconds,
            "real_time_factor": result.real_time_factor,
            "loops": [
                {
                    "components": list(loop.components),
                    "rings": [str(ring) for ring in loop.loops],
                    "physical_delay_ms": loop.physical_ns / 1e6,
                    "numerical_delay_ms": loop.numerical_ns / 1e6,
                    "total_delay_ms": loop.total_ns / 1e6,
                }
                for loop in result.loops
            ],
            "connections": [
                {
                    "connection": str(plan.connection),
                    "declared_delay_ms": _declared_ms(plan),
                    "seen_delay_ms": plan.effective_delay_ns / 1e6,
                    "extrapolated_ms": plan.extrapolation_ns / 1e6,
                    "interpolation": str(plan.interpolation),
                    "extrapolation": str(plan.extrapolation),
                }
                for plan in result.plans
            ],
            "line_statistics": {
                line: asdict(facts) for line, facts in result.line_statistics.items()
            },
            "faults": [asdict(fault) for fault in result.faults],
            "notices": [asdict(notice) for notice in result.notices],
            "remarks": list(result.remarks),
            "measures": {name: value.as_json() for name, value in self.measured.items()},
            "energy_j": result.energies,
        }
        return {
            **summary,
            **{section.key: section.data for section in self.sections if section.data is not None},
        }


class SweepOutcome(Struct):
    """One finished sweep: measures by name, one entry per value.

    ``values`` are seconds where the step is swept, else the parameter's own unit.
    """

    case: str
    over: str
    values: list[float]
    measured: dict[str, list[Measured]]

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        rows = {name: [m.as_json() for m in row] for name, row in self.measured.items()}
        return {"case": self.case, "over": self.over, "values": self.values, "measures": rows}


#: Verdicts, in the order in which they are counted.
_VERDICTS = ("passed", "broken", "not judged")


class StoppedCase(Struct):
    """Who stopped the run of a case, ``"operator"`` or ``"supervisor"``, and when and why."""

    by: str
    text: str

    def __str__(self) -> str:
        return self.text


class ExperimentOutcome(MutableStruct):
    """Everything that an experiment gave.

    ``problems`` are measures that could not be read off and what else failed behind the runs;
    ``never_engaged`` are cases whose devices were watched, and never followed the simulation;
    ``broken`` says which expectations were not kept, ``stopped`` which case an operator or a
    supervisor stopped, and when.
    """

    title: str
    cases: dict[str, CaseOutcome] = field(default_factory=dict)
    sweeps: dict[str, SweepOutcome] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    never_engaged: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    stopped: dict[str, StoppedCase] = field(default_factory=dict)

    @property
    def safe_states(self) -> dict[str, tuple[Notice, ...]]:
        """Cases in which components went to a safe state, and what they said."""
        states = {name: case.result.safe_states for name, case in self.cases.items()}
        return {name: notices for name, notices in states.items() if notices}

    def counted_expectations(self) -> str:
        """Return how many expectations passed, in a sentence; empty where none was stated."""
        counts = Counter(
            verdict.word
            for case in self.cases.values()
            for section in case.sections
            if section.key.startswith("expect")
            for verdict in section.value
        )
        if not counts:
            return ""
        total = counts.total()
        words = ", ".join(f"{counts[word]} {word}" for word in _VERDICTS if counts[word])
        return f"{total} expectation{'s' if total > 1 else ''}: {words}."

    def as_json(self) -> dict[str, Any]:
        """Return plain data, as printed by ``softdock run --json``."""
        return {
            "title": self.title,
            "cases": {name: case.as_json() for name, case in self.cases.items()},
            "sweeps": {name: sweep.as_json() for name, sweep in self.sweeps.items()},
            "problems": self.problems,
            "broken": self.broken,
            "stopped": {case: run_stop.text for case, run_stop in self.stopped.items()},
            "files": [path.as_posix() for path in self.files],
        }


def write_summary(outcome: ExperimentOutcome, draft: Draft, output: Path) -> None:
    """Write the summary to the draft's folder; it names all files as they are found in ``output``.

    Those of an earlier run that this one has not written go.
    """
    folder = draft.folder
    draft.replaced |= {JUNIT, VERDICTS}
    outcome.files = [
        output / path.relative_to(folder) if path.is_relative_to(folder) else path
        for path in (*outcome.files, folder / SUMMARY)
    ]
    with whole_file(folder / SUMMARY) as opened:
        opened.write_text(
            json.dumps(outcome.as_json(), indent=2, allow_nan=False) + "\n",
            encoding="utf-8",
            newline="\n",
        )
