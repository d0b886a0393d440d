"""An operator's wishes to the supervisor of a rig."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from orchestrator.core.diagnostics import DeviceError
from orchestrator.rig.supervisor.place import connect_to
from orchestrator.rig.supervisor.wire import hear, tell

#: What can be wished for.
WISHES = ("status", "arm", "engage", "disengage", "stop", "quickstop", "reset", "attend")


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

    def wish(self, wish: str) -> dict[str, Any]:
        """Say what is wished, one of :data:`WISHES`; return the status, with ``refused``."""
        try:
            tell(self._channel, {"hello": "operator", "wish": wish})
            return hear(self._channel)[0]
        except (OSError, EOFError, ValueError) as error:
            raise DeviceError(f"the supervisor of rig '{self._rig}' has ended: {error}") from None
