"""Everything in the sources is accounted for: what they forbid, and what rumoca drops."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.rules.connections import connection_findings
from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.rules.kinds import kind_findings
from orchestrator.export.modelica.rules.outers import with_inner
from orchestrator.export.modelica.rules.references import reference_findings
from orchestrator.export.modelica.rules.signal_sources import source_findings
from orchestrator.export.modelica.rules.subtypes import subtype_findings
from orchestrator.export.modelica.rules.types import type_findings
from orchestrator.export.modelica.rules.values import value_findings
from orchestrator.export.modelica.rules.vanished import vanished_findings
from orchestrator.export.modelica.source.class_library import ClassLibrary
from orchestrator.export.modelica.source.instances import Instance, walk

_SHOWN = 5


def check_rules(flat: FlatModel, library: ClassLibrary) -> None:
    """Raise if the sources break a rule, or if the flat model lacks what they say.

    References to outer components are made to mean the inner ones, in place.
    """
    scope = library.find(flat.name)
    if scope is None:
        return
    found = walk(scope)
    model = Model.of([each for each in found if isinstance(each, Instance)])
    problems = list(
        dict.fromkeys(
            f"{flat.sources.locate(place.span)}: {text}" for place, text in _findings(flat, model)
        )
    )
    if problems:
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        listed = "\n  ".join(problems[:_SHOWN])
        raise ModelicaError(f"{flat.name} is not valid Modelica:\n  {listed}{more}")


def _findings(flat: FlatModel, model: Model) -> Iterator[Finding]:
    yield from kind_findings(model)
    yield from reference_findings(model)
    yield from subtype_findings(model)
    yield from connection_findings(model, flat.tree)
    yield from source_findings(model)
    yield from with_inner(model, flat.tree)
    yield from value_findings(model, flat)
    yield from type_findings(model)
    yield from vanished_findings(model, flat.tree)
