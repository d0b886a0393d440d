"""Constants that are records, which rumoca does not look into: their members in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from orchestrator.core.structs import replace
from orchestrator.export.modelica.source.class_scope import (
    Changes,
    ClassMember,
    ClassScope,
    SourcePlace,
    Value,
    in_order,
    merge,
)
from orchestrator.export.modelica.source.lookup import NotSpecialised, TypedComponent, rescoped
from orchestrator.export.modelica.source.rewording import PlainClass, Rewording, Step, steps_of
from orchestrator.export.modelica.source.text import Token, closing, nesting, split

#: Prefix of a value that a constructor gives a member, which leaves nothing of its declaration.
_WHOLE = "whole"


class RecordConstants(Rewording):
    """Finds the members of constants that are records."""

    def _record(
        self,
        owner: ClassScope,
        member: ClassMember,
        steps: Sequence[Step],
        end: int,
        say: Callable[[Sequence[Token]], str],
    ) -> tuple[str, int]:
        typed = self._lookup.typed(member)
        calculated = [at for at, step in enumerate(steps) if step.inside]
        if not calculated:
            return self._part(typed, steps, end, member.element.location)
        return self._table(owner, member, steps, [say(steps[at].inside) for at in calculated])

    def _table(
        self, owner: ClassScope, member: ClassMember, steps: Sequence[Step], indices: Sequence[str]
    ) -> tuple[str, int]:
        """An element of the constant array of one member of all records, which is written first."""
        typed, location = self._lookup.typed(member), member.element.location
        sizes: list[int] = []
        reached, dims = typed, len(typed.element.dims)
        for step in steps:
            if step.name:
                inside = reached.kind.components.get(step.name) if reached.kind else None
                if inside is None or dims:
                    raise NotSpecialised(location, "a calculated index into constant records")
                reached = self._lookup.typed(inside)
                dims = len(reached.element.dims)
            else:
                dims -= 1
                sizes += [self._size(reached)] * bool(step.inside)
        kind, is_leaf = reached.kind, reached.kind is None or reached.kind.predefined
        if dims or not is_leaf:
            raise NotSpecialised(location, "a calculated index into whole constant records")
        names = [at for at, step in enumerate(steps) if step.name]
        path, tail = steps[: names[-1] + 1], steps[names[-1] + 1 :]
        if any(step.inside for step in tail):
            raise NotSpecialised(location, "a calculated index into an array of constant records")
        last = "".join(f"[{step.index}]" for step in tail)
        elements = self._elements(typed, path, last, sizes)
        primitive = kind.primitive if kind is not None else reached.element.type_name
        title = ".".join([member.element.name, *(step.name for step in steps if step.name)])
        key = ("table", self._keys.of(owner), title, elements)
        if key not in self._names:
            name = self._names[key] = self._new(title, f"{owner.name}.{title}")
            shape = ", ".join(str(size) for size in sizes)
            text = f"constant {primitive} {name}[{shape}] = {elements};"
            plain_class = self._written[name] = PlainClass()
            self._put(plain_class.lines, location, text)
        return f"{self._names[key]}[{', '.join(indices)}]", steps[-1].end

    def _elements(
        self, typed: TypedComponent, path: Sequence[Step], last: str, sizes: Sequence[int]
    ) -> str:
        """What stands in the array for all values of the calculated indices of a path."""
        at = next((at for at, step in enumerate(path) if step.inside), None)
        if at is None:
            return self._part(typed, path, path[-1].end, typed.element.location)[0] + last
        numbered = (Step("", path[at].end, number) for number in range(1, sizes[0] + 1))
        paths = ([*path[:at], step, *path[at + 1 :]] for step in numbered)
        listed = (self._elements(typed, element, last, sizes[1:]) for element in paths)
        return f"{{{', '.join(listed)}}}"

    @staticmethod
    def _size(typed: TypedComponent) -> int:
        """The number of elements of an array of records."""
        value, dims = typed.changes.value, typed.element.dims
        if len(dims) == 1 and dims[0].isdecimal():
            return int(dims[0])
        if value is not None and (count := _count(value.tokens)) is not None:
            return count
        reason = "a calculated index into constant records of which the number is not written"
        raise NotSpecialised(typed.element.location, reason)

    def _part(
        self, typed: TypedComponent, steps: Sequence[Step], end: int, location: SourcePlace
    ) -> tuple[str, int]:
        """Text of a part of a record, and where what it stands for ends."""
        if typed.kind is None:
            raise NotSpecialised(location, "a member of a constant that is no record")
        changes = typed.changes
        if changes.value is not None and changes.origin is not None:
            if _WHOLE not in changes.prefixes and _has_values(typed.kind, changes):
                raise NotSpecialised(
                    location, "a constant record with a value and modified members"
                )
            return self._given_part(changes.value, changes.origin, steps, end)
        if not steps:
            names = [name for name, _ in in_order(typed.kind)]
            parts = (f"{name} = {self._member(typed.kind, name, (), end)[0]}" for name in names)
            return f"{self._class(self._instance(typed, typed.kind))}({', '.join(parts)})", end
        if not steps[0].name and steps[0].index is not None and len(typed.element.dims) == 1:
            changes = merge(_element(changes, steps[0].index, location), typed.of_class)
            kind = rescoped(typed.kind, changes).expand()
            element = replace(typed.element, dims=(), sizes=())
            member_type = TypedComponent(element, typed.scope, changes, typed.of_class, kind)
            return self._part(member_type, steps[1:], steps[0].end, location)
        if not steps[0].name or steps[0].name not in typed.kind.components:
            raise NotSpecialised(location, "an index into constant records")
        return self._member(typed.kind, steps[0].name, steps[1:], steps[0].end)

    def _member(
        self, kind: ClassScope, name: str, steps: Sequence[Step], end: int
    ) -> tuple[str, int]:
        member = kind.components[name]
        typed = self._lookup.typed(member)
        with self._calculated_in(kind):
            if typed.kind is None or typed.kind.predefined:
                return self._constant(kind, member), end
            return self._part(typed, steps, end, member.element.location)

    @contextmanager
    def _calculated_in(self, kind: ClassScope) -> Iterator[None]:
        """Let a value that names members of this record mean those of this very record."""
        self._records.append(kind)
        try:
            yield
        finally:
            self._records.pop()

    def _given_part(
        self, value: Value, origin: ClassScope, steps: Sequence[Step], end: int
    ) -> tuple[str, int]:
        """A part of a record that is given as a whole, by its constructor or by another one."""
        if not steps:
            return f"({self._value_text(value, origin, ())})", end
        listed, location = value.tokens, value.location
        step = steps[0]
        if _count(listed) is not None:
            elements = list(split(listed[1:-1]))
            if step.index is None or not 0 < step.index <= len(elements):
                raise NotSpecialised(
                    location, "an index into constant records that is out of range"
                )
            element = _value(elements[step.index - 1], location.source)
            return self._given_part(element, origin, steps[1:], step.end)
        at = next((i for i, token in enumerate(listed) if nesting(token) > 0), len(listed))
        parts = tuple(token.text for token in listed[:at] if token.text != ".")
        meaning = self._lookup.meaning(origin, parts, location) if parts else None
        if meaning is None:
            raise NotSpecialised(location, "a member of a record that is calculated")
        if meaning.member is not None:
            more = list(steps_of(listed, 2 * meaning.used - 1))
            if max([step.end for step in more], default=listed[at - 1].end) != listed[-1].end:
                raise NotSpecialised(location, "a member of a record that is calculated")
            return self._part(self._lookup.typed(meaning.member), [*more, *steps], end, location)
        is_whole = meaning.kind is not None and closing(listed, at) == len(listed)
        if meaning.kind is None or not is_whole or not step.name:
            raise NotSpecialised(location, "a member of a record that is calculated")
        if meaning.kind.expand().tree.word != "record":
            raise NotSpecialised(location, "a member of a record that is calculated")
        kind = self._constructed(meaning.kind, listed[at + 1 : -1], origin, location)
        if step.name not in kind.components:
            raise NotSpecialised(location, f"record {kind.name} has no '{step.name}'")
        return self._member(kind, step.name, steps[1:], step.end)

    def _constructed(
        self,
        kind: ClassScope,
        arguments: Sequence[Token],
        origin: ClassScope,
        location: SourcePlace,
    ) -> ClassScope:
        """A record with the values that its constructor gives it."""
        inputs = [name for name, member in in_order(kind) if self._is_input(kind, member)]
        changes: dict[str, Changes] = {}
        for number, part in enumerate(split(arguments)):
            is_named = len(part) > 2 and part[1].text == "="
            if not is_named and number >= len(inputs):
                raise NotSpecialised(location, f"more arguments than record {kind.name} has inputs")
            name = part[0].text if is_named else inputs[number]
            value = _value(part[2:] if is_named else part, location.source)
            changes[name] = Changes(value, {}, None, value.location, origin, frozenset({_WHOLE}))
        return kind.with_changes(Changes(None, changes)).expand()

    def _is_input(self, kind: ClassScope, member: ClassMember) -> bool:
        """Whether the constructor of a record takes a value of a member (section 12.6)."""
        element, _, changes = member.changed()
        is_fixed = "constant" in element.prefixes and changes.value is not None
        is_final = "final" in element.prefixes or "final" in changes.prefixes
        return not (is_fixed or is_final or element.name in kind.hidden)


def _count(listed: Sequence[Token]) -> int | None:
    """The number of elements of ``{a, b}``; None of anything else."""
    is_list = listed[0].text == "{" and closing(listed, 0) == len(listed)
    return len(list(split(listed[1:-1]))) if is_list else None


def _has_values(kind: ClassScope, changes: Changes) -> bool:
    """Whether members of a record are given values, and not only attributes."""
    for name, change in changes.inner.items():
        inside = kind.components.get(name)
        if inside is not None and change.value is not None:
            return True
        type_ = inside.owner.type_of(inside)[1] if inside is not None else None
        if type_ is not None and not type_.predefined and _has_values(type_, change):
            return True
    return False


def _element(changes: Changes, index: int, location: SourcePlace) -> Changes:
    """The modifications of one element of an array of records."""
    inner = {}
    for name, change in changes.inner.items():
        value = change.value
        if value is not None and "each" not in change.prefixes:
            count = _count(value.tokens)
            if count is None or not 0 < index <= count:
                raise NotSpecialised(location, "an index into constant records that are no list")
            value = _value(list(split(value.tokens[1:-1]))[index - 1], value.location.source)
        inside = _element(change, index, location).inner
        inner[name] = replace(change, value=value, inner=inside)
    return replace(changes, inner=inner)


def _value(listed: Sequence[Token], source: int) -> Value:
    return Value(tuple(listed), SourcePlace(source, listed[0].start, listed[-1].end))
