"""What a rule looks at and finds; references to protected elements and conditional components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.core.structs import Struct
from orchestrator.export.modelica.source.class_scope import (
    Argument,
    ClassScope,
    Element,
    ElementKind,
    SourcePlace,
    all_arguments,
    with_bases,
)
from orchestrator.export.modelica.source.instances import Instance
from orchestrator.export.modelica.source.text import Token, closing, nesting, split

#: A place in the sources and what is wrong there.
Finding = tuple[SourcePlace, str]


class Model(Struct):
    """The instances of a model, and each class of them once, bases as well.

    functions: Each function that the text of a class or of another function names, once.
    """

    instances: Sequence[Instance]
    classes: Sequence[ClassScope]
    functions: Sequence[ClassScope] = ()

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> Model:
        """Collect the classes of instances and the functions that they use."""
        classes: dict[int, ClassScope] = {}
        for instance in instances:
            for scope in with_bases(instance.scope):
                classes.setdefault(id(scope.tree), scope)
            for member in instance.scope.components.values():
                kind = instance.scope.type_of(member)[1]
                if kind is not None and kind.predefined and not kind.tree.short:
                    classes.setdefault(id(kind.tree), kind)
        return cls(instances, list(classes.values()), _functions(classes.values()))

    @property
    def texts(self) -> Iterator[ClassScope]:
        """Classes and functions."""
        yield from self.classes
        yield from self.functions


def _functions(classes: Iterable[ClassScope]) -> list[ClassScope]:
    """Functions that classes name, functions that these name, and their bases."""
    functions: dict[int, ClassScope] = {}
    waiting = list(classes)
    while waiting:
        scope = waiting.pop()
        for reference in written(scope):
            *_, (kind, component) = steps(scope, reference.parts)
            if kind is None or component is not None or kind.tree.word != "function":
                continue
            for function in with_bases(kind):
                if id(function.tree) not in functions:
                    functions[id(function.tree)] = function
                    waiting.append(function)
    return list(functions.values())


class NameReference(Struct):
    """A name with dots, also before the first of a global one; ``subscripts`` of each part."""

    parts: tuple[str, ...]
    subscripts: tuple[tuple[str, ...], ...]
    location: SourcePlace
    connected: bool = False

    @property
    def text(self) -> str:
        """As it is written, without subscripts."""
        return ".".join(self.parts)


def references(tokens: Sequence[Token], source: int) -> Iterator[NameReference]:
    """All names in some text, those in subscripts as well, in order."""
    at, connect, depth = 0, 0, 0
    while at < len(tokens):
        token = tokens[at]
        depth += nesting(token)
        if connect and depth < connect:
            connect = 0
        before = [
            token.text if token.kind != "name" else "" for token in tokens[max(at - 2, 0) : at]
        ]
        is_global = before[-1:] == ["."] and before[0] not in {"", "]", ")"}
        if token.kind != "name" or (before[-1:] == ["."] and not is_global):
            at += 1
            continue
        if token.text == "connect" and tokens[at + 1 : at + 2] and tokens[at + 1].text == "(":
            connect = depth + 1
        end, parts, subscripts, inside = _name(tokens, at)
        if is_global:
            parts = (f".{parts[0]}", *parts[1:])
        location = SourcePlace(source, token.start, tokens[end - 1].end)
        yield NameReference(parts, subscripts, location, connect > 0)
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
            end = closing(tokens, at)
            inside.append(tokens[at + 1 : end - 1])
            subscripts[-1] = tuple(
                "".join(t.text for t in subscript) for subscript in split(inside[-1])
            )
            at = end
        if at + 1 >= len(tokens) or tokens[at].text != "." or tokens[at + 1].kind != "name":
            return at, tuple(parts), tuple(subscripts), inside
        at += 1


def written(scope: ClassScope) -> Iterator[NameReference]:
    """All references of a class's own text."""
    for section in scope.tree.sections:
        yield from references(section.tokens, section.source)
    for element in scope.tree.elements:
        for value in (element.value, element.condition, *element.sizes):
            if value is not None:
                yield from references(value.tokens, element.location.source)
        short = element.declared if element.declared and element.declared.short else None
        for extended in (element, *(short.extends() if short else ())):
            for argument in all_arguments(extended.arguments):
                if argument.value is not None:
                    yield from references(argument.value.tokens, argument.location.source)


def steps(
    scope: ClassScope, parts: Sequence[str]
) -> Iterator[tuple[ClassScope | None, Element | None]]:
    """What each part of a name is: the scope that it is, and its element if it is a component."""
    here: ClassScope | None = scope
    for at, part in enumerate(parts):
        if here is None:
            return
        element, member = None, here.expand().components.get(part)
        if member is not None:
            element, here = here.type_of(member)
        else:
            here = here.local(part) if at else here.find(part)
        yield here, element


def reference_findings(model: Model) -> Iterator[Finding]:
    """Elements that are used where they may not be."""
    for scope in model.texts:
        lexical = _around(scope)
        for reference in written(scope):
            problems = (
                _hidden(scope, reference.parts, lexical),
                _beyond_outer(scope, reference.parts),
                _conditional(scope, reference),
                _function(scope, reference),
            )
            yield from ((reference.location, problem) for problem in problems if problem)
        for element in scope.tree.elements:
            for path, location in _types(element):
                if problem := _hidden(scope, path, lexical):
                    yield location, problem
            for path, location in _modified(element):
                if problem := _hidden(scope, path, lexical, closed=False):
                    yield location, problem


def _types(element: Element) -> Iterator[tuple[Sequence[str], SourcePlace]]:
    """Path of the type of a component, of a base or of an import."""
    if element.kind is ElementKind.IMPORT:
        first, *others = element.type_name.lstrip(".").split(".")
        yield (f".{first}", *others), element.location
    elif element.kind is not ElementKind.CLASS and "." in element.type_name:
        yield element.type_name.lstrip(".").split("."), element.location


def _modified(element: Element) -> Iterator[tuple[Sequence[str], SourcePlace]]:
    """Paths of what the modifications of a component reach."""
    if element.kind is not ElementKind.COMPONENT:
        return
    waiting: list[tuple[tuple[str, ...], Argument]] = [
        ((element.name,), argument) for argument in element.arguments
    ]
    while waiting:
        above, argument = waiting.pop()
        path = (*above, *argument.path)
        yield path, argument.location
        waiting += [(path, inner_argument) for inner_argument in argument.inner]


def _around(scope: ClassScope) -> set[int]:
    return {id(scope.tree), *(_around(scope.outer) if scope.outer else ())}


def _hidden(
    scope: ClassScope, parts: Sequence[str], lexical: set[int], *, closed: bool = True
) -> str:
    """Whether a part of a name is protected, or with ``closed`` looked up where nothing may be."""
    walked = list(steps(scope, parts)) if len(parts) > 1 else []
    for (owner, element), part in zip(walked, parts[1:], strict=False):
        if owner is None:
            continue
        problem = "" if id(owner.tree) in lexical else _protected(owner, part)
        if problem := problem or (_closed(owner, part) if closed and not element else ""):
            return f"'{'.'.join(parts)}': {problem}"
    return ""


def _protected(owner: ClassScope, part: str) -> str:
    if part not in owner.hidden:
        return ""
    owner_text = f"{owner.tree.word} {owner.tree.name}"
    return f"'{part}' is protected in {owner_text}, so it cannot be used from outside of it"


def _closed(owner: ClassScope, part: str) -> str:
    """Why nothing can be looked up in a class (Modelica 3.6, section 5.3.2)."""
    tree = owner.tree
    if tree.word == "package" and "partial" in tree.prefixes:
        return f"package {tree.name} is partial, so nothing in it can be used"
    for base in owner.expand().bases:
        for held in (element.declared for element in base.tree.elements):
            if held is not None and held.word == "record" and "operator" in held.prefixes:
                return (
                    f"{tree.name} extends {base.tree.name}, which holds operator record {held.name}"
                )
    member, component = owner.classes.get(part), owner.components.get(part)
    declared = member.element.declared if member is not None else None
    if component is None and (declared is None or "encapsulated" in declared.prefixes):
        return ""
    reason = (
        "" if tree.word in {"package", "operator"} or owner.predefined else _unlike_package(owner)
    )
    problem = f"'{part}' stands in {tree.word} {tree.name}, which {reason}"
    return f"{problem}; declare {part} in a package" if reason else ""


def _unlike_package(owner: ClassScope) -> str:
    """What a class holds that no package may; empty if there is nothing."""
    for name, member in owner.components.items():
        if "constant" not in member.changed()[0].prefixes:
            return f"is no package and has '{name}', which is no constant"
    words = [section.word for scope in with_bases(owner) for section in scope.tree.sections]
    return f"is no package and has an {words[0]}" if words else ""


def _beyond_outer(scope: ClassScope, parts: Sequence[str]) -> str:
    """Whether a name reaches what an outer element's own class does not have (section 5.4)."""
    here, outer = scope, ""
    for (kind, element), part, after in zip(steps(scope, parts), parts, parts[1:], strict=False):
        if element is None:
            return ""
        if "outer" in element.prefixes and "inner" not in element.prefixes:
            outer = f"outer {element.type_name} '{part}'"
        elif _is_outer_class(here, part):
            outer = f"outer class {element.type_name} of '{part}'"
        if kind is None or not kind.complete or "expandable" in kind.tree.prefixes:
            return ""
        if outer and not kind.predefined and after not in kind.components:
            return "" if kind.local(after) else f"'{'.'.join(parts)}': {outer} has no '{after}'"
        here = kind
    return ""


def _is_outer_class(scope: ClassScope, component: str) -> bool:
    element, owner, _ = scope.components[component].changed()
    around: ClassScope | None = owner
    while around is not None:
        if (kind := around.expand().classes.get(element.type_name)) is not None:
            return kind.element.prefixes & {"inner", "outer"} == {"outer"}
        around = around.outer
    return False


def _function(scope: ClassScope, reference: NameReference) -> str:
    """Whether a function is looked up in an array or in a component of one (section 5.3.2)."""
    (_, first), *others = steps(scope, reference.parts)
    if first is None or not others or not (last := others[-1])[0] or last[1]:
        return ""
    is_whole = len(others) == len(reference.parts) - 1
    misled = first.dims or any(element for _, element in others)
    if last[0].tree.word != "function" or not is_whole or not misled:
        return ""
    return f"'{reference.text}': functions are looked up in a scalar component and in its classes"


def _conditional(scope: ClassScope, reference: NameReference) -> str:
    for _, element in () if reference.connected else steps(scope, reference.parts):
        if element is not None and element.conditional:
            return (
                f"'{reference.text}': '{element.name}' is a conditional component, which may"
                " only be used in connect"
            )
    return ""
