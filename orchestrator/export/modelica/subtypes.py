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
                yield first.element.location, text


def _redeclared(name: str, member: ClassMember) -> Iterator[Finding]:
    redeclared = member.changes.redeclared
    if redeclared is None:
        return
    old, location = member.element, redeclared.element.location
    for prefix in sorted({"final", "constant"} & old.prefixes):
        yield location, f"'{name}' is declared {prefix}, so it cannot be redeclared"
    is_own = any(redeclared.element is element for element in redeclared.scope.tree.elements)
    if is_own and old.protected != redeclared.element.protected:
        was, is_ = ("protected", "public") if old.protected else ("public", "protected")
        yield location, f"'{name}' is {was}, so it cannot be redeclared in a {is_} section"


def _fits(name: str, member: ClassMember) -> Iterator[Finding]:
    old = member.element
    redeclared = member.changes.redeclared
    if "replaceable" not in old.prefixes or not (old.constraint_name or redeclared):
        return
    constraint = _constraint(member)
    if redeclared is not None and redeclared.element.constraint_name and constraint is not None:
        plain = Element(
            ElementKind.COMPONENT,
            "",
            redeclared.element.location,
            redeclared.element.constraint_name,
        )
        bound = redeclared.scope.type_of(ClassMember(plain, redeclared.scope, Changes()))[1]
        if bound is not None and (missing := lacks(bound, constraint)):
            text = (
                f"'{name}' is constrained by {_full_name(bound)} here, which is not a subtype of"
                f" {_full_name(constraint)}: {missing}"
            )
            yield redeclared.element.location, text
    now, scope, _ = member.changed()
    got = scope.of(now.declared).expand() if now.declared else scope.type_of(member)[1]
    if constraint and got and (missing := lacks(got, constraint)):
        text = (
            f"'{name}' is of class {_full_name(got)} here, which is not a subtype of"
            f" {_full_name(constraint)}: {missing}"
        )
        yield now.location, text


def _full_name(scope: ClassScope) -> str:
    """Return the full name of a class; of a short class, that of the class it stands for."""
    while scope.tree.short and len(scope.bases) == 1 and not scope.bases[0].predefined:
        (scope,) = scope.bases
    return scope.name


def _constraint(member: ClassMember) -> ClassScope | None:
    old, redeclared = member.element, member.changes.redeclared
    before = redeclared.before if redeclared else None
    name, scope = old.constraint_name, member.owner
    if before is not None and before.element.constraint_name:
        name, scope = before.element.constraint_name, before.scope
    elif not name and old.declared is not None:
        return scope.of(old.declared).expand()
    plain = Element(ElementKind.COMPONENT, "", old.location, name or old.type_name)
    return scope.type_of(ClassMember(plain, scope, Changes()))[1]


def lacks(got: ClassScope, required: ClassScope, depth: int = 0) -> str:
    """What a class does not have that another has; empty if nothing is missing or known."""
    if required.tree.word == "function" == got.tree.word and got.complete and required.complete:
        return _lacks_arguments(got, required)
    is_checked = got.complete and required.complete and required.tree.word in _CHECKED
    if not is_checked or depth > _DEPTH or got.tree is required.tree:
        return ""
    if required.predefined or got.predefined:
        return _lacks_value(got, required)
    for name, member in required.components.items():
        if name in required.hidden:
            continue
        candidate = got.components.get(name)
        if candidate is None or name in got.hidden:
            return f"it has no '{name}'"
        first, second = got.type_of(candidate), required.type_of(member)
        if first[1] is None or second[1] is None:
            continue
        if missing := lacks(first[1], second[1], depth + 1):
            return f"'{name}': {missing}"
    return ""


def _lacks_arguments(got: ClassScope, required: ClassScope) -> str:
    """How a call of a function would not be one of another (Modelica 3.6, section 6.6)."""
    for word in ("input", "output"):
        members, required_members = (
            [(n, m) for n, m in in_order(scope) if word in m.element.prefixes]
            for scope in (got, required)
        )
        for at, (name, member) in enumerate(required_members):
            if at >= len(members):
                return f"it has no {word} '{name}'"
            if members[at][0] != name:
                return f"its {word} {at + 1} is '{members[at][0]}', not '{name}'"
            first, second = got.type_of(members[at][1]), required.type_of(member)
            if len(first[0].dims) != len(second[0].dims):
                return f"its {word} '{name}' has {len(first[0].dims)} dimensions"
            if first[1] is None or second[1] is None:
                continue
            if first[1].primitive != second[1].primitive:
                return f"its {word} '{name}' is of another type"
        for name, member in members[len(required_members) :] if word == "input" else ():
            kind = got.type_of(member)[1]
            if kind is not None and kind.predefined and kind.changes.value is None:
                return f"its additional input '{name}' has no default"
    return ""


def _lacks_value(got: ClassScope, required: ClassScope) -> str:
    if any(token.text == ":" for token in required.tree.literals):
        return "" if got.predefined else f"{got.tree.name} is no enumeration"
    if got.predefined != required.predefined or got.primitive != required.primitive:
        return f"{got.tree.name} is no {required.tree.name}"
    rank_of_got = (
        sum(map(_rank, got.bases)) if got.tree.short else _rank(got)
    )  # not what it adds itself
    rank = _rank(required)
    return f"it has {rank_of_got} dimensions, not {rank}" if rank_of_got != rank else ""


def _rank(scope: ClassScope) -> int:
    dimensions = sum(len(base.dims) for base in scope.tree.extends()) if scope.tree.short else 0
    return dimensions + sum(_rank(base) for base in scope.bases)


def _same(first: ClassMember, second: ClassMember) -> bool:
    a, b = first.element, second.element
    if a.declared is not None and b.declared is not None:
        return _class_text(a.declared) == _class_text(b.declared)
    first_type, second_type = first.owner.type_of(first)[1], second.owner.type_of(second)[1]
    if first_type is None or second_type is None:
        return True
    types = (
        first_type.primitive == second_type.primitive
        if first_type.predefined
        else first_type.tree is second_type.tree
    )
    values = (a.value.text if a.value else "") == (b.value.text if b.value else "")
    shapes = len(a.dims) == len(b.dims) and a.conditional == b.conditional
    relevant = {"flow", "stream", "parameter", "constant", "discrete", "input", "output", "inner"}
    return (
        types
        and values
        and shapes
        and a.prefixes & relevant == b.prefixes & relevant
        and _texts(a.arguments) == _texts(b.arguments)
    )


def _class_text(tree: ClassTree) -> tuple[object, ...]:
    elements = (
        (
            element.kind,
            element.name,
            element.type_name,
            element.dims,
            element.prefixes,
            _value_text(element),
        )
        for element in tree.elements
    )
    return (
        tree.word,
        *elements,
        *(token.text for section in tree.sections for token in section.tokens),
    )


def _value_text(element: Element) -> tuple[object, ...]:
    inside = _class_text(element.declared) if element.declared else ()
    return element.value.text if element.value else "", *_texts(element.arguments), *inside


def _texts(arguments: tuple[Argument, ...]) -> Sequence[object]:
    return sorted(
        (argument.path, argument.value.text if argument.value else "", repr(_texts(argument.inner)))
        for argument in arguments
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
            yield member.element.location, text
            continue
        meant[ghost] = target
        if problem := _misfit(member, inner[without_subscripts(target)]):
            text = f"outer '{ghost}' does not fit inner '{target}': {problem}"
            yield member.element.location, text
    _rename(tree, meant)
    for name in ghosts:
        for key in ("variables", "variable_type_names", "variable_final_flags"):
            tree[key].pop(name, None)
    yield from _repeated(tree, outer)


def _modified(outer: Mapping[str, ClassMember]) -> Iterator[Finding]:
    for path, member in outer.items():
        changes = member.changes
        if changes.value or changes.inner:
            yield _location_of_change(member), f"outer '{path}' is modified; modify the inner one"


def _repeated(tree: Json, outer: Mapping[str, ClassMember]) -> Iterator[Finding]:
    for entry in tree["equations"]:
        component = (origin_of(entry, "ComponentEquation") or {}).get("component", "")
        plain = without_subscripts(component)
        for member in (
            outer[outer_path] for outer_path in outer if f"{plain}.".startswith(f"{outer_path}.")
        ):
            text = (
                f"the front end repeats the equations of outer '{component}'; make it a"
                " connector or record, or connect to the inner one"
            )
            yield member.element.location, text


def _misfit(outer: ClassMember, inner: ClassMember) -> str:
    """Why an inner component is no subtype of an outer one (Modelica 3.6, section 5.4)."""
    (outer_element, required), (inner_element, got) = (
        outer.owner.type_of(outer),
        inner.owner.type_of(inner),
    )
    are_literal = all(map(str.isdigit, (*outer_element.dims, *inner_element.dims)))
    if len(outer_element.dims) != len(inner_element.dims) or (
        are_literal and outer_element.dims != inner_element.dims
    ):
        sizes = [
            f"[{', '.join(element.dims)}]" if element.dims else "a scalar"
            for element in (outer_element, inner_element)
        ]
        return f"it is {sizes[0]}, and the inner one {sizes[1]}"
    return lacks(got, required) if got is not None and required is not None else ""


def _location_of_change(member: ClassMember) -> SourcePlace:
    inside = (change.location for change in member.changes.inner.values())
    return next(filter(None, (member.changes.location, *inside)), member.element.location)


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
            (
                name_meant
                for name_meant in meant
                if f"{name}.".startswith((f"{name_meant}.", f"{name_meant}["))
            ),
            None,
        )
        if ghost is None:
            break
        name = meant[ghost] + name[len(ghost) :]
    return name
