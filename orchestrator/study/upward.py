"""Where experiments use parts of Softdock that stand above them: rigs, loops and animations.

Tables of experiment files whose models stand in such a part, and what those parts do while a case
is prepared. Each function imports what it uses when it is called, so an experiment without the
table needs no such part. No other module of this room imports one; import-linter holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics.validation import deferred
from orchestrator.core.optional_packages import optional_imports

if TYPE_CHECKING:
    from orchestrator.core.system import System
    from orchestrator.loops.prediction import Prediction
    from orchestrator.pictures.animation import Animation
    from orchestrator.rig.arming.tables import ArmingTable, IdentificationTable
    from orchestrator.rig.runs.emulation import EmulatorTable
    from orchestrator.rig.supervisor.settings import SupervisorSettings
    from orchestrator.study.content import Section
    from orchestrator.study.experiment import Case, Experiment
    from orchestrator.study.prepare.prepared_case import EmulatorPlan, PreparedCase, RunSettings
    from orchestrator.study.tables import DeviceTable

__all__ = [
    "Animation",
    "ArmingTable",
    "EmulatorTable",
    "IdentificationTable",
    "Prediction",
    "SupervisorSettings",
    "notes_on_delays",
    "on_hardware",
    "with_chosen_steps",
    "with_device",
    "with_emulators",
]


def _prediction() -> Any:  # a union, which is no class
    with optional_imports():
        from orchestrator.loops.prediction import Prediction
    return Prediction


def _animation() -> type[Animation]:
    with optional_imports():
        from orchestrator.pictures.animation import Animation
    return Animation


def _supervisor() -> type[SupervisorSettings]:
    with optional_imports():
        from orchestrator.rig.supervisor.settings import SupervisorSettings
    return SupervisorSettings


def _arming() -> type[ArmingTable]:
    with optional_imports():
        from orchestrator.rig.arming.tables import ArmingTable
    return ArmingTable


def _emulator() -> type[EmulatorTable]:
    with optional_imports():
        from orchestrator.rig.runs.emulation import EmulatorTable
    return EmulatorTable


def _identification() -> type[IdentificationTable]:
    with optional_imports():
        from orchestrator.rig.arming.tables import IdentificationTable
    return IdentificationTable


if not TYPE_CHECKING:
    Prediction = deferred(_prediction)
    Animation = deferred(_animation)
    SupervisorSettings = deferred(_supervisor)
    ArmingTable = deferred(_arming)
    EmulatorTable = deferred(_emulator)
    IdentificationTable = deferred(_identification)


def with_device(system: System, name: str, table: DeviceTable) -> System:
    """Put a device in the place of a component, or change settings of the device there."""
    with optional_imports():
        from orchestrator.rig.runs.emulation import with_device as put_device
    return put_device(system, name, table)


def with_emulators(
    experiment: Experiment, name: str, case: Case
) -> tuple[Case, dict[str, EmulatorPlan]]:
    """Return a case whose devices connect to emulators, and how these start, by component."""
    with optional_imports():
        from orchestrator.rig.runs.emulation import with_emulators as plan_emulators
    return plan_emulators(experiment, name, case)


def on_hardware(
    system: System, source: Experiment | Case, folder: Path, case: Case, settings: RunSettings
) -> System:
    """Add the delays of devices and twins to the connections of a case.

    source: The experiment or the case that describes the hardware; its paths start at ``folder``.
    """
    with optional_imports():
        from orchestrator.rig.hardware.cases import prepared_on_hardware
    return prepared_on_hardware(system, source, folder, case, settings)


def notes_on_delays(system: System, experiment: Experiment, folder: Path) -> tuple[str, ...]:
    """List connections that declare another delay than the twin that was identified."""
    with optional_imports():
        from orchestrator.rig.hardware.cases import notes_on_delays as delay_notes
    return delay_notes(system, experiment, folder)


def with_chosen_steps(
    experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> tuple[Experiment, dict[str, PreparedCase], dict[str, Section]]:
    """Give each case whose step is ``auto`` the step that its loops allow, and describe it."""
    with optional_imports():
        from orchestrator.loops.chosen_step import with_chosen_steps as choose_steps
    return choose_steps(experiment, cases)
