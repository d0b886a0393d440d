"""Equations and components of the sources that the flat model does not have."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from orchestrator.export.modelica.rules.finding import Finding, Model, with_bases
from orchestrator.export.modelica.source.statements import parts

Json = Any
_SUBSCRIPTS = re.compile(r"\[[^\]]*\]")
#: What may have no equations: branches that are not taken, loops over nothing, connections.
_OTHERS = frozenset(("if", "for", "when", "connect", "assert", "terminate", "reinit"))


def vanished_findings(model: Model, tree: Json) -> Iterator[Finding]:
    """Equations that the front end drops without a word."""
    spans = _spans(tree)
    for instance in model.instances:
        for scope in with_bases(instance.scope):
            for section in scope.tree.sections:
                for place in parts(section) if section.word == "equation" else ():
                    first = next(t for t in section.tokens if t.start == place.start)
                    after = next((t for t in section.tokens if t.start >= first.end), first)
                    if first.text in _OTHERS or (first.kind == "name" and after.text in "(."):
                        continue
                    if not any(place.meets(span) for span in spans[instance.path]):
                        of = f" of '{instance.path}'" if instance.path else ""
                        yield place, f"the front end drops this equation{of}"


def _spans(tree: Json) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = defaultdict(list)
    for key in ("equations", "initial_equations"):
        for entry in tree[key]:
            origin = entry.get("origin")
            if isinstance(origin, dict) and "ComponentEquation" in origin:
                path = _SUBSCRIPTS.sub("", origin["ComponentEquation"]["component"])
                found[path].append(entry.get("span"))
    return found
