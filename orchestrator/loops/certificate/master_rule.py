"""How a co-simulation master exchanges, as data: the rules of tools that are not ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.system import nearest


class OutputReading(StrEnum):
    """When a master reads the outputs that it hands on.

    ``after_step``
        Once, after the step, so that what an input does to an output at once is a step old.
    ``after_inputs``
        Again after the inputs were set, in the order of direct feed-through, loops solved: an
        output that depends on an input at once belongs to the same moment as it.
    """

    AFTER_STEP = "after_step"
    AFTER_INPUTS = "after_inputs"


class Evidence(StrEnum):
    """How a rule is known: by ``run`` of the tool itself, or by its ``document`` or sources."""

    RUN = "run"
    DOCUMENT = "document"


@dataclass(frozen=True)
class MasterRule:
    """What a master with steps of one length does between and during them.

    All units are stepped from the same time (Jacobi), with inputs held at what was handed on.
    Delays, rates and compensations of lines are Softdock's own, and no other tool knows them.

    Parameters
    ----------
    name, tool
        How it is called here, and which tool and version it is of.
    outputs
        When outputs are read.
    transforms, converts
        Whether linear transformations of connections are applied, and units converted.
    evidence, source
        How the rule is known, and from where.
    """

    name: str
    tool: str
    outputs: OutputReading
    transforms: bool
    converts: bool
    evidence: Evidence
    source: str

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "tool": self.tool,
            "order": "jacobi",
            "inputs": "held",
            "outputs": str(self.outputs),
            "transforms": self.transforms,
            "converts": self.converts,
            "evidence": str(self.evidence),
            "source": self.source,
        }


_RULES = (
    MasterRule(
        "fmpy",
        "FMPy 0.3.32, simulate_ssp",
        OutputReading.AFTER_STEP,
        transforms=False,
        converts=False,
        evidence=Evidence.RUN,
        source="benchmarks/certify.py",
    ),
    MasterRule(
        "libcosim",
        "libcosim (libcosimpy 0.0.6), fixed step",
        OutputReading.AFTER_STEP,
        transforms=True,
        converts=False,
        evidence=Evidence.RUN,
        source="benchmarks/certify.py",
    ),
    MasterRule(
        "ecos",
        "ecos (ecospy 0.7.2), fixed step",
        OutputReading.AFTER_STEP,
        transforms=True,
        converts=False,
        evidence=Evidence.RUN,
        source="benchmarks/certify.py",
    ),
    MasterRule(
        "omsimulator",
        "OMSimulator 3, oms-ma",
        OutputReading.AFTER_INPUTS,
        transforms=True,
        converts=True,
        evidence=Evidence.DOCUMENT,
        source="its sources: SystemWC::doStep, then updateInputs in the order of the graph",
    ),
    MasterRule(
        "pyfmi",
        "PyFMI 2.21, Master with its default options",
        OutputReading.AFTER_STEP,
        transforms=False,
        converts=False,
        evidence=Evidence.DOCUMENT,
        source="its sources: exchange_connection_data, linear_correction and extrapolation off",
    ),
    MasterRule(
        "simulink",
        "Simulink, co-simulation FMU blocks without numerical compensation",
        OutputReading.AFTER_STEP,
        transforms=False,
        converts=False,
        evidence=Evidence.DOCUMENT,
        source="its manual: inputs are those of the communication points alone",
    ),
)
#: By name.
MASTERS = {rule.name: rule for rule in _RULES}


def master_rules(names: Iterable[str]) -> list[MasterRule]:
    """Return rules by their names, each once.

    Raises
    ------
    UnknownNameError
        If there is no such master; it lists those that there are.
    """
    found = []
    for name in dict.fromkeys(names):
        if name not in MASTERS:
            raise UnknownNameError(
                f"no rule of a master '{name}'{nearest(name, MASTERS)}; known: {', '.join(MASTERS)}"
            )
        found.append(MASTERS[name])
    return found
