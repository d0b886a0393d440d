"""Redeclarations and constraints: what takes an element's place must have all that it promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.source.class_scope import Changes, Member, Scope
from orchestrator.export.modelica.source.tree import Argument, Element, Kind, Place

_DEPTH = 6
_CHECKED = frozenset(("model", "block", "record", "connector", "class", "type"))


def subtype_findings(model: Model) -> Iterator[Finding]:
    """Defaults and redeclarations that do not fit, and components declared twice differently."""
    for instance in model.instances:
        scope = instance.scope
        for name, member in (*scope.components.items(), *scope.classes.items()):
            yield from _redeclared(name, member)
            yield from _fits(name, member)
        for first, second in scope.twice:
            if not _same(first, second):
                yield (
                    first.element.place,
                    (
                        f"'{first.element.name}' is declared here and inherited from"
                        f" {second.owner.tree.word} {second.owner.tree.name}, and both differ;"
                        " give one another name, or make them equal"
                    ),
                )


def _redeclared(name: str, member: Member) -> Iterator[Finding]:
    made = member.changes.redeclared
    if made is None:
        return
    old, place = member.element, made.element.place
    for prefix in sorted({"final", "constant"} & old.prefixes):
        yield place, f"'{name}' is declared {prefix}, so it cannot be redeclared"
    own = any(made.element is element for element in made.scope.tree.elements)
    if own and old.protected != made.element.protected:
        was, is_ = ("protected", "public") if old.protected else ("public", "protected")
        yield place, f"'{name}' is {was}, so it cannot be redeclared in a {is_} section"


def _fits(name: str, member: Member) -> Iterator[Finding]:
    old = member.element
    made = member.changes.redeclared
    if "replaceable" not in old.prefixes or not (old.constraint_name or made):
        return
    wanted = _constraint(member)
    place, got = _now(member)
    if wanted is None or got is None:
        return
    missing = lacks(got, wanted)
    if missing:
        yield (
            place,
            (
                f"'{name}' is a {got.tree.name} here, which is no subtype of {wanted.tree.name}:"
                f" {missing}"
            ),
        )


def _now(member: Member) -> tuple[Place, Scope | None]:
    element, scope, _ = member.changed()
    if element.declared is not None:
        return element.place, scope.of(element.declared).expand()
    return element.place, scope.type_of(member)[1]


def _constraint(member: Member) -> Scope | None:
    old = member.element
    name = old.constraint_name
    if not name and old.declared is not None:
        return member.owner.of(old.declared).expand()
    return typed(name or old.type_name, member.owner)


def typed(name: str, scope: Scope) -> Scope | None:
    """The class of that name; also a predefined one."""
    plain = Member(Element(Kind.COMPONENT, "", Place(0, 0, 0), name), scope, Changes())
    return scope.type_of(plain)[1]


def lacks(got: Scope, wanted: Scope, depth: int = 0) -> str:
    """What a class does not have that another has; empty if nothing is missing or known."""
    known = got.complete and wanted.complete and wanted.tree.word in _CHECKED
    if not known or depth > _DEPTH or got.tree is wanted.tree:
        return ""
    if wanted.predefined or got.predefined:
        return _lacks_value(got, wanted)
    for name, member in wanted.components.items():
        if name in wanted.hidden:
            continue
        other = got.components.get(name)
        if other is None or name in got.hidden:
            return f"it has no '{name}'"
        first, second = got.type_of(other), wanted.type_of(member)
        if first[1] is None or second[1] is None:
            continue
        if missing := lacks(first[1], second[1], depth + 1):
            return f"'{name}': {missing}"
    return ""


def _lacks_value(got: Scope, wanted: Scope) -> str:
    if got.predefined != wanted.predefined or got.primitive != wanted.primitive:
        return f"{got.tree.name} is no {wanted.tree.name}"
    if (a := _base_rank(got)) != (b := _rank(wanted)):
        return f"it has {a} dimensions, not {b}"
    return ""


def _rank(scope: Scope) -> int:
    own = sum(len(base.dims) for base in scope.tree.extends()) if scope.tree.short else 0
    return own + sum(_rank(base) for base in scope.bases)


def _base_rank(scope: Scope) -> int:
    """Dimensions without those that a short class adds."""
    return sum(_rank(base) for base in scope.bases) if scope.tree.short else _rank(scope)


def _same(first: Member, second: Member) -> bool:
    a, b = first.element, second.element
    one, other = first.owner.type_of(first)[1], second.owner.type_of(second)[1]
    if one is None or other is None:
        return True
    types = one.primitive == other.primitive if one.predefined else one.tree is other.tree
    values = (a.value.text if a.value else "") == (b.value.text if b.value else "")
    shapes = len(a.dims) == len(b.dims) and a.conditional == b.conditional
    kept = {"flow", "stream", "parameter", "constant", "discrete", "input", "output", "inner"}
    return (
        types
        and values
        and shapes
        and a.prefixes & kept == b.prefixes & kept
        and _texts(a.arguments) == _texts(b.arguments)
    )


def _texts(arguments: tuple[Argument, ...]) -> Sequence[object]:
    return sorted(
        (each.path, each.value.text if each.value else "", repr(_texts(each.inner)))
        for each in arguments
    )
