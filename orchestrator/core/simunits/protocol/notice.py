"""What a unit has to tell whoever runs it: that it warns, or that it left the run's purpose."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.core.system import seconds


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
        whose = f" of component '{self.component}'" if self.component else ""
        return f"{kind}{whose} at {seconds(self.time_ns):.9g} s: {self.what}{advice}"
