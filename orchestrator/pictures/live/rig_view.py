"""The supervisor of a rig as the viewers of a page see it: what it says, and what they command."""

from __future__ import annotations

import itertools
import math
import threading
import time
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import DescriptionError, DeviceError
from orchestrator.core.optional_packages import optional_imports

if TYPE_CHECKING:
    from orchestrator.rig.supervisor.wire import Operator

#: What the operator of a rig may wish for.
OPERATIONS = ("arm", "engage", "disengage", "stop", "quickstop", "reset")
#: s, between two questions to a supervisor.
_ASK = 0.2
#: Largest number of viewers that are distinguished at a time.
_MOST = 64


def operator_of(rig: str) -> Operator:
    """Connect to the supervisor of a rig; DeviceError: it has none."""
    with optional_imports():
        from orchestrator.rig.supervisor.wire import Operator
    return Operator(rig)


class RigView:
    """Asks the supervisor of a rig for all viewers of a page.

    All viewers connect through one process. Each of them is an operator of its own for the
    supervisor, ``page 1``, ``page 2`` and so on, so that only the one who armed a rig engages it.
    """

    def __init__(self) -> None:
        self._rig: dict[str, Any] | None = None
        self._heard = self._asked = -math.inf
        self._operator: Operator | None = None
        self._watching = threading.Lock()
        self._pages: dict[str, str] = {}
        self._numbers = itertools.count(1)

    def page_of(self, viewer: str) -> str:
        """Return the name of a viewer; empty: it did not say who it is."""
        if not viewer:
            return ""
        name = self._pages.pop(viewer, None) or f"page {next(self._numbers)}"
        self._pages[viewer] = name
        for oldest in list(self._pages)[:-_MOST]:
            self._pages.pop(oldest, None)
        return name

    def status(self, rig: str, viewer: str = "") -> dict[str, Any] | None:
        """Return what the supervisor said last, and how long ago; nobody waits for a silent one."""
        page = self.page_of(viewer)
        if time.monotonic() - self._asked >= _ASK and self._watching.acquire(blocking=False):
            self._asked = time.monotonic()
            try:
                self._operator = self._operator or operator_of(rig)
                self._rig = self._operator.wish("status", pages=list(self._pages.values()))
                self._heard = time.monotonic()
            except DeviceError:
                self._operator = None
            finally:
                self._watching.release()
        if self._rig is None:
            return None
        status = {**self._rig, "age_s": time.monotonic() - self._heard}
        page_status = status.pop("pages", {}).get(page)
        return status if page_status is None else {**status, **page_status}

    def operate(self, rig: str, wish: str, viewer: str = "") -> None:
        """Let a supervisor have a wish of a viewer; DescriptionError: it is refused."""
        if wish not in OPERATIONS:
            raise DescriptionError(f"expected one of {', '.join(OPERATIONS)}")
        page = self.page_of(viewer)
        with operator_of(rig) as operator:
            answer = operator.wish(wish, page=page) if page else operator.wish(wish)
        if "refused" in answer:
            raise DescriptionError(answer["refused"])
