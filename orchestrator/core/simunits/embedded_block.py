"""A block inside an FMU that runs Python: the half of pythonfmu's slave that is ours."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from orchestrator.core.diagnostics import PluginError, exits_are_errors
from orchestrator.core.simunits.blocks.block import Block
from orchestrator.core.simunits.blocks.block_unit import decode, encode
from orchestrator.core.system import DataType, Value


class EmbeddedBlock:
    """Mixed into ``Fmi2Slave`` of pythonfmu or ``Fmi3Slave`` of pythonfmu3.

    A subclass in the FMU says which block it is, and what its value references mean; the variables
    of the tools themselves are not used. Outputs before the first step are those of ``initialise``
    with the inputs and parameters that were set last.

    module, kind: Where the block's class is.
    values: Its parameters, and start values of inputs.
    places: For each value reference a connector, the first of its elements and their number; the
        last two are 0 for a scalar. Without a connector it is time.
    failure, error: What ``do_step`` returns after an error, ``None`` if it raises, and the status
        of a message; of the tool.
    """

    module: ClassVar[str]
    kind: ClassVar[str]
    values: ClassVar[Mapping[str, Value]]
    places: ClassVar[Mapping[int, tuple[str, int, int]]]
    failure: ClassVar[Any]
    error: ClassVar[Any]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tool: Any = self  # the other half of this object
        self._block: Block = _class_of(self.module, self.kind)(**self.values)
        self._start = self._block.get_state()
        self._given: dict[str, Any] = {}
        self._time = 0.0
        self._stepping = False
        self._stale = True

    def setup_experiment(self, start_time: float, *_: Any) -> None:
        """Take note of the start time, in seconds."""
        self._time = start_time
        self._stale = True

    def exit_initialization_mode(self) -> None:
        """Fix what the block starts from."""
        self._refresh()
        self._stepping = True

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Advance by one communication step, in seconds."""
        longest = self._block.longest_step
        try:
            if longest is not None and step_size > longest * (1 + 1e-9):
                raise ValueError(f"a step of {step_size} s; it takes {longest} s at most")
            with exits_are_errors():
                self._block.step(current_time, step_size)
        except Exception as error:
            message = f"block {self.kind} failed at t = {current_time} s: {error!r}"
            self._tool.log(message, self.error)
            if self.failure is None:
                self._keep()
                raise
            return self.failure
        self._time = current_time + step_size
        return True

    def _keep(self) -> None:
        """Make up for an exception, after which the tools give back their references twice."""
        for held in (self, type(self), self._tool.log_queue):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))

    def _refresh(self) -> None:
        """Let the outputs agree with what was set, before the first step."""
        if self._stepping or not self._stale:
            return
        self._block.set_state(self._start)
        for name, value in self._given.items():
            self._block.assign(self._block.connectors[name], value)
        try:
            with exits_are_errors():
                self._block.initialise(self._time)
        except Exception:
            self._keep()
            raise
        self._stale = False

    def _get(self, references: Sequence[int]) -> list[Any]:
        self._refresh()
        values_read: list[Any] = []
        for reference in references:
            name, first, count = self.places[reference]
            value = getattr(self._block, name) if name else self._time
            values_read += np.ravel(value).tolist()[first : first + count] if count else [value]
        return values_read

    def _set(self, references: Sequence[int], values: Sequence[Any]) -> None:
        remaining = list(values)
        for reference in references:
            name, first, count = self.places[reference]
            connector = self._block.connectors[name]
            value: Any = remaining.pop(0) if not count else None
            if count:
                value = np.ravel(getattr(self._block, name)).copy()
                value[first : first + count] = remaining[:count]
                del remaining[:count]
            elif connector.type is DataType.BOOLEAN:
                value = bool(value)
            self._block.assign(connector, value)
            if not self._stepping:
                self._given[name] = value
                self._stale = True

    def _get_fmu_state(self) -> dict[str, Any]:
        self._refresh()
        text = encode(self._block.get_state()).decode()
        return {"block": text, "time": self._time, "stepping": self._stepping}

    def _set_fmu_state(self, state: Mapping[str, Any]) -> None:
        block_state: Any = decode(state["block"].encode())
        self._block.set_state(block_state)
        self._time, self._stepping = state["time"], state["stepping"]
        names = {name for name, _, _ in self.places.values() if name}
        inputs = (n for n in names if self._block.connectors[n].causality != "output")
        self._given = {} if self._stepping else {name: block_state[name] for name in inputs}
        self._stale = not self._stepping

    get_real = get_float64 = get_integer = get_int32 = get_boolean = _get
    set_real = set_float64 = set_integer = set_int32 = set_boolean = _set


def _class_of(module: str, name: str) -> type[Block]:
    try:
        with exits_are_errors():
            value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except Exception as error:
        raise PluginError(
            f"block {name} of {module}: cannot be imported by this Python, {error}; install the"
            " package that defines it, and softdock"
        ) from error
    kind: type[Block] = value
    return kind
