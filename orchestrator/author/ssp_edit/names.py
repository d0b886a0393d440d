"""Names and places of parts in a file: changed with all that refers to them."""

from __future__ import annotations

from lxml import etree

from orchestrator.author.ssp_edit.patch import Markup, Patch
from orchestrator.author.ssp_edit.values import element_at
from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.element_names import decoded
from orchestrator.core.ssp.common.names import child, full, listed, tag
from orchestrator.core.system import SEPARATOR


def part_at(root: etree._Element, path: str) -> etree._Element:
    """Return the element of a component or nested system."""
    found = element_at(root, tuple(path.split(SEPARATOR)) if path else ())
    if found is None:
        raise SspError(f"'{path}' stands in a file of its own; change that file")
    return found


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
    group = part.getparent()
    alone = group is not None and len(list(group.iterchildren("*"))) == 1
    patch.remove(group if alone and group is not None else part)
    elements = child(target, "ssd:Elements")
    if elements is not None:
        patch.insert(elements, text, None)
        return patch
    prefix = f"{target.prefix}:" if target.prefix else ""
    wrapped = f"<{prefix}Elements>".encode() + text + f"</{prefix}Elements>".encode()
    later = ("ssd:Connectors", "ssd:ElementGeometry", "ssd:ParameterBindings")
    inside = [each for each in target if isinstance(each.tag, str)]
    patch.insert(target, wrapped, next((e for e in inside if tag(e) not in later), None))
    return patch
