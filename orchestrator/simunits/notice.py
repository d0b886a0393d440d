"""What a unit has to tell whoever runs it: that it warns, or that it left the run's purpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.system import seconds


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a unit noticed while it ran.

    Parameters
    ----------
    time_ns
        When, in nanoseconds.
    what
        What it found and did, in words.
    advice
        What to do.
    safe
        Whether the unit went to its safe state: from then on the run is not what it was meant to
        be, however good the numbers look.
    component
        Whose notice it is; the master fills it in.
    """

    time_ns: int
    what: str
    advice: str = ""
    safe: bool = False
    component: str = ""

    def __str__(self) -> str:
        kind = "SAFE STATE" if self.safe else "warning"
        advice = f"; {self.advice}" if self.advice else ""
        at = f"{seconds(self.time_ns):.9g} s"
        return f"{kind} of component '{self.component}' at {at}: {self.what}{advice}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, time in seconds."""
        return {
            "component": self.component,
            "time_s": seconds(self.time_ns),
            "safe": self.safe,
            "what": self.what,
            "advice": self.advice,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Notice:
        """Return what :meth:`as_json` was made of."""
        return cls(
            time_ns=round(told["time_s"] * 1e9),
            what=told["what"],
            advice=told["advice"],
            safe=told["safe"],
            component=told["component"],
        )
