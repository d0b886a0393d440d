"""Everything in the sources is accounted for: kinds, values, types, and what vanished."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from orchestrator.export.modelica.connections import (
    connection_findings,
    connector_findings,
    source_findings,
)
from orchestrator.export.modelica.flat.model import (
    LOST,
    FlatModel,
    expect_none,
    is_settled,
    origin_of,
    without_subscripts,
)
from orchestrator.export.modelica.flat.structure_probe import referenced_names
from orchestrator.export.modelica.references import (
    Finding,
    Model,
    reference_findings,
    references,
    steps,
)
from orchestrator.export.modelica.source.class_scope import (
    ClassMember,
    ClassScope,
    Element,
    ElementKind,
    SourcePlace,
    with_bases,
)
from orchestrator.export.modelica.source.instances import Instance, walk
from orchestrator.export.modelica.source.parser import parts
from orchestrator.export.modelica.source.text import SourceMap, Token, windows
from orchestrator.export.modelica.subtypes import subtype_findings, with_inner

_RELATIONS = frozenset(("==", "<>", "<", "<=", ">", ">="))


def type_findings(model: Model) -> Iterator[Finding]:
    """Values of a type that their place does not take."""
    for scope in model.classes:
        for element in scope.tree.elements:
            if element.kind is ElementKind.COMPONENT and element.value is not None:
                problems = _value(scope, element, element.value.tokens)
                yield from ((element.location, text) for text in problems)
                yield from _text(scope, element.value.tokens, element.location.source)
        for section in scope.tree.sections:
            yield from _text(scope, section.tokens, section.source)
            yield from _ranges(section.tokens, section.source)


def _literals(scope: ClassScope | None) -> tuple[str, ...]:
    """Items of an enumeration, also of a renamed one; none of other types."""
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


def _value(scope: ClassScope, element: Element, tokens: Sequence[Token]) -> Iterator[str]:
    if "discrete" in element.prefixes and element.type_name == "Real":
        yield f"'{element.name}' is a discrete Real with a value; those change in when clauses only"
    texts = [token.text for token in tokens]
    bare = not element.dims and not {"(", "[", "{"} & set(texts)
    if element.type_name == "Integer" and bare and "if" not in texts and {"/", "^"} & set(texts):
        sign = next(text for text in texts if text in {"/", "^"})
        yield (
            f"'{element.name}' is an Integer, but '{' '.join(texts)}' is a Real, as is what"
            f" {sign} gives; write integer(..), div(..) or a product"
        )
    member = scope.expand().components.get(element.name)
    literals = _literals(scope.type_of(member)[1]) if member else ()
    names = list(references(tokens, element.location.source))
    if literals and len(names) == 1 and all(t.kind == "name" or t.text == "." for t in tokens):
        items = _items_of(scope, names[0].parts)
        if items and items != literals:
            yield (
                f"'{element.name}' is of an enumeration of {', '.join(literals)}, but"
                f" '{names[0].text}' is an item of another one, of {', '.join(items)}"
            )


def _text(scope: ClassScope, tokens: Sequence[Token], source: int) -> Iterator[Finding]:
    """Items that are compared with numbers, and numbers as indices of what has items as such."""
    numbers = {token.start: at for at, token in enumerate(tokens)}
    for reference in references(tokens, source):
        end = next(i for i, t in enumerate(tokens) if t.end == reference.location.end)
        begin = numbers[reference.location.start]
        if _is_compared(tokens, begin, end) and _items_of(scope, reference.parts):
            yield reference.location, f"'{reference.text}', an item of an enumeration, is no number"
        indices = [subscript for subscripts in reference.subscripts for subscript in subscripts]
        if not any(index.isdecimal() for index in indices):
            continue
        for (_, element), index_texts in zip(
            steps(scope, reference.parts), reference.subscripts, strict=False
        ):
            if element is None or len(element.dims) != len(index_texts):
                continue
            for size, index in zip(element.dims, index_texts, strict=True):
                is_name = size[:1].isalpha() and size.replace(".", "").isidentifier()
                if index.isdecimal() and is_name and _literals(scope.find(size)):
                    text = f"'{reference.text}[{index}]': the index is an item of {size}, no number"
                    yield reference.location, text


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
    for first, _, inside, number, after in windows(tokens, 5):
        words = (first.text, inside.text, number.kind, after.text)
        if words == ("for", "in", "number", "loop"):
            text = (
                f"the range of this loop is the number {number.text}; expected a vector, such"
                f" as 1:{number.text}"
            )
            yield SourcePlace(source, first.start, after.end), text


Json = Any


def value_findings(model: Model, flat: FlatModel) -> Iterator[Finding]:
    """Constants without a value, and parameters that are given what changes."""
    for instance in model.instances:
        for path, member in instance.members():
            entry = flat.tree["variables"].get(path)
            if entry is None or not is_settled(entry):
                continue
            if _lacks_value(instance.scope, member):
                yield member.element.location, f"constant '{path}' has no value"
            for used in referenced_names(entry["binding"], sizes=False):
                if used in flat.tree["variables"] and not is_settled(flat.tree["variables"][used]):
                    text = f"'{path}' does not change in a run, but is given '{used}', which does"
                    yield member.element.location, text


def _lacks_value(scope: ClassScope, member: ClassMember) -> bool:
    """Whether a constant has no value; records may be given theirs as a whole."""
    element, kind = scope.type_of(member)
    if kind is None or not kind.predefined or scope.tree.word == "record":
        return False
    return "constant" in element.prefixes and kind.changes.value is None


#: What may have no equations: branches that are not taken, loops over nothing, connections.
_OTHERS = frozenset(("if", "for", "when", "connect", "assert", "terminate", "reinit"))


def vanished_findings(model: Model, tree: Json) -> Iterator[Finding]:
    """Equations that the front end drops without a word."""
    spans = _spans(tree)
    for instance in model.instances:
        for scope in with_bases(instance.scope):
            for section in scope.tree.sections:
                for location in parts(section) if section.word == "equation" else ():
                    first = next(t for t in section.tokens if t.start == location.start)
                    after = next((t for t in section.tokens if t.start >= first.end), first)
                    if first.text in _OTHERS or (first.kind == "name" and after.text in "(."):
                        continue
                    if not any(location.meets(span) for span in spans[instance.path]):
                        of = f" of '{instance.path}'" if instance.path else ""
                        yield location, f"the front end drops this equation{of}"


def _spans(tree: Json) -> dict[str, list[Json]]:
    by_component: dict[str, list[Json]] = defaultdict(list)
    for entry in (*tree["equations"], *tree["initial_equations"]):
        if origin := origin_of(entry, "ComponentEquation"):
            by_component[without_subscripts(origin["component"])].append(entry.get("span"))
    return by_component


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
        checks = ((True, _extends), (True, _alone), (True, _twice), (False, _element))
        for bases, check in checks:
            for element in scope.tree.extends() if bases else scope.tree.elements:
                yield from ((element.location, text) for text in check(scope, element))


def reserved_findings(model: Model) -> Iterator[Finding]:
    """Elements with the name of a predefined type, also in the classes around (section 4.9)."""
    trees = {}
    for scope in model.texts:
        around: ClassScope | None = scope
        while around is not None and around.tree not in trees and not around.tree.builtin:
            trees[around.tree] = around.outer is None
            around = around.outer
    for tree, is_outermost in trees.items():
        for element in tree.elements:
            if element.kind in _DECLARED and element.name in _RESERVED:
                kind = element.declared.word if element.declared else "component"
                yield element.location, _RESERVED_NAME.format(element.name, kind)
        if is_outermost and tree.name in _RESERVED:
            yield tree.location, _RESERVED_NAME.format(tree.name, tree.word)


_DECLARED = frozenset((ElementKind.COMPONENT, ElementKind.CLASS))
_RESERVED_NAME = "'{0}' is the name of a predefined type; give this {1} another name"


def _extends(scope: ClassScope, element: Element) -> Iterator[str]:
    tree = scope.tree
    allowed = _BASES.get(tree.word)
    if tree.short or allowed is None:
        return
    base = scope.find(element.type_name, inherited=False)
    if base is None and scope.find(element.type_name) is not None:
        yield f"{tree.name} extends {element.type_name}, which it inherits itself"
    if base is None or base.tree is tree or base.tree.word == "class":
        return
    if base.tree.word not in allowed:
        yield (
            f"{tree.word} {tree.name} extends {base.tree.word} {base.tree.name}; a {tree.word} can"
            f" extend {' or '.join(sorted(allowed))} only"
        )
    member = scope.expand().classes.get(element.type_name) or (
        scope.outer.expand().classes.get(element.type_name) if scope.outer else None
    )
    is_base = member is not None and member.element.declared is base.tree
    if member is not None and is_base and "replaceable" in member.element.prefixes:
        yield (
            f"{tree.word} {tree.name} extends {base.tree.name}, which is replaceable; extend a"
            " class that is not"
        )


def _twice(_: ClassScope, element: Element) -> Iterator[str]:
    """Values that one modification gives the same element."""
    paths = [argument.path for argument in element.arguments if argument.value is not None]
    for path in dict.fromkeys(path for path in paths if paths.count(path) > 1):
        yield f"'{'.'.join(path)}' is given a value twice"


def _alone(scope: ClassScope, element: Element) -> Iterator[str]:
    """Bases that are values, arrays or have a prefix stand alone in a class."""
    others = (ElementKind.COMPONENT, ElementKind.EXTENDS)
    if sum(item.kind in others for item in scope.tree.elements) < 2:
        return
    base = scope.find(element.type_name, inherited=False)
    simple = element.type_name in _RESERVED
    if base is not None and base.tree is not scope.tree:
        extends = base.tree.extends()
        shaped = base.tree.short and any(item.dims or item.prefixes for item in extends)
        simple |= shaped or base.expand().predefined
    if simple:
        yield (
            f"{scope.tree.word} {scope.tree.name} extends {element.type_name}, which is a value,"
            " an array or has a prefix, and has other elements beside it"
        )


def _element(scope: ClassScope, element: Element) -> Iterator[str]:
    tree, name = scope.tree, element.name
    if element.declared is not None:
        literals = {token.text for token in element.declared.literals}
        for literal in sorted(literals & _ATTRIBUTES):
            yield f"'{literal}' is an attribute of enumerations, and no literal"
    if element.kind is not ElementKind.COMPONENT:
        return
    for prefix in sorted({"inner", "outer"} & element.prefixes):
        if tree.word in {"record", "connector"}:
            yield f"'{name}' of {tree.word} {tree.name} is declared {prefix}"
    if tree.word in _TIMELESS and element.value is not None:
        timed = any(token.text == "time" for token in element.value.tokens)
        if timed and "time" not in scope.expand().components:
            yield f"'{name}' of {tree.word} {tree.name} uses time; only models and blocks do"
    member = scope.expand().components.get(name)
    kind = scope.type_of(member)[1] if member else None
    if kind is not None:
        yield from _prefixes(element, kind)


def _prefixes(element: Element, kind: ClassScope) -> Iterator[str]:
    name, value_prefixes = element.name, element.prefixes & _VALUES
    if "expandable" in kind.tree.prefixes and any(argument.value for argument in element.arguments):
        yield f"'{name}' is an expandable connector, whose members cannot be given values"
    prefix_text = " ".join(sorted(value_prefixes))
    if value_prefixes and kind.tree.word in {"model", "block"} and not kind.predefined:
        yield (
            f"'{name}' is declared {prefix_text}, but {kind.tree.name} is a {kind.tree.word}; only"
            " types,"
            " records and connectors can be"
        )
    for within in kind.components.values() if value_prefixes & {"flow", "stream"} else ():
        if clash := within.element.prefixes & {"flow", "stream", "input", "output"}:
            yield (
                f"'{name}' is declared {prefix_text}, but its member '{within.element.name}' is"
                " declared"
                f" {' '.join(sorted(clash))} already"
            )
            return


def check_sources(name: str, scope: ClassScope, sources: SourceMap) -> None:
    """Raise if the sources of a model break a rule."""
    model = _model_of(scope)
    problems = (f"{sources.locate(location.span)}: {text}" for location, text in _of_sources(model))
    expect_none(name, problems, INVALID)


def check_flat(flat: FlatModel, scope: ClassScope) -> None:
    """Raise if a flat model breaks a rule, or lacks what the sources say.

    References to outer components are made to mean the inner ones, in place.
    """
    model, locate = _model_of(scope), flat.sources.locate
    problems = (f"{locate(location.span)}: {text}" for location, text in _of_flat(flat, model))
    flat.expect_none(problems, INVALID)
    lost = (
        f"{locate(location.span)}: {text}" for location, text in vanished_findings(model, flat.tree)
    )
    flat.expect_none(lost, LOST)


#: Of sources that break a rule of the language.
INVALID = " is not valid Modelica"


def _model_of(scope: ClassScope) -> Model:
    return Model.of([node for node in walk(scope) if isinstance(node, Instance)])


def _of_sources(model: Model) -> Iterator[Finding]:
    yield from kind_findings(model)
    yield from reserved_findings(model)
    yield from reference_findings(model)
    yield from subtype_findings(model)
    yield from source_findings(model)
    yield from connector_findings(model)
    yield from type_findings(model)


def _of_flat(flat: FlatModel, model: Model) -> Iterator[Finding]:
    yield from connection_findings(model, flat.tree)
    yield from with_inner(model, flat.tree)
    yield from value_findings(model, flat)
