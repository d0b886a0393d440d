"""Names of connectors in an experiment, as the systems of its cases have them now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.prepare.prepare import merged
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.system import Component
from orchestrator.system.former_names import former_paths, present_path


def with_present_names(
    experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> tuple[Experiment, dict[str, PreparedCase]]:
    """Call every connector by its present name, in an experiment and in its prepared cases.

    Parameters
    ----------
    experiment
        As read.
    cases
        By name.
    """
    components = {
        name: component
        for case in cases.values()
        for name, component in case.system.components.items()
        if former_paths({name: component})
    }
    if not components:
        return experiment, dict(cases)
    renamed: Experiment = _renamed(experiment, components)
    tables = {name: renamed.case[name] for name in cases}
    return renamed, {
        name: replace(case, case=tables[name], options=merged(tables[name], renamed.defaults))
        for name, case in cases.items()
    }


def _renamed(part: Any, components: Mapping[str, Component]) -> Any:
    """Return a table, list or text with present names; the same object where none was former."""
    if isinstance(part, str):
        return present_path(part, components)
    if isinstance(part, BaseModel):
        own = {name: getattr(part, name) for name in type(part).model_fields}
        changed = {name: _renamed(value, components) for name, value in own.items()}
        changed = {name: value for name, value in changed.items() if value is not own[name]}
        return part.model_copy(update=changed) if changed else part
    if isinstance(part, dict):
        entries = {
            _renamed(key, components): _renamed(value, components) for key, value in part.items()
        }
        same = all(entries.get(key) is value for key, value in part.items())
        return part if same else entries
    if isinstance(part, (tuple, list)):
        elements = [_renamed(value, components) for value in part]
        same = all(new is old for new, old in zip(elements, part, strict=True))
        return part if same else type(part)(elements)
    return part
