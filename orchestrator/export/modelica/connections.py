"""Each connect of the sources: both sides fit, signals have one source, and none is dropped."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from networkx.utils import UnionFind

from orchestrator.core.diagnostics import with_article
from orchestrator.export.modelica.flat.model import origin_of, without_subscripts
from orchestrator.export.modelica.references import Finding, Model, NameReference, references, steps
from orchestrator.export.modelica.source.class_scope import (
    ClassMember,
    ClassScope,
    CodeSection,
    Element,
    SourcePlace,
    with_bases,
)
from orchestrator.export.modelica.source.instances import Instance
from orchestrator.export.modelica.source.text import split

Json = Any
_Pair = tuple[NameReference, NameReference]
_FLOWING = ("flow", "stream")
DEPTH = 8  # against connectors that hold themselves
_FLOW_NAME = re.compile(r"[A-Za-z_][\w.]*(?:\[[^\]]*\][\w.]*)*")


def connection_findings(model: Model, tree: Json) -> Iterator[Finding]:
    """Connects that do not fit, and connects that the front end lost."""
    joined = _joined(tree)
    for instance in model.instances:
        for first, second, sure in _all_connects(instance):
            location = SourcePlace(first.location.source, first.location.start, second.location.end)
            for problem in _problems(instance, (first, second), joined if sure else None):
                yield location, f"connect({first.text}, {second.text}): {problem}"


def _all_connects(instance: Instance) -> Iterator[tuple[NameReference, NameReference, bool]]:
    for scope in with_bases(instance.scope):
        for section in scope.tree.sections:
            if section.word == "equation" and not section.initial:
                yield from _connects(section)


def _connects(section: CodeSection) -> Iterator[tuple[NameReference, NameReference, bool]]:
    """Yield both sides of each connect, and whether it stands outside of any condition."""
    depth = 0
    tokens = section.tokens
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ";"
        if token.text == "if" and before in {";", "then", "else", "loop"}:
            depth += 1
        elif token.text == "if" and before == "end":
            depth -= 1
        elif token.text == "connect" and before not in {".", "end"}:
            end = next((i for i in range(at, len(tokens)) if tokens[i].text == ";"), len(tokens))
            sides = [*split(tokens[at + 2 : end])][:2]  # an annotation may stand behind them
            if len(sides) < 2:
                continue
            first, second = (next(iter(references(s, section.source)), None) for s in sides)
            if first is not None and second is not None:
                yield first, second, depth == 0


def _joined(tree: Json) -> Callable[[str, str], bool]:
    """Whether variables of the flat model are connected, by names without subscripts."""
    sets: UnionFind[str] = UnionFind()
    for entry in tree["equations"]:
        if ends := origin_of(entry, "Connection"):
            sets.union(without_subscripts(ends["lhs"]), without_subscripts(ends["rhs"]))
        elif flows := origin_of(entry, "FlowSum"):
            sets.union(*_FLOW_NAME.findall(without_subscripts(flows["description"])))
    return lambda first, second: bool(sets[first] == sets[second])


def _problems(
    instance: Instance, pair: _Pair, joined: Callable[[str, str], bool] | None
) -> Iterator[str]:
    """Why both sides of a connect do not fit, or that the front end lost it."""
    ends = [_end(instance, reference) for reference in pair]
    if ends[0] is None or ends[1] is None:
        return
    (first_element, first, is_whole), (second_element, second, _) = ends[0], ends[1]
    if problems := [text for reference in pair if (text := _no_connector(instance, reference))]:
        yield problems[0]
        return
    yield from filter(None, (_passes_model(instance, reference) for reference in pair))
    sizes = (
        ""
        if any(any(reference.subscripts) for reference in pair)
        else _sizes(first_element.dims, second_element.dims)
    )
    if difference := next(_differences(first, second), "") or sizes:
        types = (
            f"{first.tree.word} {first_element.type_name} and {second.tree.word}"
            f" {second_element.type_name}"
        )
        yield f"{types} do not match: {difference} (Modelica 3.6, section 9.3)"
    elif joined is not None and is_whole and ends[1][2]:
        first_path, second_path = (
            ".".join(filter(None, (instance.path, reference.text))) for reference in pair
        )
        for member in _leaves(first):
            if not joined(first_path + member, second_path + member):
                yield (
                    f"the front end loses this connection: '{first_path + member}' is not joined to"
                    f" '{second_path + member}'"
                )
                return


def _passes_model(instance: Instance, reference: NameReference) -> str:
    """Whether it passes a component that is no connector, and not the first (section 9.1)."""
    for scope, _ in list(steps(instance.scope, reference.parts))[1:-1]:
        if scope is not None and scope.complete and scope.tree.word in {"model", "block"}:
            return f"'{reference.text}' is no connector of this class or of a component of it"
    return ""


def _no_connector(instance: Instance, reference: NameReference) -> str:
    """Whether a side of a connect is no connector, in none, and no input or output either."""
    *_, (last, element) = walked = list(steps(instance.scope, reference.parts))
    words = {scope.tree.word for scope, _ in walked if scope is not None}
    if last is None or element is None or not words.isdisjoint({"connector", "class"}):
        return ""
    if element.prefixes & {"input", "output"}:
        return ""  # rumoca joins plain signals as well
    kind = last.primitive if last.predefined else f"{last.tree.word} {last.tree.name}"
    return (
        f"'{reference.text}' is {with_article(kind)}, expected a connector (Modelica 3.6,"
        " section 9.1)"
    )


def connector_findings(model: Model) -> Iterator[Finding]:
    """Connectors with flows, but another number of potentials (Modelica 3.6, section 9.3.1)."""
    for instance in model.instances:
        for member in instance.scope.components.values():
            kind = instance.scope.type_of(member)[1]
            if kind is None or kind.tree.word != "connector":
                continue
            count = None if "expandable" in kind.tree.prefixes else _balance(kind, flows=False)
            if count is not None and count[1] and count[0] != count[1]:
                text = (
                    f"connector {kind.tree.name} has flow variables of {count[1]} and potentials of"
                    f" {count[0]} scalars; expected as many of both"
                )
                yield kind.tree.location, text


def _balance(scope: ClassScope, *, flows: bool) -> tuple[int, int] | None:
    """Numbers of potentials and flows; None where they are not known."""
    if not scope.complete or scope.local("equalityConstraint") is not None:
        return None
    potentials = through = 0
    for member in scope.components.values():
        element, kind = scope.type_of(member)
        if element.prefixes & {"parameter", "constant", "input", "output", "stream"}:
            continue
        sizes = [_size(scope, dimension) for dimension in element.dims]
        shaped = kind is not None and kind.predefined and kind.tree.short and _shaped(kind)
        if kind is None or element.conditional or shaped or None in sizes:
            return None
        size, inside = math.prod(dimension or 0 for dimension in sizes), (1, 0)
        flowing = flows or "flow" in element.prefixes
        if not kind.predefined:
            inner = _balance(kind, flows=flowing)
            if inner is None:
                return None
            inside = inner
        elif flowing:
            inside = (0, 1)
        potentials, through = potentials + size * inside[0], through + size * inside[1]
    return potentials, through


def _size(scope: ClassScope, text: str) -> int | None:
    """A size that is a number, or a parameter or constant of the class with a number as value."""
    member = scope.components.get(text)
    kind = scope.type_of(member)[1] if member is not None else None
    value = kind.changes.value.text if kind is not None and kind.changes.value else text
    return int(value) if value.isdigit() else None


def _shaped(scope: ClassScope) -> bool:
    """Whether a type has a size or a prefix of its own."""
    bases = scope.tree.extends()
    has_own = any(base.dims or base.prefixes for base in bases)
    return has_own or any(_shaped(base) for base in scope.bases)


def _end(instance: Instance, reference: NameReference) -> tuple[Element, ClassScope, bool] | None:
    """Element and class of a side of a connect, and whether it is always there and no bus."""
    scope, element, is_whole = None, None, True
    for scope, element in steps(instance.scope, reference.parts):
        if element is None or scope is None or "expandable" in scope.tree.prefixes:
            return None
        is_whole &= not element.conditional and "outer" not in element.prefixes
    if element is None or scope is None or not scope.complete:
        return None
    return element, scope, is_whole


def _sizes(first: Sequence[str], second: Sequence[str]) -> str:
    """Which numbers of elements differ, where both are known."""
    if len(first) != len(second) or first == second:
        return ""
    if not all(size.isdigit() for size in (*first, *second)):
        return ""
    return f"{', '.join(first)} and {', '.join(second)} elements"


def _leaves(scope: ClassScope, depth: int = 0) -> Iterator[str]:
    """Members that a connection makes equations of, with a dot before; empty for a value."""
    if scope.predefined:
        yield ""
    elif depth < DEPTH:
        for name, member in scope.components.items():
            element, inside = scope.type_of(member)
            if (
                inside is None
                or element.conditional
                or {"stream", "parameter", "constant"} & element.prefixes
            ):
                continue
            for leaf in _leaves(inside, depth + 1):
                yield f".{name}{leaf}"


def _differences(first: ClassScope, second: ClassScope, depth: int = 0) -> Iterator[str]:
    """What two connectors do not have in common."""
    if first.tree is second.tree and not (first.changes.inner or second.changes.inner):
        return
    if not (first.complete and second.complete) or depth > DEPTH:
        return
    if first.predefined or second.predefined:
        if first.primitive != second.primitive:
            yield f"{first.primitive or first.tree.name} and {second.primitive or second.tree.name}"
        return
    members, others = _connected(first), _connected(second)
    for name in dict.fromkeys((*members, *others)):
        a, b = members.get(name), others.get(name)
        if a is None or b is None:
            holder, incomplete = (first, second) if b is None else (second, first)
            yield f"{incomplete.tree.name} has no '{name}', which {holder.tree.name} has"
            continue
        (element, inside), (peer, opposite) = first.type_of(a), second.type_of(b)
        yield from _unlike(name, element, peer)
        if inside is not None and opposite is not None:
            for difference in _differences(inside, opposite, depth + 1):
                yield f"'{name}': {difference}"


def _unlike(name: str, element: Element, peer: Element) -> Iterator[str]:
    for prefix in _FLOWING:
        if (prefix in element.prefixes) != (prefix in peer.prefixes):
            yield f"'{name}' is {prefix} in one of them only"
    if len(element.dims) != len(peer.dims):
        yield f"'{name}' has {len(element.dims)} and {len(peer.dims)} dimensions"


def _connected(scope: ClassScope) -> Mapping[str, ClassMember]:
    """Members that count for a match: no parameters, nothing that may be missing."""
    members = {}
    for name, member in scope.components.items():
        element = scope.type_of(member)[0]
        if not ({"parameter", "constant"} & element.prefixes or element.conditional):
            members[name] = member
    return members


def source_findings(model: Model) -> Iterator[Finding]:
    """Connections that let two sources give one signal."""
    for instance in model.instances:
        sets: UnionFind[str] = UnionFind()
        sources: dict[str, SourcePlace] = {}
        for first_end, second_end, sure in _all_connects(instance):
            location = SourcePlace(
                first_end.location.source, first_end.location.start, second_end.location.end
            )
            if sure and not any(map(any, (*first_end.subscripts, *second_end.subscripts))):
                _join(instance, (first_end, second_end), location, sets, sources)
        first: dict[str, str] = {}
        for name, location in sources.items():
            first_name = first.setdefault(sets[name], name)
            if first_name != name:
                problem = f"connections let both '{first_name}' and '{name}' give one signal"
                yield (
                    location,
                    f"{problem}; a set has one source at most (Modelica 3.6, section 9.3)",
                )


def _join(
    instance: Instance,
    pair: _Pair,
    location: SourcePlace,
    sets: UnionFind[str],
    sources: dict[str, SourcePlace],
) -> None:
    """Add a connection to the sets, and those of its ends that give a signal."""
    ends = [_end(instance, reference) for reference in pair]
    for reference, end in zip(pair, ends, strict=True):
        if end is None or not end[2]:
            return
        at, _ = next(steps(instance.scope, reference.parts))
        gives = "input" if at is not None and at.tree.word == "connector" else "output"
        for member, causality in _signal_leaves(*end[:2]):
            if causality == gives:
                sources.setdefault(reference.text + member, location)
    for member, _ in _signal_leaves(*ends[0][:2]) if ends[0] else ():
        sets.union(*(reference.text + member for reference in pair))


def _signal_leaves(
    element: Element, scope: ClassScope, around: str = "", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Members that have a value, with a dot before, and whether each is an input or an output."""
    prefixes = {*element.prefixes}
    for base_scope in with_bases(scope):
        if base_scope.tree.short:
            prefixes |= {prefix for base in base_scope.tree.extends() for prefix in base.prefixes}
    here = next((direction for direction in ("input", "output") if direction in prefixes), around)
    if scope.predefined:
        yield "", here
    elif depth < DEPTH:
        for name, member in scope.components.items():
            part, inside = scope.type_of(member)
            if inside is not None and not part.conditional:
                for leaf, causality in _signal_leaves(part, inside, here, depth + 1):
                    yield f".{name}{leaf}", causality
