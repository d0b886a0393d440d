"""Outer components: names of the flat model that mean the inner one, and what has none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.rules.subtypes import lacks
from orchestrator.export.modelica.source.class_scope import Member
from orchestrator.export.modelica.source.tree import Place

Json = Any
_SUBSCRIPTS = re.compile(r"\[[^\]]*\]")


def with_inner(model: Model, tree: Json) -> Iterator[Finding]:
    """Let all references to outer components in a flat model mean the inner ones, in place.

    rumoca keeps an outer component as a variable of its own, without a value, and follows one outer
    component only: what is reached through another one stays a reference to the former.
    """
    outer, inner = _declared(model)
    yield from _modified(outer)
    meant = {}
    for name in tree["variables"]:
        for ghost in _ghosts(name, outer):
            target = _inner_of(ghost, inner)
            if target is None:
                place = outer[_SUBSCRIPTS.sub("", ghost)].element.place
                yield place, f"outer '{ghost}' has no inner component of that name around it"
            else:
                meant[ghost] = target
                pair = outer[_SUBSCRIPTS.sub("", ghost)], inner[_SUBSCRIPTS.sub("", target)]
                if problem := _misfit(*pair):
                    text = f"outer '{ghost}' does not fit inner '{target}': {problem}"
                    yield pair[0].element.place, text
    _rename(tree, meant)
    ghosts = [name for name in tree["variables"] if any(_ghosts(name, outer))]
    for name in ghosts:
        for key in ("variables", "variable_type_names", "variable_final_flags"):
            tree[key].pop(name, None)
    yield from _repeated(tree, outer)


def _modified(outer: Mapping[str, Member]) -> Iterator[Finding]:
    for path, member in outer.items():
        changes = member.changes
        if changes.value or changes.inner:
            yield _place(member), f"outer '{path}' is modified; modify the inner one"


def _repeated(tree: Json, outer: Mapping[str, Member]) -> Iterator[Finding]:
    for entry in tree["equations"]:
        origin = entry.get("origin")
        component = (
            origin.get("ComponentEquation", {}).get("component", "")
            if isinstance(origin, dict)
            else ""
        )
        plain = _SUBSCRIPTS.sub("", component)
        for member in (outer[each] for each in outer if f"{plain}.".startswith(f"{each}.")):
            yield (
                member.element.place,
                (
                    f"the front end repeats the equations of outer '{component}'; make it a"
                    " connector or record, or connect to the inner one"
                ),
            )


def _misfit(outer: Member, inner: Member) -> str:
    """Why an inner component is no subtype of an outer one (Modelica 3.6, section 5.4)."""
    (one, wanted), (other, got) = outer.owner.type_of(outer), inner.owner.type_of(inner)
    known = all(each.isdigit() for each in (*one.dims, *other.dims))
    if len(one.dims) != len(other.dims) or (known and one.dims != other.dims):
        said = [f"[{', '.join(each.dims)}]" if each.dims else "a scalar" for each in (one, other)]
        return f"it is {said[0]}, and the inner one {said[1]}"
    return lacks(got, wanted) if got is not None and wanted is not None else ""


def _place(member: Member) -> Place:
    inside = (each.place for each in member.changes.inner.values())
    return next(filter(None, (member.changes.place, *inside)), member.element.place)


def _declared(model: Model) -> tuple[dict[str, Member], dict[str, Member]]:
    """Outer and inner components by their paths."""
    outer: dict[str, Member] = {}
    inner: dict[str, Member] = {}
    for instance in model.instances:
        for name, member in instance.scope.components.items():
            prefixes = member.changed()[0].prefixes
            path = f"{instance.path}.{name}".lstrip(".")
            if "inner" in prefixes:
                inner[path] = member
            if "outer" in prefixes:
                outer[path] = member
    return outer, inner


def _ghosts(name: str, outer: Mapping[str, Any]) -> Iterator[str]:
    """The part of a variable's name that is an outer component, if there is one."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        path = ".".join(parts[:count])
        if _SUBSCRIPTS.sub("", path) in outer:
            yield path
            return


def _inner_of(ghost: str, inner: Mapping[str, Member]) -> str | None:
    *around, name = ghost.split(".")
    while around:
        around.pop()
        path = ".".join([*around, name])
        if _SUBSCRIPTS.sub("", path) in inner:
            return path
    return None


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
        ghost = next((each for each in meant if _below(name, each)), None)
        if ghost is None:
            break
        name = meant[ghost] + name[len(ghost) :]
    return name


def _below(name: str, path: str) -> bool:
    return name.startswith(path) and name[len(path) : len(path) + 1] in {"", ".", "["}
