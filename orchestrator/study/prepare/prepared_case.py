"""A case that is ready to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.core.system import System
from orchestrator.study.file.experiment import Case, RunOptions

if TYPE_CHECKING:
    from orchestrator.core.coupling import Tuned
    from orchestrator.core.system.ports.limits import Limits


@dataclass(frozen=True, slots=True)
class EmulatorPlan:
    """A program that is started before a case and ended after it.

    Parameters
    ----------
    module
        Of the emulator.
    arguments
        Of it; ``{NAME.PLACE}`` in them is known when the emulator ``NAME`` has been started.
    """

    module: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case, its options completed by the defaults, and its system: read, changed and flat.

    ``emulators`` stand for devices of it, by component. ``limits`` are those within which it is
    tuned while it runs, and ``tuned`` what is done again as it was in another run.
    """

    name: str
    case: Case
    options: RunOptions
    system: System
    emulators: Mapping[str, EmulatorPlan] = field(default_factory=dict)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    tuned: Sequence[Tuned] = ()
