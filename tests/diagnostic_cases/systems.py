"""For every code that is about a system: a small one that has it, and one alike that has not."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_cases.capabilities import CAPABILITIES
from diagnostic_cases.case import Case, line, pair, with_lines
from diagnostic_cases.connectors import CONNECTORS
from diagnostic_cases.fmus import FMUS
from diagnostic_cases.loops import LOOPS
from diagnostic_cases.times import TIMES
from diagnostic_cases.values import ENUMERATIONS, VALUES

SYSTEMS: Mapping[str, Case] = {
    "FIL102": Case(lambda _: with_lines(pair(), line("nobody.y", "gain.u")), lambda _: pair()),
    **CONNECTORS,
    **VALUES,
    **ENUMERATIONS,
    **LOOPS,
    **TIMES,
    **CAPABILITIES,
    **FMUS,
}
