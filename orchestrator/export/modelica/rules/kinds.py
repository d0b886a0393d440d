"""Kinds of classes: which extends which, and which prefixes their components may have."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.source.class_scope import Scope
from orchestrator.export.modelica.source.tree import Element, Kind

#: Kinds of a base by those of what extends it (Modelica 3.6, section 7.1.3).
_BASES = {
    "package": {"package"},
    "function": {"function"},
    "type": {"type"},
    "record": {"record"},
    "connector": {"type", "record", "connector"},
    "block": {"record", "block"},
    "model": {"record", "block", "model"},
}
_VALUES = frozenset(("constant", "parameter", "discrete", "input", "output", "flow", "stream"))
_RESERVED = frozenset(("Real", "Integer", "Boolean", "String"))
_ATTRIBUTES = frozenset(("quantity", "min", "max", "start", "fixed"))
_TIMELESS = frozenset(("connector", "record", "function", "package"))


def kind_findings(model: Model) -> Iterator[Finding]:
    """Classes that extend, hold or are declared what they may not."""
    for scope in model.classes:
        yield from _extends(scope)
        yield from _alone(scope)
        yield from _elements(scope)


def _extends(scope: Scope) -> Iterator[Finding]:
    tree = scope.tree
    allowed = _BASES.get(tree.word)
    if tree.short or allowed is None:
        return
    for element in tree.extends():
        base = scope.find(element.type_name, inherited=False)
        if base is None or base.tree is tree or base.tree.word == "class":
            continue
        if base.tree.word not in allowed:
            yield (
                element.place,
                (
                    f"{tree.word} {tree.name} extends {base.tree.word} {base.tree.name}; a"
                    f" {tree.word} can extend {' or '.join(sorted(allowed))} only"
                ),
            )
        member = scope.expand().classes.get(element.type_name) or (
            scope.outer.expand().classes.get(element.type_name) if scope.outer else None
        )
        if (
            member is not None
            and member.element.declared is base.tree
            and "replaceable" in member.element.prefixes
        ):
            yield (
                element.place,
                (
                    f"{tree.word} {tree.name} extends {base.tree.name}, which is replaceable;"
                    " extend a class that is not"
                ),
            )


def _alone(scope: Scope) -> Iterator[Finding]:
    """Bases that are values, arrays or have a prefix stand alone in a class."""
    others = [each for each in scope.tree.elements if each.kind in {Kind.COMPONENT, Kind.EXTENDS}]
    if len(others) < 2:
        return
    for element in scope.tree.extends():
        base = scope.find(element.type_name, inherited=False)
        simple = element.type_name in _RESERVED
        if base is not None and base.tree is not scope.tree:
            own = base.tree.extends()
            shaped = base.tree.short and any(each.dims or each.prefixes for each in own)
            simple |= shaped or base.expand().predefined
        if simple:
            yield (
                element.place,
                (
                    f"{scope.tree.word} {scope.tree.name} extends {element.type_name}, which is a"
                    " value, an array or has a prefix, and has other elements beside it"
                ),
            )


def _elements(scope: Scope) -> Iterator[Finding]:
    tree = scope.tree
    for element in tree.elements:
        if element.declared is not None:
            names = {token.text for token in element.declared.literals} & _ATTRIBUTES
            for name in sorted(names):
                yield element.place, f"'{name}' is an attribute of enumerations, and no literal"
        if element.kind is not Kind.COMPONENT:
            continue
        at, name = element.place, element.name
        if name in _RESERVED:
            yield at, f"'{name}' is the name of a predefined type, and no component's"
        for prefix in sorted({"inner", "outer"} & element.prefixes):
            if tree.word in {"record", "connector"}:
                yield at, f"'{name}' of {tree.word} {tree.name} is declared {prefix}"
        if tree.word in _TIMELESS and element.value is not None:
            tokens = element.value.tokens
            if any(t.text == "time" for t in tokens) and "time" not in scope.expand().components:
                yield (
                    at,
                    f"'{name}' of {tree.word} {tree.name} uses time; only models and blocks do",
                )
        yield from _prefixes(scope, element)


def _prefixes(scope: Scope, element: Element) -> Iterator[Finding]:
    member = scope.expand().components.get(element.name)
    if member is None or not (given := element.prefixes & _VALUES):
        return
    kind = scope.type_of(member)[1]
    if kind is None:
        return
    said = " ".join(sorted(given))
    if kind.tree.word in {"model", "block"} and not kind.predefined:
        yield (
            element.place,
            (
                f"'{element.name}' is declared {said}, but {kind.tree.name} is a {kind.tree.word};"
                " only types, records and connectors can be"
            ),
        )
    for within in kind.components.values() if given & {"flow", "stream"} else ():
        clash = within.element.prefixes & {"flow", "stream", "input", "output"}
        if clash:
            yield (
                element.place,
                (
                    f"'{element.name}' is declared {said}, but its member '{within.element.name}'"
                    f" is declared {' '.join(sorted(clash))} already"
                ),
            )
            return
