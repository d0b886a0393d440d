"""Types of values: enumerations, Integer, discrete Real, ranges of loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.export.modelica.rules.references import Finding, Model, references, steps
from orchestrator.export.modelica.source.class_scope import ClassScope
from orchestrator.export.modelica.source.text import Token
from orchestrator.export.modelica.source.tree import Element, ElementKind, SourcePlace

_RELATIONS = frozenset(("==", "<>", "<", "<=", ">", ">="))


def type_findings(model: Model) -> Iterator[Finding]:
    """Values of a type that their place does not take."""
    for scope in model.classes:
        for element in scope.tree.elements:
            if element.kind is ElementKind.COMPONENT and element.value is not None:
                yield from _value(scope, element, element.value.tokens)
                yield from _text(scope, element.value.tokens, element.place.source)
        for section in scope.tree.sections:
            yield from _text(scope, section.tokens, section.source)
            yield from _ranges(section.tokens, section.source)


def _literals(scope: ClassScope | None) -> tuple[str, ...]:
    """Items of an enumeration, also of one that is called anew; none of other types."""
    for _ in range(10):
        if scope is None or scope.tree.literals:
            break
        bases = scope.tree.extends() if scope.tree.short else []
        scope = scope.find(bases[0].type_name) if bases else None
    if scope is None:
        return ()
    return tuple(token.text for token in scope.tree.literals if token.kind == "name")


def _items_of(scope: ClassScope, parts: Sequence[str]) -> tuple[str, ...]:
    """Items of the enumeration that a name such as ``P.Color.red`` is an item of."""
    if len(parts) < 2:
        return ()
    *_, (owner, component) = steps(scope, parts[:-1])
    if component is not None:
        return ()
    items = _literals(owner)
    return items if parts[-1] in items else ()


def _value(scope: ClassScope, element: Element, tokens: Sequence[Token]) -> Iterator[Finding]:
    if "discrete" in element.prefixes and element.type_name == "Real":
        yield (
            element.place,
            f"'{element.name}' is a discrete Real with a value; those change in when clauses only",
        )
    texts = [token.text for token in tokens]
    bare = not element.dims and not {"(", "[", "{"} & set(texts)
    if element.type_name == "Integer" and bare and "if" not in texts and {"/", "^"} & set(texts):
        sign = next(text for text in texts if text in {"/", "^"})
        yield (
            element.place,
            (
                f"'{element.name}' is an Integer, but '{' '.join(texts)}' is a Real, as is what"
                f" {sign} gives; write integer(..), div(..) or a product"
            ),
        )
    member = scope.expand().components.get(element.name)
    wanted = _literals(scope.type_of(member)[1]) if member else ()
    named = list(references(tokens, element.place.source))
    if wanted and len(named) == 1 and all(t.kind == "name" or t.text == "." for t in tokens):
        items = _items_of(scope, named[0].parts)
        if items and items != wanted:
            yield (
                element.place,
                (
                    f"'{element.name}' is of an enumeration of {', '.join(wanted)}, but"
                    f" '{named[0].text}' is an item of another one, of {', '.join(items)}"
                ),
            )


def _text(scope: ClassScope, tokens: Sequence[Token], source: int) -> Iterator[Finding]:
    """Items that are compared with numbers, and numbers as indices of what has items as such."""
    numbers = {token.start: at for at, token in enumerate(tokens)}
    for reference in references(tokens, source):
        end = next(i for i, t in enumerate(tokens) if t.end == reference.place.end)
        begin = numbers[reference.place.start]
        if _is_compared(tokens, begin, end) and _items_of(scope, reference.parts):
            yield reference.place, f"'{reference.text}', an item of an enumeration, is no number"
        indices = [each for subscripts in reference.subscripts for each in subscripts]
        if not any(index.isdecimal() for index in indices):
            continue
        for (_, element), given in zip(
            steps(scope, reference.parts), reference.subscripts, strict=False
        ):
            if element is None or len(element.dims) != len(given):
                continue
            for size, index in zip(element.dims, given, strict=True):
                if index.isdecimal() and _literals(_class_named(scope, size)):
                    yield (
                        reference.place,
                        f"'{reference.text}[{index}]': the index is an item of {size}, no number",
                    )


def _class_named(scope: ClassScope, name: str) -> ClassScope | None:
    return scope.find(name) if name[:1].isalpha() and name.replace(".", "").isidentifier() else None


def _is_compared(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether a relation, of one or two signs, stands between a name and a number."""
    for words in (tokens[end + 1 : end + 4], tokens[max(begin - 3, 0) : begin][::-1]):
        for count in (1, 2):
            relation = {"".join(t.text for t in words[:count][::step]) for step in (1, -1)}
            number = words[count : count + 1]
            if relation & _RELATIONS and number and number[0].kind == "number":
                return True
    return False


def _ranges(tokens: Sequence[Token], source: int) -> Iterator[Finding]:
    for first, _, inside, number, after in zip(*(tokens[i:] for i in range(5)), strict=False):
        words = (first.text, inside.text, number.kind, after.text)
        if words == ("for", "in", "number", "loop"):
            yield (
                SourcePlace(source, first.start, after.end),
                (
                    f"the range of this loop is the number {number.text}; expected a vector, such"
                    f" as 1:{number.text}"
                ),
            )
