"""An operator's wishes to the supervisor of a rig."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from orchestrator.core.diagnostics import DeviceError
from orchestrator.rig.supervisor.place import connect_to
from orchestrator.rig.supervisor.wire import hear, tell

#: What can be wished for.
WISHES = ("status", "arm", "engage", "disengage", "stop", "quickstop", "reset", "attend")
_FORCES = ("N", "N.m")


class Operator:
    """A connection to the supervisor of a rig; used in a ``with`` statement.

    Parameters
    ----------
    rig
        Its name.

    Raises
    ------
    DeviceError
        If it has no supervisor.
    """

    def __init__(self, rig: str) -> None:
        self._rig = rig
        self._channel = connect_to(rig)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._channel.close()

    def wish(self, wish: str, **more: Any) -> dict[str, Any]:
        """Say what is wished, one of :data:`WISHES`; return the status, with ``refused``.

        ``"tune"`` asks for consent to another value: ``what`` in words, and ``margins`` with it.
        """
        try:
            tell(self._channel, {"hello": "operator", "wish": wish, **more})
            return hear(self._channel)[0]
        except (OSError, EOFError, ValueError) as error:
            raise DeviceError(f"the supervisor of rig '{self._rig}' has ended: {error}") from None


class StateLine:
    """Says in one line how a rig is, whenever it is asked; nothing while nobody watches the rig."""

    def __init__(self, rig: str) -> None:
        self._rig = rig
        self._operator: Operator | None = None

    def __call__(self) -> str:
        """Ask its supervisor."""
        try:
            self._operator = self._operator or Operator(self._rig)
            return state_line(self._operator.wish("status"))
        except DeviceError:
            self._operator = None
            return ""


def state_line(status: dict[str, Any]) -> str:
    """Return state, time, forces and margins of a rig in one line."""
    follows = status["state"] in ("BLEND", "ACTIVE")
    since = status["engaged_s" if follows else "in_state_s"] or 0.0
    told = [f"{status['rig']} {status['state']} {since:.1f} s"]
    if armed := status["armed"]:
        told.append(f"armed by {armed['by']}, {armed['left_s']:.0f} s left to engage")
    signals = status["signals"].items()
    for name, one in sorted(signals, key=lambda pair: pair[1]["unit"] not in _FORCES):
        value = "no number" if one["value"] is None else f"{one['value']:.4g} {one['unit']}"
        left = "" if one["margin"] is None else f" ({one['margin']:.3g} to its limit)"
        told.append(f"{name} {value}{left}")
    for name, one in status["margins"].items():
        told.append(f"{name} margins {one['delay_s'] * 1e3:.1f} ms, gain {one['gain']:.3g}")
    return " | ".join(told)
