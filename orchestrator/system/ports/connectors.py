"""Connectors that are also found by former names, with a warning that says the present one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cache

from orchestrator.system.ports.connector import Connector

_LOGGER = logging.getLogger(__name__)


class Connectors(Mapping[str, Connector]):
    """Connectors by name, some of which had another one: that finds them as well.

    Parameters
    ----------
    owner
        What has them, for the warning.
    connectors
        By their present names, which are those that are iterated over.
    """

    def __init__(self, owner: str, connectors: Mapping[str, Connector]) -> None:
        self.owner = owner
        self._connectors = dict(connectors)
        self._former = {c.formerly: c.name for c in connectors.values() if c.formerly}

    def __getitem__(self, name: str) -> Connector:
        return self._connectors[self.present(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._connectors)

    def __len__(self) -> int:
        return len(self._connectors)

    def __repr__(self) -> str:
        return repr(self._connectors)

    def present(self, name: str) -> str:
        """Return the present name of a connector that may be given by its former one."""
        if name in self._connectors or name not in self._former:
            return name
        warn_of_former(self.owner, name, self._former[name])
        return self._former[name]


@cache
def warn_of_former(owner: str, former: str, present: str) -> None:
    """Warn once in a process."""
    _LOGGER.warning(
        "%s: '%s' is now called '%s'; the former name is still read, write the new one",
        owner,
        former,
        present,
    )


def finding_former(owner: str, connectors: Mapping[str, Connector]) -> Mapping[str, Connector]:
    """Return connectors that are also found by their former names, where they had others."""
    if any(connector.formerly for connector in connectors.values()):
        return Connectors(owner, connectors)
    return connectors
