"""References in equations and values: protected elements and conditional components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.source.class_scope import Scope
from orchestrator.export.modelica.source.text import Token
from orchestrator.export.modelica.source.tree import Argument, Element, Kind, Place


@dataclass(frozen=True, slots=True)
class Reference:
    """A name with dots; ``subscripts`` holds those of each part."""

    parts: tuple[str, ...]
    subscripts: tuple[tuple[str, ...], ...]
    place: Place
    connected: bool = False

    @property
    def text(self) -> str:
        """As it is written, without subscripts."""
        return ".".join(self.parts)


def references(tokens: Sequence[Token], source: int) -> Iterator[Reference]:
    """All names in some text, those in subscripts as well, in order."""
    at, connect, depth = 0, 0, 0
    while at < len(tokens):
        token = tokens[at]
        depth += (token.text in "([{") - (token.text in ")]}")
        if connect and depth < connect:
            connect = 0
        if token.kind != "name" or (at and tokens[at - 1].text == "."):
            at += 1
            continue
        if token.text == "connect" and tokens[at + 1 : at + 2] and tokens[at + 1].text == "(":
            connect = depth + 1
        end, parts, subscripts, inside = _name(tokens, at)
        place = Place(source, token.start, tokens[end - 1].end)
        yield Reference(parts, subscripts, place, connect > 0)
        for part in inside:
            yield from references(part, source)
        at = end


def _name(
    tokens: Sequence[Token], at: int
) -> tuple[int, tuple[str, ...], tuple[tuple[str, ...], ...], list[Sequence[Token]]]:
    parts: list[str] = []
    subscripts: list[tuple[str, ...]] = []
    inside: list[Sequence[Token]] = []
    while True:
        parts.append(tokens[at].text)
        subscripts.append(())
        at += 1
        if at < len(tokens) and tokens[at].text == "[":
            end = _closing(tokens, at)
            inside.append(tokens[at + 1 : end])
            subscripts[-1] = tuple("".join(t.text for t in one) for one in _commas(inside[-1]))
            at = end + 1
        if at + 1 >= len(tokens) or tokens[at].text != "." or tokens[at + 1].kind != "name":
            return at, tuple(parts), tuple(subscripts), inside
        at += 1


def _closing(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].text in "([{") - (tokens[place].text in ")]}")
        if depth == 0:
            return place
    return len(tokens) - 1


def _commas(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    depth, begin = 0, 0
    for at, token in enumerate(tokens):
        depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == "," and depth == 0:
            yield tokens[begin:at]
            begin = at + 1
    yield tokens[begin:]


def written(scope: Scope) -> Iterator[Reference]:
    """All references of a class's own text."""
    for section in scope.tree.sections:
        yield from references(section.tokens, section.source)
    for element in scope.tree.elements:
        if element.value is not None:
            yield from references(element.value.tokens, element.place.source)
        yield from _of_arguments(element.arguments)
        if element.declared is not None and element.declared.short:
            for base in element.declared.extends():
                yield from _of_arguments(base.arguments)


def _of_arguments(arguments: Sequence[Argument]) -> Iterator[Reference]:
    for argument in arguments:
        if argument.value is not None:
            yield from references(argument.value.tokens, argument.place.source)
        yield from _of_arguments(argument.inner)


def steps(scope: Scope, parts: Sequence[str]) -> Iterator[tuple[Scope | None, Element | None]]:
    """What each part of a name is: the scope that it is, and its element if it is a component."""
    scope.expand()
    member = scope.components.get(parts[0])
    if member is not None:
        element, here = scope.type_of(member)
        yield here, element
    else:
        here = scope.find(parts[0])
        yield here, None
    for part in parts[1:]:
        if here is None:
            return
        inside = here.expand().components.get(part)
        if inside is not None:
            element, here = here.type_of(inside)
            yield here, element
        else:
            here = here.local(part)
            yield here, None


def reference_findings(model: Model) -> Iterator[Finding]:
    """Elements that are used where they may not be."""
    for scope in model.classes:
        lexical = _around(scope)
        for reference in written(scope):
            yield from _protected(scope, reference.parts, reference.place, lexical)
            yield from _conditional(scope, reference)
        for element in scope.tree.elements:
            if element.kind in {Kind.COMPONENT, Kind.EXTENDS} and "." in element.type_name:
                parts = element.type_name.lstrip(".").split(".")
                yield from _protected(scope, parts, element.place, lexical)


def _around(scope: Scope) -> set[int]:
    found: set[int] = set()
    here: Scope | None = scope
    while here is not None:
        found.add(id(here.tree))
        here = here.outer
    return found


def _protected(
    scope: Scope, parts: Sequence[str], place: Place, lexical: set[int]
) -> Iterator[Finding]:
    walked = list(steps(scope, parts)) if len(parts) > 1 else []
    for (owner, _), part in zip(walked, parts[1:], strict=False):
        if owner is None or id(owner.tree) in lexical:
            continue
        if part in owner.hidden:
            yield (
                place,
                (
                    f"'{'.'.join(parts)}': '{part}' is protected in {owner.tree.word}"
                    f" {owner.tree.name}, so it cannot be used from outside of it"
                ),
            )
            return


def _conditional(scope: Scope, reference: Reference) -> Iterator[Finding]:
    if reference.connected:
        return
    for _, element in steps(scope, reference.parts):
        if element is not None and element.conditional:
            yield (
                reference.place,
                (
                    f"'{reference.text}': '{element.name}' is a conditional component, which may only"
                    " be used in connect"
                ),
            )
            return
