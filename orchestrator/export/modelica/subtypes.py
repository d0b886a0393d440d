"""Redeclarations and constraints, and outer components: what takes an element's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from orchestrator.export.modelica.flat.model import origin_of, without_subscripts
from orchestrator.export.modelica.references import Finding, Model
from orchestrator.export.modelica.source.class_scope import (
    Argument,
    Changes,
    ClassMember,
    ClassScope,
    ClassTree,
    Element,
    ElementKind,
    SourcePlace,
    in_order,
)

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
                text = (
                    f"'{first.element.name}' is declared here and inherited from"
                    f" {second.owner.tree.word} {second.owner.tree.name}, and both differ;"
                    " give one another name, or make them equal"
                )
                yield first.element.place, text


def _redeclared(name: str, member: ClassMember) -> Iterator[Finding]:
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


def _fits(name: str, member: ClassMember) -> Iterator[Finding]:
    old = member.element
    made = member.changes.redeclared
    if "replaceable" not in old.prefixes or not (old.constraint_name or made):
        return
    wanted = _constraint(member)
    if made is not None and made.element.constraint_name and wanted is not None:
        plain = Element(ElementKind.COMPONENT, "", made.element.place, made.element.constraint_name)
        bound = made.scope.type_of(ClassMember(plain, made.scope, Changes()))[1]
        if bound is not None and (missing := lacks(bound, wanted)):
            text = (
                f"'{name}' is constrained by {_full_name(bound)} here, which is not a subtype of"
                f" {_full_name(wanted)}: {missing}"
            )
            yield made.element.place, text
    now, scope, _ = member.changed()
    got = scope.of(now.declared).expand() if now.declared else scope.type_of(member)[1]
    if wanted and got and (missing := lacks(got, wanted)):
        text = (
            f"'{name}' is of class {_full_name(got)} here, which is not a subtype of"
            f" {_full_name(wanted)}: {missing}"
        )
        yield now.place, text


def _full_name(scope: ClassScope) -> str:
    """Return the full name of a class; of a short class, that of the class it stands for."""
    while scope.tree.short and len(scope.bases) == 1 and not scope.bases[0].predefined:
        (scope,) = scope.bases
    return scope.name


def _constraint(member: ClassMember) -> ClassScope | None:
    old, made = member.element, member.changes.redeclared
    before = made.before if made else None
    name, scope = old.constraint_name, member.owner
    if before is not None and before.element.constraint_name:
        name, scope = before.element.constraint_name, before.scope
    elif not name and old.declared is not None:
        return scope.of(old.declared).expand()
    plain = Element(ElementKind.COMPONENT, "", old.place, name or old.type_name)
    return scope.type_of(ClassMember(plain, scope, Changes()))[1]


def lacks(got: ClassScope, wanted: ClassScope, depth: int = 0) -> str:
    """What a class does not have that another has; empty if nothing is missing or known."""
    if wanted.tree.word == "function" == got.tree.word and got.complete and wanted.complete:
        return _lacks_arguments(got, wanted)
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


def _lacks_arguments(got: ClassScope, wanted: ClassScope) -> str:
    """How a call of a function would not be one of another (Modelica 3.6, section 6.6)."""
    for word in ("input", "output"):
        own, other = (
            [(n, m) for n, m in in_order(each) if word in m.element.prefixes]
            for each in (got, wanted)
        )
        for at, (name, member) in enumerate(other):
            if at >= len(own):
                return f"it has no {word} '{name}'"
            if own[at][0] != name:
                return f"its {word} {at + 1} is '{own[at][0]}', not '{name}'"
            first, second = got.type_of(own[at][1]), wanted.type_of(member)
            if len(first[0].dims) != len(second[0].dims):
                return f"its {word} '{name}' has {len(first[0].dims)} dimensions"
            if first[1] is None or second[1] is None:
                continue
            if first[1].primitive != second[1].primitive:
                return f"its {word} '{name}' is of another type"
        for name, member in own[len(other) :] if word == "input" else ():
            kind = got.type_of(member)[1]
            if kind is not None and kind.predefined and kind.changes.value is None:
                return f"its additional input '{name}' has no default"
    return ""


def _lacks_value(got: ClassScope, wanted: ClassScope) -> str:
    if any(token.text == ":" for token in wanted.tree.literals):
        return "" if got.predefined else f"{got.tree.name} is no enumeration"
    if got.predefined != wanted.predefined or got.primitive != wanted.primitive:
        return f"{got.tree.name} is no {wanted.tree.name}"
    own = sum(map(_rank, got.bases)) if got.tree.short else _rank(got)  # not what it adds itself
    rank = _rank(wanted)
    return f"it has {own} dimensions, not {rank}" if own != rank else ""


def _rank(scope: ClassScope) -> int:
    own = sum(len(base.dims) for base in scope.tree.extends()) if scope.tree.short else 0
    return own + sum(_rank(base) for base in scope.bases)


def _same(first: ClassMember, second: ClassMember) -> bool:
    a, b = first.element, second.element
    if a.declared is not None and b.declared is not None:
        return _class_text(a.declared) == _class_text(b.declared)
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


def _class_text(tree: ClassTree) -> tuple[object, ...]:
    elements = (
        (each.kind, each.name, each.type_name, each.dims, each.prefixes, _value_text(each))
        for each in tree.elements
    )
    return tree.word, *elements, *(token.text for one in tree.sections for token in one.tokens)


def _value_text(element: Element) -> tuple[object, ...]:
    inside = _class_text(element.declared) if element.declared else ()
    return element.value.text if element.value else "", *_texts(element.arguments), *inside


def _texts(arguments: tuple[Argument, ...]) -> Sequence[object]:
    return sorted(
        (each.path, each.value.text if each.value else "", repr(_texts(each.inner)))
        for each in arguments
    )


Json = Any


def with_inner(model: Model, tree: Json) -> Iterator[Finding]:
    """Let all references to outer components in a flat model mean the inner ones, in place.

    rumoca keeps an outer component as a variable of its own, without a value, and follows one outer
    component only: what is reached through another one stays a reference to the former.
    """
    outer, inner = _declared(model)
    yield from _modified(outer)
    meant = {}
    ghosts = {name: ghost for name in tree["variables"] if (ghost := _ghost(name, outer))}
    for ghost in ghosts.values():
        member, target = outer[without_subscripts(ghost)], _inner_of(ghost, inner)
        if target is None:
            text = f"outer '{ghost}' has no inner component of that name around it"
            yield member.element.place, text
            continue
        meant[ghost] = target
        if problem := _misfit(member, inner[without_subscripts(target)]):
            text = f"outer '{ghost}' does not fit inner '{target}': {problem}"
            yield member.element.place, text
    _rename(tree, meant)
    for name in ghosts:
        for key in ("variables", "variable_type_names", "variable_final_flags"):
            tree[key].pop(name, None)
    yield from _repeated(tree, outer)


def _modified(outer: Mapping[str, ClassMember]) -> Iterator[Finding]:
    for path, member in outer.items():
        changes = member.changes
        if changes.value or changes.inner:
            yield _place(member), f"outer '{path}' is modified; modify the inner one"


def _repeated(tree: Json, outer: Mapping[str, ClassMember]) -> Iterator[Finding]:
    for entry in tree["equations"]:
        component = (origin_of(entry, "ComponentEquation") or {}).get("component", "")
        plain = without_subscripts(component)
        for member in (outer[each] for each in outer if f"{plain}.".startswith(f"{each}.")):
            text = (
                f"the front end repeats the equations of outer '{component}'; make it a"
                " connector or record, or connect to the inner one"
            )
            yield member.element.place, text


def _misfit(outer: ClassMember, inner: ClassMember) -> str:
    """Why an inner component is no subtype of an outer one (Modelica 3.6, section 5.4)."""
    (one, wanted), (other, got) = outer.owner.type_of(outer), inner.owner.type_of(inner)
    known = all(map(str.isdigit, (*one.dims, *other.dims)))
    if len(one.dims) != len(other.dims) or (known and one.dims != other.dims):
        said = [f"[{', '.join(each.dims)}]" if each.dims else "a scalar" for each in (one, other)]
        return f"it is {said[0]}, and the inner one {said[1]}"
    return lacks(got, wanted) if got is not None and wanted is not None else ""


def _place(member: ClassMember) -> SourcePlace:
    inside = (each.place for each in member.changes.inner.values())
    return next(filter(None, (member.changes.place, *inside)), member.element.place)


def _declared(model: Model) -> tuple[dict[str, ClassMember], dict[str, ClassMember]]:
    """Outer and inner components by their paths."""
    outer: dict[str, ClassMember] = {}
    inner: dict[str, ClassMember] = {}
    for instance in model.instances:
        for path, member in instance.members():
            prefixes = member.changed()[0].prefixes
            if "inner" in prefixes:
                inner[path] = member
            if "outer" in prefixes:
                outer[path] = member
    return outer, inner


def _ghost(name: str, outer: Mapping[str, Any]) -> str:
    """The part of a variable's name that is an outer component, if there is one."""
    paths = accumulate(name.split("."), "{}.{}".format)
    return next((path for path in paths if without_subscripts(path) in outer), "")


def _inner_of(ghost: str, inner: Mapping[str, ClassMember]) -> str | None:
    *around, name = ghost.split(".")
    paths = (".".join([*around[:count], name]) for count in reversed(range(len(around))))
    return next((path for path in paths if without_subscripts(path) in inner), None)


def _rename(node: Json, meant: Mapping[str, str]) -> None:
    if isinstance(node, dict):
        reference = node.get("VarRef")
        if isinstance(reference, dict):
            reference["name"]["name"] = _meant(reference["name"]["name"], meant)
        for value in node.values():
            _rename(value, meant)
    elif isinstance(node, list):
        for value in node:
            _rename(value, meant)


def _meant(name: str, meant: Mapping[str, str]) -> str:
    for _ in range(len(meant)):
        ghost = next(
            (each for each in meant if f"{name}.".startswith((f"{each}.", f"{each}["))), None
        )
        if ghost is None:
            break
        name = meant[ghost] + name[len(ghost) :]
    return name
