"""Classes of a block whose ports have a physical unit that is known only with the experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Generic, TypeVar

from orchestrator.core.simunits import Block

B = TypeVar("B", bound=Block)


class BlockInUnit(Generic[B]):
    """A class of a block for each unit.

    Parameters
    ----------
    base
        The block; its module has ``__getattr__ = <this>.named``, so that a process that was sent a
        prepared system finds the classes, too.
    ports
        Gives the ports that have the unit, all Reals, by name.
    """

    def __init__(self, base: type[B], ports: Callable[[str], Mapping[str, object]]) -> None:
        self._base, self._ports = base, ports
        self._prefix = f"{base.__name__} in "
        self.of = cache(self._made)

    def _made(self, unit: str) -> type[B]:
        ports = self._ports(unit)
        annotations = dict.fromkeys(ports, float)
        members = {"__module__": self._base.__module__, "__annotations__": annotations, **ports}
        return type(f"{self._prefix}{unit}", (self._base,), members)

    def named(self, name: str) -> type[B]:
        """Return the class of a name."""
        if not name.startswith(self._prefix):
            raise AttributeError(f"module '{self._base.__module__}' has no attribute '{name}'")
        return self.of(name.removeprefix(self._prefix))
