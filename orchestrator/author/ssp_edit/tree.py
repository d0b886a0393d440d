"""What differs between two SSDs, made in a third that says the same as the first.

The two are written by Softdock of a system before and after a change, so they differ in what was
changed and in nothing else. The third is the user's file, which may say more, in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from copy import deepcopy
from typing import Final

from lxml import etree

from orchestrator.author.ssp_edit.patch import Patch
from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.names import children, full, tag
from orchestrator.core.ssp.common.schema import CHILDREN

Key = tuple[str, ...]

#: What tells elements of one kind apart.
_NAMED: Final = {
    "ssd:Connection": ("startElement", "startConnector", "endElement", "endConnector"),
    "ssc:Annotation": ("type",),
    "ssc:MapEntry": ("source",),
}
#: Definitions that are no longer used may stay: others may use them.
_KEPT: Final = {"ssc:Unit", "ssc:Enumeration"}
#: Hold others and say nothing themselves: one that is empty goes.
_GROUPS: Final = {
    "ssd:Connectors",
    "ssd:Elements",
    "ssd:Connections",
    "ssd:Annotations",
    "ssd:SignalDictionaries",
}
#: Values are set where the file has them: see edit_values.
_LEFT_OUT: Final = {"ssd:ParameterBindings"}
#: Parts of a system, which may stand in another file.
_PARTS: Final = {"ssd:Component", "ssd:System", "ssd:SignalDictionaryReference"}


def apply_diff(
    old: etree._Element, new: etree._Element, actual: etree._Element, patch: Patch
) -> None:
    """Add to a patch what makes an element of the user's file say what the new one says."""
    for name in dict.fromkeys([*map(str, old.attrib), *map(str, new.attrib)]):
        if old.get(name) != new.get(name):
            patch.set(actual, name, new.get(name))
    before, after, here = _keyed(old), _keyed(new), _keyed(actual)
    leaving = list(_leaving(before, after, here, patch))
    previous: etree._Element | None = None
    for key, element in after.items():
        previous_element, counterpart = before.get(key), _counterpart(here, key)
        if previous_element is not None and not _differ(previous_element, element):
            previous = counterpart if counterpart is not None else previous
        elif previous_element is not None and counterpart is not None:
            apply_diff(previous_element, element, counterpart, patch)
            previous = counterpart
        elif previous_element is not None and key[0] in _PARTS:
            _expect_values_only(previous_element, element)
        elif counterpart is None:
            follower = _follower(actual, key[0], previous, leaving)
            patch.insert(actual, element, follower, rank_in(actual, key[0]))
        elif key[0] in _GROUPS:  # others have something in it
            apply_diff(etree.Element(element.tag), element, counterpart, patch)
    _drop_empty(actual, leaving, after, patch)


def _leaving(
    before: dict[Key, etree._Element],
    after: dict[Key, etree._Element],
    here: dict[Key, etree._Element],
    patch: Patch,
) -> Iterator[etree._Element]:
    """Take out what the new file does not have, and yield it."""
    for key, element in before.items():
        counterpart = _counterpart(here, key)
        if key in after or counterpart is None or key[0] in _KEPT:
            continue
        if key[0] in _GROUPS:  # what others have put there stays
            apply_diff(element, etree.Element(element.tag), counterpart, patch)
        else:
            patch.remove(counterpart)
            yield counterpart


def _keyed(element: etree._Element) -> dict[Key, etree._Element]:
    """Children by what identifies them; equals are counted."""
    elements: dict[Key, etree._Element] = {}
    counts: Counter[Key] = Counter()
    for child in children(element):
        name = tag(child)
        if name in _LEFT_OUT:
            continue
        attributes = _NAMED.get(name, ("name",))
        key = (name, *(child.get(attribute, "") for attribute in attributes))
        counts[key] += 1
        elements[(*key, str(counts[key]))] = child
    return elements


def _counterpart(here: dict[Key, etree._Element], key: Key) -> etree._Element | None:
    """Find an element in the user's file; its connections may begin where the signal ends."""
    counterpart = here.get(key)
    if counterpart is None and key[0] == "ssd:Connection":
        name, start, source, end, target, number = key
        return here.get((name, end, target, start, source, number))
    return counterpart


def _differ(first: etree._Element, second: etree._Element) -> bool:
    return etree.tostring(first, method="c14n") != etree.tostring(second, method="c14n")


def _expect_values_only(before: etree._Element, element: etree._Element) -> None:
    """Refuse changes of a part that stands in a file of its own, but for values, set from here."""
    if _differ(_without_values(before), _without_values(element)):
        raise SspError(
            f"'{element.get('name')}' is in a file of its own, which its source names; change"
            " that file"
        )


def _without_values(element: etree._Element) -> etree._Element:
    copy = deepcopy(element)
    etree.strip_elements(copy, full("ssd:ParameterBindings"))
    etree.indent(copy)
    return copy


def _follower(
    actual: etree._Element,
    name: str,
    previous: etree._Element | None,
    leaving: list[etree._Element],
) -> etree._Element | None:
    """Return the child that something new comes before; ``None`` if it comes last.

    It comes behind the one that it is behind in the new file, else before what the schema expects
    later.
    """
    if previous is not None and tag(previous) == name:
        return next((e for e in previous.itersiblings("*") if e not in leaving), None)
    return first_behind(actual, name, leaving)


def first_behind(
    parent: etree._Element, name: str, leaving: Collection[etree._Element] = ()
) -> etree._Element | None:
    """Return the first child that stays and that the schema expects behind elements of a name."""
    rank = rank_in(parent, name)
    later = (child for child in children(parent) if rank_in(parent, tag(child)) > rank)
    return next((child for child in later if child not in leaving), None)


def rank_in(parent: etree._Element, name: str) -> int:
    """Return the place that the schema gives to elements of a name, among those of a parent."""
    order = CHILDREN.get(tag(parent), ())
    return order.index(name) if name in order else len(order)


def _drop_empty(
    actual: etree._Element,
    elements: list[etree._Element],
    after: dict[Key, etree._Element],
    patch: Patch,
) -> None:
    """Take out a group whose last element leaves: the schema requires at least one."""
    remaining = [child for child in children(actual) if child not in elements]
    if elements and not remaining and not after and tag(actual) in _GROUPS:
        patch.remove(actual)
