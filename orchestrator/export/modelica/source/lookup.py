"""What the names in a class mean where it is used: components, constants, functions, types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.core.structs import MutableStruct, Struct, field
from orchestrator.export.modelica.source.class_scope import (
    Changes,
    ClassMember,
    ClassScope,
    Element,
    ElementKind,
    SourcePlace,
    merge,
)
from orchestrator.export.modelica.source.text import Token, closing, nesting

_PREDEFINED = frozenset(
    ("Real", "Integer", "Boolean", "String", "Clock", "StateSelect", "AssertionLevel")
)
_WORDS = frozenset(
    "algorithm and annotation block break class connect connector constant constrainedby der"  # noqa: SIM905
    " discrete each else elseif elsewhen encapsulated end enumeration equation expandable extends"
    " external false final flow for function if import impure in initial inner input loop model"
    " not operator or outer output package parameter partial protected public pure record"
    " redeclare replaceable return stream then time true type when while within".split()
)


class NotSpecialised(Exception):  # noqa: N818 - it never leaves the room
    """Sources that cannot be written in plain classes, with the place and the reason.

    invalid: They are no valid Modelica.
    """

    def __init__(self, location: SourcePlace, reason: str, *, invalid: bool = False) -> None:
        self.location = location
        self.invalid = invalid
        super().__init__(reason)


class Meaning(Struct, eq=False):
    """What a name means.

    used: Number of parts of the name that say it; what follows are members.
    owner, member: The component, and the class in which it is.
    level: How many classes further out the first part was found; 0 in the class itself.
    kind: The class, if it is one.
    prefix: The components before a function that is reached through them.
    through: Type of the last of these components.
    literal: It is an item of the enumeration ``kind``.
    """

    used: int
    owner: ClassScope | None = None
    member: ClassMember | None = None
    level: int = 0
    kind: ClassScope | None = None
    prefix: tuple[str, ...] = ()
    through: ClassScope | None = None
    literal: bool = False


class TypedComponent(Struct, eq=False):
    """A component after redeclaration.

    scope: Where the names of the element are looked up.
    changes: All modifications of it, those of short classes between it and its class as well.
    of_class: Changes that belong to its class and not to the component.
    kind: Its class with all of them; None of a predefined type.
    """

    element: Element
    scope: ClassScope
    changes: Changes
    of_class: Changes
    kind: ClassScope | None


class Surroundings(MutableStruct):
    """Inner components and classes around an instance, by their names.

    names: Plain classes of the components.
    constants: Inner constants of predefined types, with the classes in which they are.
    """

    components: Mapping[str, ClassScope] = field(default_factory=dict)
    classes: Mapping[str, ClassScope] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, tuple[ClassScope, ClassMember]] = field(default_factory=dict)


class Lookup:
    """Looks names up as Modelica does (section 5.3).

    around: The inner components and classes of the instance that is looked at.
    """

    def __init__(self) -> None:
        self.around = Surroundings()
        self._found: dict[tuple[int, tuple[str, ...]], tuple[ClassScope, Meaning | None]] = {}

    def meaning(
        self, scope: ClassScope, parts: Sequence[str], location: SourcePlace
    ) -> Meaning | None:
        """What a name means in a class; None where nothing of that name is found."""
        key = (id(scope), tuple(parts))
        if self.around.classes or self.around.components:
            return self._meaning(scope, parts, location)
        if key not in self._found:
            self._found[key] = (scope, self._meaning(scope, parts, location))
        return self._found[key][1]

    def _meaning(
        self, scope: ClassScope, parts: Sequence[str], location: SourcePlace
    ) -> Meaning | None:
        if parts[0] in _WORDS:
            return None
        if parts[0].startswith("."):
            top = scope.find(parts[0])
            return self._inside(top, parts, 1, location) if top is not None else None
        here: ClassScope | None = scope
        level = 0
        while here is not None:
            here.expand()
            member = here.components.get(parts[0])
            if member is not None:
                return self._component(here, member, parts, level, location)
            kind = self._class(here, parts[0], location)
            if kind is not None:
                return self._inside(kind, parts, 1, location)
            imported = self._imported(here, parts, location)
            if imported is not None:
                return imported
            if "encapsulated" in here.tree.prefixes:
                break
            here, level = here.outer, level + 1
        top = scope.find(f".{parts[0]}")
        return self._inside(top, parts, 1, location) if top is not None else None

    def _class(self, here: ClassScope, name: str, location: SourcePlace) -> ClassScope | None:
        member = here.classes.get(name)
        if member is not None and "outer" in member.changed()[0].prefixes:
            if name not in self.around.classes:
                raise NotSpecialised(
                    member.element.location,
                    f"outer {_word(member)} '{name}' has no inner one of that name around it",
                    invalid=True,
                )
            return self.around.classes[name]
        return here.local(name)

    def _imported(
        self, here: ClassScope, parts: Sequence[str], location: SourcePlace
    ) -> Meaning | None:
        for element in here.tree.elements:
            if element.kind is not ElementKind.IMPORT or element.name not in {parts[0], "*"}:
                continue
            target = element.type_name.lstrip(".").split(".")
            if element.name == "*":
                target.append(parts[0])
            top = here.find(f".{target[0]}")
            meaning = self._inside(top, (*target, *parts[1:]), 1, location) if top else None
            if meaning is not None:
                used = meaning.used - len(target) + 1
                return Meaning(
                    used, meaning.owner, meaning.member, 1, meaning.kind, literal=meaning.literal
                )
        return None

    def _inside(
        self, kind: ClassScope, parts: Sequence[str], used: int, location: SourcePlace
    ) -> Meaning | None:
        """Follow a name through classes, up to a constant or a class."""
        while used < len(parts):
            kind.expand()
            member = kind.components.get(parts[used])
            if member is not None:
                return Meaning(used + 1, kind, member, 1)
            if used == len(parts) - 1 and parts[used] in items_of(kind):
                return Meaning(used + 1, kind=enumeration(kind), literal=True)
            inner = self._class(kind, parts[used], location)
            if inner is None:
                return None
            kind, used = inner, used + 1
        return Meaning(used, kind=kind)

    def _component(
        self,
        owner: ClassScope,
        member: ClassMember,
        parts: Sequence[str],
        level: int,
        location: SourcePlace,
    ) -> Meaning:
        meaning = Meaning(1, owner, member, level)
        if level or len(parts) == 1:
            return meaning
        here: ClassScope | None = owner
        for used, part in enumerate(parts[1:], start=1):
            here = self._kind(here, parts[used - 1]) if here is not None else None
            if here is None or part in here.components:
                continue
            kind = here.local(part)
            inside = self._inside(kind, parts, used + 1, location) if kind is not None else None
            if inside is None:
                return meaning
            return Meaning(
                inside.used,
                inside.owner,
                inside.member,
                1,
                inside.kind,
                tuple(parts[:used]),
                here,
                inside.literal,
            )
        return meaning

    def _kind(self, owner: ClassScope, name: str) -> ClassScope | None:
        member = owner.components[name]
        if "outer" in member.element.prefixes and name in self.around.components:
            return self.around.components[name]
        return self.typed(member).kind

    def typed(self, member: ClassMember) -> TypedComponent:
        """A component after redeclaration, with its class; short classes are followed."""
        element, scope, changes = member.changed()
        if element.type_name in _PREDEFINED:
            return TypedComponent(element, scope, changes, Changes(), None)
        parts = element.type_name.split(".")
        if element.type_name.startswith("."):
            parts = [f".{parts[1]}", *parts[2:]]
        meaning = self.meaning(scope, parts, element.location)
        if meaning is None or meaning.kind is None:
            raise NotSpecialised(element.location, f"class '{element.type_name}' is not found")
        kind = unabbreviated(meaning.kind)
        all_changes = merge(changes, kind.changes)
        return TypedComponent(
            element, scope, changes, kind.changes, rescoped(kind, all_changes).expand()
        )


def rescoped(kind: ClassScope, changes: Changes) -> ClassScope:
    """A class with these modifications and no others."""
    return ClassScope(kind.tree, kind.outer, changes, kind.find_top)


def unabbreviated(kind: ClassScope) -> ClassScope:
    """What a short class means; one that adds a prefix or a size, or is a type, is itself."""
    for _ in range(100):
        bases = kind.tree.extends()
        plain = kind.tree.short and not kind.tree.builtin and kind.tree.word != "type"
        if not plain or not bases or bases[0].dims or bases[0].prefixes:
            return kind
        if bases[0].type_name in _PREDEFINED or not kind.expand().bases:
            return kind
        kind = kind.bases[0]
    raise NotSpecialised(kind.tree.location, f"'{kind.tree.name}' is defined by itself")


def enumeration(kind: ClassScope) -> ClassScope:
    """The enumeration that a class is another name of."""
    for _ in range(100):
        if kind.tree.literals or not kind.tree.short or not kind.expand().bases:
            break
        kind = kind.bases[0]
    return kind


def items_of(kind: ClassScope) -> set[str]:
    """Items of an enumeration; none of another class."""
    tree = enumeration(kind).tree
    if tree.derivative:
        return set()
    depth, items = 0, set()
    for token in tree.literals:
        depth += nesting(token)
        if token.kind == "name" and not depth:
            items.add(token.text)
    return items


def _word(member: ClassMember) -> str:
    return member.element.declared.word if member.element.declared else "component"


class Mention(Struct):
    """A name in some text: its parts, and the tokens from which to which it stands."""

    parts: tuple[str, ...]
    ends: tuple[int, ...]  # behind each part
    first: int


def mentions(listed: Sequence[Token]) -> Iterator[Mention]:
    """Names in some text that are looked up: no iterators of loops, no names of arguments."""
    hidden = iterators(listed)
    at = 0
    while at < len(listed):
        token = listed[at]
        before = listed[at - 1].text if at else ""
        is_global = before == "." and (at < 2 or listed[at - 2].kind not in {"name", "number"})
        is_global &= at < 2 or listed[at - 2].text not in {"]", ")"}
        if token.kind != "name" or (before == "." and not is_global):
            at += 1
            continue
        parts, ends, end = _parts(listed, at)
        after = listed[end : end + 2]
        is_argument_name = before in {"(", ","} and after and after[0].text == "="
        is_argument_name = is_argument_name and not (len(after) > 1 and after[1].text == "=")
        shadowed = any(low <= at < high and token.text == name for name, low, high in hidden)
        if not shadowed and not (is_argument_name and len(parts) == 1):
            first = at - 1 if is_global else at
            parts = (f".{parts[0]}", *parts[1:]) if is_global else parts
            yield Mention(parts, ends, first)
        at += 1
        while at < end and listed[at].text not in "[(":
            at += 1  # names in subscripts are looked at as well


def _parts(listed: Sequence[Token], at: int) -> tuple[tuple[str, ...], tuple[int, ...], int]:
    parts, ends = [], []
    while True:
        parts.append(listed[at].text)
        at += 1
        ends.append(at)
        after = at
        if after < len(listed) and listed[after].text == "[":
            after = closing(listed, after)
        if after + 1 >= len(listed) or listed[after].text != ".":
            return tuple(parts), tuple(ends), after
        if listed[after + 1].kind != "name":
            return tuple(parts), tuple(ends), after
        at = after + 1


def iterators(listed: Sequence[Token]) -> list[tuple[str, int, int]]:
    """Names of loops, each with the tokens from which to which it hides others.

    A name does not hide others in the range of its own loop.
    """
    ranges: list[tuple[str, int, int]] = []
    opened: list[int] = []  # brackets
    loops: list[list[tuple[str, int]]] = []  # open ones
    for at, token in enumerate(listed):
        depth = nesting(token)
        if depth > 0:
            opened.append(at)
        elif depth < 0 and opened:
            opened.pop()
        if token.text == "for" and (not at or listed[at - 1].text != "end"):
            names = list(_loop_names(listed, at))
            if opened:
                end = closing(listed, opened[-1])
                ranges += [(name, opened[-1], begin) for name, begin, _ in names]
                ranges += [(name, behind, end) for name, _, behind in names]
            else:
                ranges += [(name, begin - 1, begin) for name, begin, _ in names]
                loops.append([(name, behind) for name, _, behind in names])
        elif token.text == "for" and loops:  # its end
            ranges += [(name, behind, at) for name, behind in loops.pop()]
    open_ranges = [(name, behind, len(listed)) for names in loops for name, behind in names]
    return ranges + open_ranges


def _loop_names(listed: Sequence[Token], at: int) -> Iterator[tuple[str, int, int]]:
    """Names between ``for`` and ``loop``, or the bracket that closes, with the ends of each range.

    A range begins behind its name.
    """
    name, begin, depth = "", at + 1, 0
    for number, token in enumerate(listed[at + 1 :], start=at + 1):
        depth += nesting(token)
        if depth < 0 or token.text == "loop" or (token.text == "," and not depth):
            if name:
                yield name, begin, number
            if token.text != ",":
                return
            name = ""
        elif not name and token.kind == "name":
            name, begin = token.text, number + 1
