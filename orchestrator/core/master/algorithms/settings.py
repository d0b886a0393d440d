"""What a run asks of the master, completed by what the system wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.core.master.algorithms.registry import DEFAULT_ALGORITHM
from orchestrator.core.system import System


@dataclass(frozen=True, slots=True)
class MasterSettings:
    """A master algorithm with its options, the rates of components, and early return."""

    algorithm: str
    options: Mapping[str, Any]
    rates: Mapping[str, int]
    early_return: bool

    @classmethod
    def of(
        cls,
        system: System,
        algorithm: str | None = None,
        options: Mapping[str, Any] | None = None,
        rates: Mapping[str, int] | None = None,
        *,
        early_return: bool | None = None,
    ) -> MasterSettings:
        """Complete what is asked for.

        What is ``None`` comes from the system's default experiment, else is the default of
        Softdock. Options of the experiment are for its own algorithm: with another they are left.
        """
        default = system.experiment
        if options is None:
            same = algorithm is None or algorithm == default.algorithm
            options = default.algorithm_options if same else {}
        if early_return is None:
            early_return = default.early_return is not False
        return cls(
            algorithm or default.algorithm or DEFAULT_ALGORITHM,
            options,
            default.rates if rates is None else rates,
            early_return,
        )
