"""What goes wrong with an emulated drive on purpose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hw_adapters.canopen_cia402.emulated_drive import EmulatedDrive
from hw_adapters.canopen_cia402.tachometer import CutTachometer
from orchestrator import DescriptionError

_FAULT = re.compile(r"(\d+):(mute|dead|deaf|reset|blocked|cut|[0-9a-fA-F]{4}):(\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class DriveFault:
    """A fault of one drive.

    Parameters
    ----------
    node
        Whose.
    kind
        ``mute``: no heartbeat; ``dead``: nothing at all, and no torque; ``deaf``: it hears no SYNC
        and no RPDO; ``reset``: it starts anew; ``blocked``: its shaft stands; ``cut``: its
        tachometer shows nothing; four hexadecimal digits: an emergency of that code, with the
        reaction to a fault.
    after
        Seconds after it was enabled first.
    """

    node: int
    kind: str
    after: float

    def inject(self, drive: EmulatedDrive) -> None:
        """Let it happen; a dead drive is taken off the line by who has the line."""
        if self.kind == "mute":
            drive.is_mute = True
        elif self.kind == "deaf":
            drive.is_deaf = True
        elif self.kind == "reset":
            drive.boot()
        elif self.kind == "blocked":
            drive.shaft.is_blocked = True
        elif self.kind == "cut":
            drive.tachometer = CutTachometer()
        elif self.kind != "dead":
            drive.fail(int(self.kind, 16))


def read_drive_faults(text: str, nodes: Sequence[int]) -> list[DriveFault]:
    """Read ``NODE:KIND:SECONDS``, several between commas.

    Raises
    ------
    DescriptionError
        If one is none, or its node is not on the line.
    """
    faults = []
    for part in filter(None, text.split(",")):
        match = _FAULT.fullmatch(part.strip())
        if match is None or int(match[1]) not in nodes:
            raise DescriptionError.about(
                f"drive fault '{part}': expected NODE:KIND:SECONDS with a node of"
                f" {', '.join(map(str, nodes))} and mute, dead, deaf, reset, blocked, cut or"
                " four hexadecimal digits",
                key="drive-fault",
            )
        faults.append(DriveFault(int(match[1]), match[2], float(match[3])))
    return faults
