"""The system of a case with models in the place of its devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import SourceKind, System
from orchestrator.rig.tables.arming_table import ArmingTable
from orchestrator.study.file.experiment import Case
from orchestrator.study.prepare.prepare import prepare_with
from orchestrator.study.prepare.run_settings import RunSettings
from orchestrator.study.prepare.system_reader import SystemReader

_DEVICE = f"{SourceKind.DEVICE}:"


def model_system(
    name: str, case: Case, reader: SystemReader, settings: RunSettings, table: ArmingTable
) -> System:
    """Prepare a case as it is where no device stands in it, with the values for its arming.

    Its lines that hardware makes are there, with their delays.
    """
    plain = case.model_copy(
        update={
            "devices": {},
            "physical": (),
            "swap": {**_modelled(case.swap), **table.models},
            "set": {**case.set, **table.set},
            "delays": {**case.delays, **table.delays},
        }
    )
    asked = replace(settings, swaps=_modelled(settings.swaps))
    system = prepare_with(name, plain, reader, asked, case)
    for component, one in system.components.items():
        if one.source.kind is SourceKind.DEVICE:
            raise DescriptionError(
                f"case '{name}': component '{component}' is a device and has no model that stands"
                f" for its dynamics: name one in arming.models, as '{component} = \"FILE.fmu\"'"
            )
    return system


def _modelled(swaps: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in swaps.items() if not text.startswith(_DEVICE)}
