"""Constants that are records, which rumoca does not look into: their members in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.export.modelica.source.class_scope import (
    ClassMember,
    ClassScope,
    SourcePlace,
    Value,
    in_order,
)
from orchestrator.export.modelica.source.lookup import NotSpecialised, TypedComponent
from orchestrator.export.modelica.source.rewording import PlainClass, Rewording, Step, steps_of
from orchestrator.export.modelica.source.text import Token, closing, nesting, split


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
        location = member.element.place
        calculated = [at for at, step in enumerate(steps) if step.inside]
        if not calculated:
            return self._part(typed, steps, end, location)
        if calculated != [0] or typed.changes.value is None:
            raise NotSpecialised(location, "a calculated index into constant records of records")
        listed = typed.changes.value.tokens
        if listed[0].text != "{" or closing(listed, 0) != len(listed):
            raise NotSpecialised(
                location, "a calculated index into constant records that are no list"
            )
        return self._column(owner, member, typed, steps, say(steps[0].inside))

    def _column(
        self,
        owner: ClassScope,
        member: ClassMember,
        typed: TypedComponent,
        steps: Sequence[Step],
        index: str,
    ) -> tuple[str, int]:
        """An element of the constant array of one member of all records, which is written first."""
        location = member.element.place
        count = len(list(split(typed.changes.value.tokens[1:-1]))) if typed.changes.value else 0
        elements, end = [], steps[0].end
        for number in range(1, count + 1):
            chosen = [Step("", steps[0].end, number), *steps[1:]]
            text, end = self._part(typed, chosen, steps[0].end, location)
            elements.append(text)
        kind = typed.kind
        for step in steps[1:]:
            inside = kind.components.get(step.name) if kind is not None else None
            kind = self._lookup.typed(inside).kind if inside is not None else None
            element = inside.element if inside is not None else member.element
        if len(steps) < 2 or any(not step.name for step in steps[1:]) or element.dims:
            raise NotSpecialised(location, "a calculated index into constant records")
        primitive = kind.primitive if kind is not None else element.type_name
        title = ".".join([member.element.name, *(step.name for step in steps[1:])])
        key = ("column", self._keys.of(owner), title, tuple(elements))
        if key not in self._names:
            name = self._names[key] = self._new(title, f"{owner.name}.{title}")
            made = self._written[name] = PlainClass()
            text = f"constant {primitive} {name}[{count}] = {{{', '.join(elements)}}};"
            self._put(made.lines, location, text)
        return f"{self._names[key]}[{index}]", end

    def _part(
        self, typed: TypedComponent, steps: Sequence[Step], end: int, place: SourcePlace
    ) -> tuple[str, int]:
        """Text of a part of a record, and where what it stands for ends."""
        if typed.kind is None:
            raise NotSpecialised(place, "a member of a constant that is no record")
        changes = typed.changes
        if changes.value is not None and changes.origin is not None:
            return self._given_part(changes.value, changes.origin, steps, end)
        if not steps:
            names = [name for name, _ in in_order(typed.kind)]
            parts = (f"{each} = {self._member(typed.kind, each, (), end)[0]}" for each in names)
            return f"{self._class(self._instance(typed, typed.kind))}({', '.join(parts)})", end
        if not steps[0].name or steps[0].name not in typed.kind.components:
            raise NotSpecialised(place, "an index into constant records")
        return self._member(typed.kind, steps[0].name, steps[1:], steps[0].end)

    def _member(
        self, kind: ClassScope, name: str, steps: Sequence[Step], end: int
    ) -> tuple[str, int]:
        member = kind.components[name]
        typed = self._lookup.typed(member)
        if typed.kind is None or typed.kind.predefined:
            return self._constant(kind, member), end
        return self._part(typed, steps, end, member.element.place)

    def _given_part(
        self, value: Value, origin: ClassScope, steps: Sequence[Step], end: int
    ) -> tuple[str, int]:
        """A part of a record that is given as a whole, by its constructor or by another one."""
        if not steps:
            return f"({self._said(value, origin, ())})", end
        listed, place = value.tokens, value.place
        step = steps[0]
        if listed[0].text == "{" and closing(listed, 0) == len(listed):
            elements = list(split(listed[1:-1]))
            if step.index is None or not 0 < step.index <= len(elements):
                raise NotSpecialised(place, "an index into constant records that is out of range")
            element = _value(elements[step.index - 1], place.source)
            return self._given_part(element, origin, steps[1:], step.end)
        at = next((i for i, token in enumerate(listed) if nesting(token) > 0), len(listed))
        parts = tuple(token.text for token in listed[:at] if token.text != ".")
        meaning = self._lookup.meaning(origin, parts, place) if parts else None
        if meaning is None:
            raise NotSpecialised(place, "a member of a record that is calculated")
        if meaning.member is not None:
            more = list(steps_of(listed, 2 * meaning.used - 1))
            return self._part(self._lookup.typed(meaning.member), [*more, *steps], end, place)
        if meaning.kind is None or meaning.kind.expand().tree.word != "record" or not step.name:
            raise NotSpecialised(place, "a member of a record that is calculated")
        names = [name for name, _ in in_order(meaning.kind)]
        for number, part in enumerate(split(listed[at + 1 : -1])):
            named = len(part) > 2 and part[1].text == "="
            if (part[0].text if named else names[number]) == step.name:
                given = _value(part[2:] if named else part, place.source)
                return self._given_part(given, origin, steps[1:], step.end)
        if step.name not in names:
            raise NotSpecialised(place, f"record {meaning.kind.name} has no '{step.name}'")
        return self._member(meaning.kind, step.name, steps[1:], step.end)


def _value(listed: Sequence[Token], source: int) -> Value:
    return Value(tuple(listed), SourcePlace(source, listed[0].start, listed[-1].end))
