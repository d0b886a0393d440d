"""Whether the flat model has what the sources say: rumoca 0.10 drops modifications silently.

What it loses or puts where it does not belong (modifications of a redeclared class and of a
constraint, nested redeclarations, redeclarations in ``extends`` that reach other components,
modifications of two levels that ``extends`` should merge) is not told by any list of constructs. So
each class that the model uses is read again, the modifications are merged as the specification says
(Modelica 3.6, sections 7.2 and 7.3), and what wins is compared with the place in the sources from
which rumoca took each value, attribute and equation.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import Any

from orchestrator.export.modelica.flat.model import (
    LOST,
    FlatModel,
    is_settled,
    origin_of,
    without_subscripts,
)
from orchestrator.export.modelica.source.class_scope import (
    Changes,
    ClassScope,
    Value,
)
from orchestrator.export.modelica.source.instances import Instance, Leaf, walk

_LOGGER = logging.getLogger(__name__)
Json = Any
_PLACED = ("start", "min", "max", "nominal")
#: Attributes of which the flat model has the text but no place, and what it calls them.
_TEXTS = {"unit": "unit", "quantity": "quantity", "displayUnit": "display_unit"}
_ALGORITHM = "algorithm from "
_HINT = (
    "\n"
    "declare a class of its own that has the modification (model Other = Law(k = 2)), or modify the"
    " component where it is declared"
)


def check_modifications(flat: FlatModel, scope: ClassScope) -> None:
    """Raise if a modification or redeclaration did not arrive where it belongs.

    scope: The class of the model.
    """
    flat.expect_none(_Check(flat).problems(scope), LOST, _HINT)


class _Check:
    def __init__(self, flat: FlatModel) -> None:
        self._flat = flat
        self._variables: dict[str, list[tuple[str, Json]]] = defaultdict(list)
        for name, entry in flat.tree["variables"].items():
            self._variables[without_subscripts(name)].append((name, entry))
        self._equations: dict[str, list[Json]] = defaultdict(list)
        for component, entry in _statements(flat.tree):
            self._equations[without_subscripts(component)].append(entry)

    def problems(self, scope: ClassScope) -> Iterator[str]:
        """What is wrong, each with its place."""
        names = set(self._equations)
        for name in self._variables:
            names.update(accumulate(name.split("."), "{}.{}".format))
        for node in walk(scope, names):
            yield from self._leaf(node) if isinstance(node, Leaf) else self._instance(node)

    def _instance(self, instance: Instance) -> Iterator[str]:
        locations = list(instance.scope.locations())
        if not instance.path or not instance.scope.complete:
            return
        for entry in self._equations[instance.path]:
            if any(location.meets(entry["span"]) for location in locations):
                continue
            position = self._flat.sources.locate(locations[0].span)
            yield (
                f"{position}: '{instance.path}' is a {instance.scope.tree.name} as declared and"
                f" redeclared, but has got the equation at {self._flat.location(entry)}"
            )
            return

    def _leaf(self, leaf: Leaf) -> Iterator[str]:
        changes = leaf.scope.changes
        for name, entry in self._variables[leaf.path]:
            if not leaf.given_whole:
                yield from self._value(name, entry, changes)
            for attribute in _PLACED:
                if attribute == "start" and entry["binding"] and is_settled(entry):
                    continue  # rumoca takes its value
                value = changes.at(attribute).value
                if value and not self._agrees(name, value, entry[attribute]):
                    yield self._lost(name, attribute, value, entry[attribute])
            yield from self._attributes_by_value(name, entry, changes)

    def _attributes_by_value(self, name: str, entry: Json, changes: Changes) -> Iterator[str]:
        """Attributes that the flat model has by their value, without a place."""
        fixed = changes.at("fixed").value
        if fixed and not _is_fixed_as(entry, fixed.text):
            yield self._lost(name, "fixed", fixed, None)
        selected = changes.at("stateSelect").value
        if selected and not _is_selected_as(entry, selected):
            yield self._lost(name, "stateSelect", selected, None, entry["state_select"].lower())
        for attribute, key in _TEXTS.items():
            value = changes.at(attribute).value
            if value is None or _is_text(entry[key], value):
                continue
            lost = self._lost(name, attribute, value, None, f'"{entry[key]}"' * bool(entry[key]))
            if attribute == "displayUnit":  # none may stop a build
                _LOGGER.warning("%s: the front end loses it", lost)
            else:
                yield lost

    def _value(self, name: str, entry: Json, changes: Changes) -> Iterator[str]:
        binding, value = entry["binding"], changes.value
        if value is None and binding is not None and entry["binding_from_modification"]:
            location = self._flat.sources.locate(_span(binding))
            yield f"{location}: this value reaches '{name}', where it does not belong"
        elif value and not self._agrees(name, value, binding):
            entries = chain.from_iterable(self._equations.values()) if binding is None else ()
            if not any(value.location.meets(entry.get("span")) for entry in entries):
                yield self._lost(name, "", value, binding)

    def _agrees(self, name: str, value: Value, got: Json) -> bool:
        """Whether an expression comes from where it should, or is what a plain name is bound to."""
        if value.location.meets(_span(got)):
            return True
        owner = name if got is not None else ""
        while owner:
            owner = owner.rpartition(".")[0]
            full_name = without_subscripts(f"{owner}.{value.text}" if owner else value.text)
            for _, entry in self._variables.get(full_name, []):
                if entry["binding"] is not None and _span(entry["binding"]) == _span(got):
                    return True
        return False

    def _lost(self, name: str, attribute: str, value: Value, got: Json, has: str = "") -> str:
        modifier = f"{attribute} = {value.text}" if attribute else value.text
        from_ = self._flat.sources.locate(_span(got)) if got else ""
        actual = f"; it has {f'the one at {from_}' if from_ else has or 'none'}"
        position = self._flat.sources.locate(value.location.span)
        return f"{position}: '{modifier}' does not reach '{name}'{actual}"


def _statements(tree: Json) -> Iterator[tuple[str, Json]]:
    """Equations and algorithms, each with its component. Of when clauses only targets are known."""
    for entry in (*tree["equations"], *tree["initial_equations"]):
        if origin := origin_of(entry, "ComponentEquation"):
            yield origin["component"], entry
    for entry in tree["algorithms"]:
        if str(entry["origin"]).startswith(_ALGORITHM):
            yield entry["origin"].removeprefix(_ALGORITHM), entry


def _is_fixed_as(entry: Json, text: str) -> bool:
    if text not in {"true", "false"}:
        return entry["fixed"] is not None  # an expression; the flat model has its value
    if entry["fixed"] is None:
        return text == "false" or is_settled(entry)
    return (text == "true") in entry["fixed"]


def _is_selected_as(entry: Json, value: Value) -> bool:
    *path, last = (token.text for token in value.tokens)
    if path != ["StateSelect", "."]:
        return True  # an expression; the flat model has its value
    return bool(entry["state_select"].lower() == last)


def _is_text(got: str | None, value: Value) -> bool:
    """Whether a text is the one that is written; of an expression that is not known."""
    written = value.text
    literal = len(value.tokens) == 1 and value.tokens[0].kind == "text" and "\\" not in written
    return not literal or (got or "") == written[1:-1]


def _span(expression: Json) -> Json:
    """The place of an expression, which is a dictionary of one kind."""
    if not isinstance(expression, dict):
        return None
    inside = next(iter(expression.values()))
    if not isinstance(inside, dict):
        return None
    return inside.get("span") or _span(inside)
