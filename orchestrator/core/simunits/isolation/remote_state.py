"""States of a unit that lie in its process."""

from __future__ import annotations

import weakref

from orchestrator.core.diagnostics import StepError


class RemoteState:
    """Stands for a state in a process."""

    def __init__(self, process: int, number: int) -> None:
        self.process = process
        self.number = number


class RemoteStates:
    """The states that lie in one process; those that nobody holds any more can be freed there.

    Parameters
    ----------
    name
        The component's name, for messages.
    process
        Number of the process.
    """

    def __init__(self, name: str, process: int) -> None:
        self._name = name
        self._process = process
        self._dropped: list[int] = []

    def add(self, number: int) -> RemoteState:
        """Return what stands for the state of a number."""
        state = RemoteState(self._process, number)
        weakref.finalize(state, self._dropped.append, number).atexit = False
        return state

    def number(self, state: object, *, alive: bool) -> int:
        """Return a state's number in a process that may be alive or not.

        Raises
        ------
        TypeError
            If it is no state of a unit in a process of its own.
        StepError
            If it lay in another process, or this one has ended.
        """
        if not isinstance(state, RemoteState):
            raise TypeError(f"expected a state of this unit, found {type(state).__name__}")
        if state.process != self._process or not alive:
            raise StepError(
                f"component '{self._name}': the state was saved in a process that has ended; use"
                " the stored() copy of a checkpoint"
            )
        return state.number

    def take_dropped(self) -> list[int]:
        """Return the numbers of states that nobody holds, once."""
        dropped = self._dropped[:]
        del self._dropped[: len(dropped)]
        return dropped
