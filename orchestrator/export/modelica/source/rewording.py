"""Expressions of Modelica sources in the names of plain classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from re import finditer, sub
from typing import NamedTuple

from orchestrator.core.structs import MutableStruct, Struct, field
from orchestrator.export.modelica.source.class_keys import ClassKeys
from orchestrator.export.modelica.source.class_scope import (
    ClassMember,
    ClassScope,
    SourcePlace,
    Value,
    with_bases,
)
from orchestrator.export.modelica.source.lookup import (
    Lookup,
    Meaning,
    Mention,
    NotSpecialised,
    TypedComponent,
    enumeration,
    mentions,
    unabbreviated,
)
from orchestrator.export.modelica.source.redeclarations import redeclaration_problems
from orchestrator.export.modelica.source.text import WRITTEN, WRITTEN_IN, Token, closing, split

#: A class and its bases, whose components are the components of one instance.
Family = tuple[ClassScope, ...]


class Outside(Exception):  # noqa: N818 - it never leaves the room
    """A value that names a component which cannot be seen from where it would be written."""


class Line(NamedTuple):
    """A line of a plain class, and the file and line from which it comes."""

    text: str
    source: int
    line: int


class PlainClass(MutableStruct):
    """A class that is being written.

    inputs: Those of a function, in order.
    bound: Inputs whose default is a component of the instance that the function is of.
    """

    lines: list[Line] = field(default_factory=list)
    sections: list[Line] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)
    bases: list[tuple[int, int]] = field(default_factory=list)


class Step(Struct):
    """One step into a constant, a member or an index, and where its text ends.

    inside: What stands between the brackets of an index that is no number.
    """

    name: str
    end: int
    index: int | None = None
    inside: Sequence[Token] = ()


def steps_of(listed: Sequence[Token], at: int) -> Iterator[Step]:
    """Yield what follows the name of a constant: ``[2].a.b``."""
    while at < len(listed):
        if listed[at].text == "[":
            end = closing(listed, at)
            inside = listed[at + 1 : end - 1]
            number = inside[0].text if len(inside) == 1 else ""
            index = int(number) if number.isdecimal() else None
            yield Step("", listed[end - 1].end, index, inside if index is None else ())
            at = end
        elif listed[at].text == "." and at + 1 < len(listed) and listed[at + 1].kind == "name":
            yield Step(listed[at + 1].text, listed[at + 1].end)
            at += 2
        else:
            return


class Rewording(ABC):
    """Rewords expressions; what they name is written first.

    texts: Text of each file by its number.
    is_needed: Whether the model uses a class in more than one way, or in another way than its own.
    failure: The first thing that cannot be said in plain classes.
    """

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = {number: text.encode() for number, text in texts.items()}
        self._ends = {
            number: [match.start() for match in finditer(rb"\n", text)]
            for number, text in self._texts.items()
        }
        self._lookup = Lookup()
        self._keys = ClassKeys()
        self._names: dict[object, str] = {}
        self._full: dict[str, str] = {}
        self._uses: Counter[str] = Counter()
        self._written: dict[str, PlainClass] = {}
        self._derivatives: dict[str, tuple[str, ...]] = {}
        self._owed: dict[tuple[int, int], SourcePlace] = {}
        self._paid: set[tuple[int, int]] = set()
        self._looked_into: set[int] = set()
        self._checked: dict[int, ClassScope] = {}
        self._records: list[ClassScope] = []
        self.is_needed = False
        self.failure: NotSpecialised | None = None

    @abstractmethod
    def _class(self, scope: ClassScope) -> str:
        """Name of the plain class of a class where it is used; it is written first."""

    @abstractmethod
    def _component(
        self,
        plain_class: PlainClass,
        member: ClassMember,
        family: Family,
        *,
        protected: bool,
        name: str = "",
    ) -> None:
        """Declare a component."""

    @abstractmethod
    def _record(
        self,
        owner: ClassScope,
        member: ClassMember,
        steps: Sequence[Step],
        end: int,
        say: Callable[[Sequence[Token]], str],
    ) -> tuple[str, int]:
        """Text of a part of a constant record, and where what it stands for ends.

        say: Rewords an index that is calculated.
        """

    @abstractmethod
    def _member(
        self, kind: ClassScope, name: str, steps: Sequence[Step], end: int
    ) -> tuple[str, int]:
        """Text of a part of a member of a constant record, and where what it stands for ends."""

    @abstractmethod
    def _instance(self, typed: TypedComponent, kind: ClassScope) -> ClassScope:
        """The class of a component with what decides which class that is."""

    def _fail(self, error: NotSpecialised) -> None:
        """Go on, since what comes shows whether plain classes are needed at all."""
        if error.invalid:
            raise error
        self.failure = self.failure or error

    def _check_redeclarations(self, scope: ClassScope | None) -> None:
        """Refuse what a class, or one around it, may not redeclare or modify."""
        while scope is not None and id(scope) not in self._checked:
            self._checked[id(scope)] = scope
            for problem in redeclaration_problems(scope.expand()):
                self._fail(problem)
            scope = scope.outer

    def _check_owners(self, scope: ClassScope, parts: Sequence[str], location: SourcePlace) -> None:
        """Check the packages that a name goes through."""
        for used in range(1, len(parts)):
            owner = self._lookup.meaning(scope, parts[:used], location)
            if owner is not None and owner.kind is not None:
                self._check_redeclarations(owner.kind)

    def _new(self, name: str, full: str) -> str:
        plain = f"{WRITTEN}{len(self._full) + 1}_{sub(r'[^A-Za-z0-9_]', '_', name)}"
        self._uses[full] += 1
        self._full[plain] = f"{full} ({self._uses[full]})" if self._uses[full] > 1 else full
        return plain

    def _value_text(self, value: Value, scope: ClassScope, family: Family, prefix: str = "") -> str:
        return self._reworded(value.tokens, value.location.source, scope, family, prefix)

    def _reworded(
        self,
        listed: Sequence[Token],
        source: int,
        scope: ClassScope,
        family: Family,
        prefix: str = "",
    ) -> str:
        """Some text with names of plain classes; ``prefix`` comes before own components."""
        if not listed:
            return ""
        start, content = listed[0].start, self._texts[source]
        edits: list[tuple[int, int, str]] = []
        for mention in mentions(listed):
            edits += self._edits(mention, listed, source, scope, family, prefix)
        at, pieces = start, []
        for low, high, new in sorted(edits, key=lambda edit: edit[:2]):
            if low < at:  # in an index that is part of what has been replaced
                continue
            pieces += [content[at:low].decode(), new]
            at = high
        return "".join([*pieces, content[at : listed[-1].end].decode()])

    def _edits(
        self,
        mention: Mention,
        listed: Sequence[Token],
        source: int,
        scope: ClassScope,
        family: Family,
        prefix: str,
    ) -> Iterator[tuple[int, int, str]]:
        first = listed[mention.first]
        location = SourcePlace(source, first.start, listed[mention.ends[-1] - 1].end)
        meaning = self._lookup.meaning(scope, mention.parts, location)
        is_call = listed[mention.ends[-1] : mention.ends[-1] + 1]
        called = bool(is_call) and is_call[0].text == "("
        if meaning is None:
            self._reject_unknown(scope, mention, location)
            return
        self._check_owners(scope, mention.parts[: meaning.used], location)
        end = listed[mention.ends[meaning.used - 1] - 1].end
        if meaning.literal and meaning.kind is not None:
            item = mention.parts[meaning.used - 1]
            yield first.start, end, f"{self._class(enumeration(meaning.kind))}.{item}"
        elif meaning.kind is not None:
            name = self._class(meaning.kind)
            tree = unabbreviated(meaning.kind).tree
            if called and tree.word == "function" != meaning.kind.tree.word:
                reason = (
                    f"{meaning.kind.tree.word} {meaning.kind.name} is called, but is no function"
                )
                raise NotSpecialised(location, reason, invalid=True)
            if called and tree.word == "function" and "partial" in tree.prefixes:
                reason = (
                    f"'{'.'.join(mention.parts)}' is called, but is partial: {meaning.kind.name}"
                )
                raise NotSpecialised(location, f"{reason} has no body", invalid=True)
            # in a component rumoca finds a function that is an argument by its full name only
            is_value = tree.word == "function" and not called
            yield first.start, end, f"{WRITTEN_IN}.{name}" if is_value else name
            yield from self._arguments(name, meaning, meaning.kind, mention, listed, family)
        elif meaning.level == 0 and any(scope is class_scope for class_scope in family):
            if prefix:
                yield first.start, first.start, prefix
        elif meaning.owner is not None and meaning.member is not None:

            def say(inside: Sequence[Token]) -> str:
                return self._reworded(inside, source, scope, family, prefix)

            steps = list(steps_of(listed, mention.ends[meaning.used - 1]))
            record = self._record_around(scope) if meaning.level == 0 else None
            text, end = self._outside(record or meaning.owner, meaning.member, steps, end, say)
            yield first.start, end, text

    def _record_around(self, scope: ClassScope) -> ClassScope | None:
        """The constant record that is calculated, if names in a scope mean its members."""
        return next((kind for kind in self._records if scope in with_bases(kind)), None)

    def _outside(
        self,
        owner: ClassScope,
        member: ClassMember,
        steps: Sequence[Step],
        end: int,
        say: Callable[[Sequence[Token]], str],
    ) -> tuple[str, int]:
        """Text of a constant of a package or class around, and where what it stands for ends.

        owner: Also a constant record that is calculated, of a name of a member.
        """
        if any(owner is kind for kind in self._records):
            return self._member(owner, member.element.name, steps, end)
        owner, member = self._inner_constant(owner, member)
        if "constant" not in member.changed()[0].prefixes:
            raise Outside
        kind = self._lookup.typed(member).kind
        if kind is None or kind.predefined:
            return self._constant(owner, member), end
        self.is_needed = True
        return self._record(owner, member, steps, end, say)

    def _inner_constant(
        self, owner: ClassScope, member: ClassMember
    ) -> tuple[ClassScope, ClassMember]:
        """The inner constant that an outer one of a package or class around means."""
        words, name = member.changed()[0].prefixes, member.element.name
        is_known = name in self._lookup.around.constants
        if "outer" not in words or not ("constant" in words or is_known):
            return owner, member
        self.is_needed = True
        if not is_known:
            reason = f"outer constant '{name}' has no inner constant of that name around it"
            raise NotSpecialised(member.element.location, reason, invalid=True)
        return self._lookup.around.constants[name]

    def _reject_unknown(self, scope: ClassScope, mention: Mention, location: SourcePlace) -> None:
        """Refuse a name in a class that does not have it."""
        for used in range(1, len(mention.parts)):
            owner = self._lookup.meaning(scope, mention.parts[:used], location)
            if owner is None or owner.kind is None:
                return
            part, kind = mention.parts[used], owner.kind.expand()
            inside = self._lookup.meaning(scope, mention.parts[: used + 1], location)
            if inside is None and kind.complete:
                name = ".".join(mention.parts)
                plain = unabbreviated(kind)
                reason = f"'{name}': {plain.tree.word} {plain.name} has no '{part}'"
                raise NotSpecialised(location, reason, invalid=True)

    def _arguments(
        self,
        name: str,
        meaning: Meaning,
        kind: ClassScope,
        mention: Mention,
        listed: Sequence[Token],
        family: Family,
    ) -> Iterator[tuple[int, int, str]]:
        """Values of inputs of a function that are components of the instance that it is of."""
        plain_class = self._written.get(name)
        if plain_class is None or not plain_class.bound:
            return
        at = mention.ends[meaning.used - 1]
        if at >= len(listed) or listed[at].text != "(":
            raise Outside
        end = closing(listed, at)
        inside = list(split(listed[at + 1 : end - 1]))
        argument_names = {part[0].text for part in inside if len(part) > 1 and part[1].text == "="}
        positional = [part for part in inside if not (len(part) > 1 and part[1].text == "=")]
        bound_names = {*argument_names, *plain_class.inputs[: len(positional)]}
        through: Family = family
        prefix = ""
        if meaning.prefix and meaning.through is not None:
            through = tuple(with_bases(meaning.through))
            prefix = ".".join(meaning.prefix) + "."
        function = unabbreviated(kind).expand()
        arguments = []
        for bound in plain_class.bound:
            changes = self._lookup.typed(function.components[bound]).changes
            if (
                bound not in bound_names
                and changes.value is not None
                and changes.origin is not None
            ):
                value = self._value_text(changes.value, changes.origin, through, prefix)
                arguments.append(f"{bound} = {value}")
        if arguments:
            close = listed[end - 1].start
            yield close, close, f"{', ' * bool(inside)}{', '.join(arguments)}"

    def _constant(self, owner: ClassScope, member: ClassMember) -> str:
        """Name of a constant of a package; it is written first."""
        key = (self._keys.of(owner), member.element.name, self._keys.around(self._lookup.around))
        if self._keys.is_changed(owner) or self._keys.print_of(member.changes) is not None:
            self.is_needed = True
        if key not in self._names:
            self._check_redeclarations(owner)
            full = f"{owner.name}.{member.element.name}"
            name = self._names[key] = self._new(member.element.name, full)
            plain_class = self._written[name] = PlainClass()
            self._component(plain_class, member, (), protected=False, name=name)
            changes = self._lookup.typed(member).changes
            if changes.value is None:
                reason = f"constant '{full}' has no value"
                raise NotSpecialised(member.element.location, reason, invalid=True)
        return self._names[key]

    def _text(self, location: SourcePlace) -> str:
        return self._texts[location.source][location.start : location.end].decode()

    def _put(self, lines: list[Line], location: SourcePlace, text: str) -> None:
        begin = bisect_left(self._ends[location.source], location.start) + 1
        for number, line in enumerate(text.split("\n")):
            lines.append(Line(line, location.source, begin + number))
