"""What the recording of a component says of itself as a unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.simunits.logs.recorded import Recorded, read_recorded
from orchestrator.core.simunits.protocol.description import Capabilities, UnitDescription
from orchestrator.core.system import Causality, Component, Connector, Source, SourceKind, nearest
from orchestrator.core.system.naming import listed_names

_ELEMENT = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]")
_CHOICE = re.compile(r"component=(?P<name>.+)")


def recorded_of(source: Source, name: str) -> Recorded:
    """Read what a source has recorded of a component.

    Parameters
    ----------
    source
        Its location is a file, with ``?component=NAME`` if the component had another name there.
    name
        Of the component that it stands for.

    Raises
    ------
    DescriptionError, LoadError
        If there is no such file or component.
    """
    file, mark, query = source.location.partition("?")
    chosen = _CHOICE.fullmatch(query)
    if mark and chosen is None:
        raise DescriptionError(f"{source}: expected log:FILE?component=NAME, found '?{query}'")
    return read_recorded(Path(file), chosen["name"] if chosen else name)


def describe_log(source: Source, like: Component) -> UnitDescription:
    """Describe the recording of a component.

    Parameters
    ----------
    source
        What was recorded.
    like
        The component that it stands for: which of its connectors are inputs, and of what type,
        a recording does not say. Without connectors, all that was recorded is an output.

    Raises
    ------
    DescriptionError, LoadError
        As :func:`recorded_of`; or if what was recorded of an array is not all of it.
    """
    recorded = recorded_of(source, like.name)
    connectors = _told(recorded, like.connectors) if like.connectors else _all(recorded)
    outputs = [name for name, each in connectors.items() if each.causality is Causality.OUTPUT]
    return UnitDescription(
        name=recorded.file.name,
        connectors=connectors,
        feedthrough={name: _direct_inputs(like, name) for name in outputs},
        capabilities=Capabilities(can_roll_back=True),
        has_states=like.has_states,
        details={"kind": "recording", "file": str(recorded.file)},
    )


def _direct_inputs(like: Component, output: str) -> tuple[str, ...]:
    """Return what an output depended on at once: so the units are stepped in the same order.

    Files do not say it of a recording; then it is nothing, as it is in truth.
    """
    if like.source.kind is SourceKind.LOG:
        return like.feedthrough.get(output, ())
    return like.direct_inputs(output)


def _told(recorded: Recorded, known: Mapping[str, Connector]) -> dict[str, Connector]:
    """Return the inputs of a component, and those of its outputs that were recorded."""
    found = {}
    for name, connector in known.items():
        is_input = connector.causality is Causality.INPUT
        if not is_input and connector.causality is not Causality.OUTPUT:
            continue
        if not is_input and recorded.column(columns_of(connector)[0]) < 0:
            continue
        unit = recorded.units.get(columns_of(connector)[0])
        has_other = unit is not None and unit != connector.unit
        found[name] = (
            replace(connector, unit=unit, unit_definition=None) if has_other else connector
        )
    return found


def _all(recorded: Recorded) -> dict[str, Connector]:
    sizes: dict[str, int] = {}
    for column in recorded.columns:
        element = _ELEMENT.fullmatch(column)
        name = element["name"] if element else column
        sizes[name] = int(element["index"]) + 1 if element else 0
    return {
        name: Connector(
            name,
            Causality.OUTPUT,
            unit=recorded.units.get(f"{name}[0]" if size else name),
            shape=(size,) if size else (),
        )
        for name, size in sizes.items()
    }


def columns_of(connector: Connector) -> list[str]:
    """Return the columns in which a connector is recorded."""
    if connector.size == 1:
        return [connector.name]
    return [f"{connector.name}[{i}]" for i in range(connector.size)]


def output_columns(recorded: Recorded, connector: Connector) -> list[int]:
    """Return the numbers of the columns of an output.

    Raises
    ------
    UnknownNameError
        If not all of it was recorded.
    """
    found = []
    for name in columns_of(connector):
        if (number := recorded.column(name)) < 0:
            raise UnknownNameError(
                f"{recorded.file} has no output '{name}'{nearest(name, recorded.columns)};"
                f" it has: {listed_names(list(recorded.columns), name)}"
            )
        found.append(number)
    return found
