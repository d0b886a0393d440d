"""For every code that is about a system: a small one that has it, and one alike that has not."""

from __future__ import annotations

from collections.abc import Mapping

from shapes.capabilities import CAPABILITIES
from shapes.connectors import CONNECTORS
from shapes.fmus import FMUS
from shapes.loops import LOOPS
from shapes.shape import Shape, line, pair, with_lines
from shapes.times import TIMES
from shapes.values import ENUMERATIONS, VALUES

SYSTEMS: Mapping[str, Shape] = {
    "FIL102": Shape(lambda _: with_lines(pair(), line("nobody.y", "gain.u")), lambda _: pair()),
    **CONNECTORS,
    **VALUES,
    **ENUMERATIONS,
    **LOOPS,
    **TIMES,
    **CAPABILITIES,
    **FMUS,
}
