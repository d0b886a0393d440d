"""Signals as results name them: ``component.connector``, and ``[i]`` behind it for an element."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.system.lines.connection import Endpoint
from orchestrator.core.system.ports.connector import Connector

if TYPE_CHECKING:
    from orchestrator.core.system.system import System

_ELEMENT = re.compile(r"(?P<whole>.+)\[(?P<index>\d+)\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Signal:
    """What the name of a signal means.

    Parameters
    ----------
    end, connector
        Of the component.
    index
        Which element of an array, from 0; ``None`` if it is the whole connector.
    """

    end: Endpoint
    connector: Connector
    index: int | None = None


def signal_of(system: System, name: str) -> Signal:
    """Return what a name means: a connector, or one element of an array connector.

    Brackets may belong to the connector's own name: ``"arm.phi[1]"`` is the scalar ``phi[1]`` of
    an FMU that has one, else element 1 of its array ``phi``.
    """
    end = Endpoint.parse(name)
    component = system.component(end.component)
    found = _ELEMENT.fullmatch(end.connector)
    if found and end.connector not in component.connectors:
        array, index = component.connectors.get(found["whole"]), int(found["index"])
        if array is not None and array.shape:
            if index >= array.size:
                raise UnknownNameError(
                    f"'{name}': expected an element from 0 to {array.size - 1} of"
                    f" '{found['whole']}', found {index}"
                )
            return Signal(Endpoint(end.component, array.name), array, index)
    connector = component.connector(end.connector)
    return Signal(Endpoint(end.component, connector.name), connector)
