"""A bus: signals that systems share by the name of a dictionary, wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.core.system.ports.connector import Connector


@dataclass(frozen=True, slots=True)
class Bus:
    """A place where a system reaches a signal dictionary (SSP: SignalDictionaryReference).

    Every entry of a dictionary is one signal: one connection writes it and any number read it, in
    whatever systems the dictionary is referred to.

    Parameters
    ----------
    name
        Unique within the system, beside its components and nested systems.
    dictionary
        Name of the dictionary.
    connectors
        The entries by name.
    """

    name: str
    dictionary: str
    connectors: Mapping[str, Connector] = field(default_factory=dict)
