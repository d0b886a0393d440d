"""Values, names and places in a file, changed with all that refers to them.

A value may stand in the binding of its component or in that of a system around it, which wins.
What stands in the file itself is changed in its place. What another file gives is left there, and
overridden by a binding behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy

from lxml import etree

from orchestrator.author.ssp_edit.patch import Markup, Patch
from orchestrator.author.ssp_edit.tree import first_behind, rank_in
from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.names import (
    add,
    child,
    children,
    decoded,
    full,
    group,
    listed,
    tag,
)
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.system import SEPARATOR, System, Value

#: A connector by the names of the elements that lead to it, from the top system on.
Place = tuple[str, ...]
_ABSENT = object()


def values_of(system: System, above: Place = ()) -> dict[Place, Value]:
    """All values that are set in a system, through nested systems."""
    values: dict[Place, Value] = {(*above, name): value for name, value in system.values.items()}
    for name, component in system.components.items():
        values |= {(*above, name, key): value for key, value in component.values.items()}
    for name, inner in system.systems.items():
        values |= values_of(inner, (*above, name))
    return values


def differing(old: System, new: System) -> list[Place]:
    """List the values that differ between two systems, of what is in both."""
    before, after = values_of(old), values_of(new)
    owners = {path for path, _ in _owners(old) & _owners(new)}
    return [
        path
        for path in dict.fromkeys([*before, *after])
        if path[:-1] in owners and not _same(before.get(path, _ABSENT), after.get(path, _ABSENT))
    ]


def _same(first: object, second: object) -> bool:
    """Whether two values are one number, text or array; a whole number may be written as a real."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if {type(first), type(second)} == {int, float}:
        return repr(float(str(first))) == repr(float(str(second)))
    return type(first) is type(second) and repr(first) == repr(second)


def _owners(system: System, above: Place = ()) -> set[tuple[Place, str]]:
    """Places of all components and systems, each with its kind."""
    owners = {(above, "system")} | {((*above, name), "component") for name in system.components}
    for name, inner in system.systems.items():
        owners |= _owners(inner, (*above, name))
    return owners


def place_text(path: Place) -> str:
    """Write a place as ``"arm/motor.k"``."""
    return f"{'/'.join(path[:-1])}.{path[-1]}" if path[:-1] else path[-1]


def element_at(root: etree._Element, owner: Place) -> etree._Element | None:
    """Return the ssd:System or ssd:Component of a place; ``None`` if it stands elsewhere."""
    element = child(root, "ssd:System")
    for name in owner:
        if element is None:
            return None
        parts = group(element, "ssd:Elements")
        element = next((part for part in parts if part.get("name") == decoded(name)), None)
    return element


class ValueEdits:
    """Changes of values, collected for a patch.

    written: Root of what Softdock writes of the new system.
    root: Root of the user's file.
    patch: Where the changes go.
    """

    def __init__(self, written: etree._Element, root: etree._Element, patch: Patch) -> None:
        self._written = written
        self._root = root
        self._patch = patch
        self._new: dict[etree._Element, list[etree._Element]] = {}
        self._gone: list[etree._Element] = []

    def put(self, path: Place) -> None:
        """Set a value where the file has it, else in a binding of its owner; or take it away.

        The owner may stand in another file: then a binding of the system around it is used.
        """
        parameter = next(_inline(self._written, path), None)
        elements = list(_inline(self._root, path))
        if parameter is None:
            self._gone += elements
        elif elements:
            _exchange(elements[0], parameter, self._patch)
        else:
            levels = range(len(path))
            here = (level for level in levels if self._holder(path, level) is not None)
            self.override(path, next(here, 0))

    def override(self, path: Place, level: int) -> None:
        """Set a value in a binding behind all others of its owner, or `level` systems above."""
        parameter = next(_inline(self._written, path), None)
        depth = len(path) - 1 - level
        element = self._holder(path, level)
        if parameter is None or element is None:
            raise SspError(
                f"the value of '{place_text(path)}' is in another file; change that file"
            )
        renamed = deepcopy(parameter)
        renamed.set("name", _written_name(path, depth))
        holder = _last_holder(element)
        for before in () if holder is None else children(holder):
            if before.get("name") == renamed.get(
                "name"
            ):  # it stands there, and something overrides
                _exchange(before, renamed, self._patch)
                return
        self._new.setdefault(element, []).append(renamed)

    def _holder(self, path: Place, level: int) -> etree._Element | None:
        return element_at(self._root, path[: len(path) - 1 - level])

    def finish(self) -> None:
        """Give the changes to the patch."""
        filled = [self._append(element, parameters) for element, parameters in self._new.items()]
        holders = dict.fromkeys(parameter.getparent() for parameter in self._gone)
        for holder in holders:
            if holder is None:
                continue
            if holder not in filled and all(
                parameter in self._gone for parameter in children(holder)
            ):
                self._patch.remove(_only_for(holder))
            else:
                for parameter in self._gone:
                    if parameter.getparent() is holder:
                        self._patch.remove(parameter)

    def _append(
        self, element: etree._Element, parameters: list[etree._Element]
    ) -> etree._Element | None:
        """Put parameters into the last binding, whose ssv:Parameters is returned, or a new one."""
        holder = _last_holder(element)
        unit_names = {unit.get("name") for unit in listed(self._root, "ssd:Units", "ssc:Unit")}
        if holder is not None:
            binding = next(holder.iterancestors(full("ssd:ParameterBinding")))
            defined = binding.iter(full("ssc:Unit"), full("ssc:Enumeration"))
            unit_names |= {unit.get("name") for unit in defined}
        for parameter in parameters:
            _without_undefined(parameter, unit_names)
            if holder is not None:
                self._patch.insert(holder, parameter, None)
        if holder is None:
            binding = etree.Element(full("ssd:ParameterBinding"))
            values = add(binding, "ssd:ParameterValues")
            version = self._root.get("version", "1.0")
            inside = add(values, Schema.PARAMETER_VALUES, version=version, name="values")
            add(inside, "ssv:Parameters").extend(parameters)
            _insert(element, binding, self._patch)
        return holder


def _last_holder(element: etree._Element) -> etree._Element | None:
    """Return the ssv:Parameters of an element's last binding, if it is a plain one."""
    bindings = listed(element, "ssd:ParameterBindings", "ssd:ParameterBinding")
    if bindings and _is_plain(bindings[-1]) and not bindings[-1].get("prefix"):
        return next(bindings[-1].iter(full("ssv:Parameters")), None)
    return None


def bind(
    element: etree._Element, values: str, mapping: str | None, prefix: str, patch: Patch
) -> None:
    """Append a binding of a parameter set in another file to a system or component."""
    binding = etree.Element(full("ssd:ParameterBinding"), source=values)
    if prefix:
        binding.set("prefix", prefix)
    if mapping is not None:
        add(binding, "ssd:ParameterMapping", source=mapping)
    _insert(element, binding, patch)


def _insert(element: etree._Element, binding: etree._Element, patch: Patch) -> None:
    """Put a binding into an element, behind the existing ones."""
    name = "ssd:ParameterBindings"
    bindings = child(element, name)
    if bindings is not None:
        patch.insert(bindings, binding, None)
        return
    bindings = etree.Element(full(name))
    bindings.append(binding)
    patch.insert(element, bindings, first_behind(element, name), rank_in(element, name))


def _inline(root: etree._Element, path: Place) -> Iterator[etree._Element]:
    """Parameters of a name that stand in the file itself, the one that wins first."""
    for depth in range(len(path)):
        element = element_at(root, path[:depth])
        if element is None:
            continue
        name = _written_name(path, depth)
        bindings = listed(element, "ssd:ParameterBindings", "ssd:ParameterBinding")
        for binding in filter(_is_plain, reversed(bindings)):
            prefix = binding.get("prefix", "")
            for parameter in reversed(list(binding.iter(full("ssv:Parameter")))):
                if prefix + parameter.get("name", "") == name:
                    yield parameter


def _written_name(path: Place, depth: int) -> str:
    """Write a place as a binding of the system so deep names it."""
    *parts, connector = path[depth:]
    return ".".join([*map(decoded, parts), connector])


def _without_undefined(parameter: etree._Element, unit_names: Collection[str | None]) -> None:
    """Leave out a unit or enumeration that is not defined: it is the connector's, as written."""
    for typed in children(parameter):
        for name in ("unit", "name"):
            if name in typed.attrib and typed.get(name) not in unit_names:
                del typed.attrib[name]


def _is_plain(binding: etree._Element) -> bool:
    """Whether a binding's values stand in the file, under the names of connectors."""
    return binding.get("source") is None and child(binding, "ssd:ParameterMapping") is None


def _only_for(holder: etree._Element) -> etree._Element:
    """Return the binding that only ssv:Parameters are in, or the group that only it is in."""
    binding = next(holder.iterancestors(full("ssd:ParameterBinding")), holder)
    outer = binding.getparent()
    return binding if outer is None or len(children(outer)) > 1 else outer


def _exchange(here: etree._Element, new: etree._Element, patch: Patch) -> None:
    """Let a parameter of the file say what another one says."""
    typed, written = children(here)[0], children(new)[0]
    item = _item(typed, written)
    if item is not None:
        patch.set(typed, "value", item)
        return
    if tag(typed) == tag(written) and not children(written) and not written.text:
        if typed.get("value") != written.get("value"):
            patch.set(typed, "value", written.get("value"))
        if typed.get("unit") not in (None, written.get("unit")):
            patch.set(typed, "unit", None)  # that of the connector, in which the value is written
        return
    patch.replace(typed, written)


def _item(typed: etree._Element, element: etree._Element) -> str | None:
    """Return the name of an item where the file has one and a whole number takes its place."""
    if (tag(typed), tag(element)) != ("ssv:Enumeration", "ssv:Integer") or children(typed):
        return None
    holder = next(typed.iterancestors(full("ssv:ParameterSet")), typed)
    enumerations = holder.iter(full("ssc:Enumeration"))
    matching = (
        enumeration for enumeration in enumerations if enumeration.get("name") == typed.get("name")
    )
    items = (item for enumeration in matching for item in children(enumeration))
    return next((i.get("name") for i in items if i.get("value") == element.get("value")), None)


def part_at(root: etree._Element, path: str) -> etree._Element:
    """Return the element of a component or nested system."""
    element = element_at(root, tuple(path.split(SEPARATOR)) if path else ())
    if element is None:
        raise SspError(f"'{path}' is in a file of its own; change that file")
    return element


def rename(markup: Markup, path: str, name: str) -> Patch:
    """Give a part another name, in its connections and in values that name it, too."""
    patch = Patch(markup)
    part = part_at(markup.root, path)
    patch.set(part, "name", decoded(name))
    *above, old = path.split(SEPARATOR)
    holder = part_at(markup.root, SEPARATOR.join(above))
    for line in listed(holder, "ssd:Connections", "ssd:Connection"):
        for end in ("startElement", "endElement"):
            if line.get(end) == decoded(old):
                patch.set(line, end, decoded(name))
    for depth in range(len(above) + 1):
        system = part_at(markup.root, SEPARATOR.join(above[:depth]))
        before = ".".join([*map(decoded, [*above[depth:], old]), ""])
        after = ".".join([*map(decoded, [*above[depth:], name]), ""])
        for binding in listed(system, "ssd:ParameterBindings", "ssd:ParameterBinding"):
            _rename_in(binding, before, after, patch)
    return patch


def _rename_in(binding: etree._Element, before: str, after: str, patch: Patch) -> None:
    """Rename in the values of a binding, as far as they stand in the file."""
    prefix = binding.get("prefix", "")
    if prefix.startswith(before):
        patch.set(binding, "prefix", after + prefix[len(before) :])
    if prefix:
        return
    for parameter in binding.iter(full("ssv:Parameter"), full("ssm:MappingEntry")):
        key = "name" if tag(parameter) == "ssv:Parameter" else "target"
        text = parameter.get(key, "")
        if text.startswith(before):
            patch.set(parameter, key, after + text[len(before) :])


def move(markup: Markup, path: str, into: str) -> Patch:
    """Put a part into another system, as it stands in the file."""
    patch = Patch(markup)
    part, target = part_at(markup.root, path), part_at(markup.root, into)
    text = markup.source(part)
    holder = part.getparent()
    patch.remove(part if holder is None or len(children(holder)) > 1 else holder)
    elements = child(target, "ssd:Elements")
    if elements is not None:
        patch.insert(elements, text, None)
        return patch
    prefix = f"{target.prefix}:" if target.prefix else ""
    wrapped = f"<{prefix}Elements>".encode() + text + f"</{prefix}Elements>".encode()
    patch.insert(target, wrapped, first_behind(target, "ssd:Elements"))
    return patch
