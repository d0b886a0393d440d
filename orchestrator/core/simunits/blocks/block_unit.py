"""A Python block as a simulation unit."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    SoftdockError,
    StepError,
    exits_are_errors,
    with_article,
)
from orchestrator.core.simunits.blocks.block import INPUT_ORDER, Block
from orchestrator.core.simunits.blocks.block_file import is_of_file
from orchestrator.core.simunits.protocol import (
    Capabilities,
    Notice,
    SimulationUnit,
    UnitDescription,
)
from orchestrator.core.system import Causality, Connector, DataType, Value, seconds
from orchestrator.engine import PythonUnit, place_of

if TYPE_CHECKING:
    from types import TracebackType

    from orchestrator.core.simunits.protocol import Floats

#: Files whose frames are not those of a block: what it inherits, and what calls it.
_FOREIGN = frozenset(
    function.__code__.co_filename
    for function in (Block.step, seconds, SoftdockError.__init__, contextmanager)
) | {__file__}

_PLAIN = (type(None), bool, int, float, str)
_KINDS = "biufc"
_DTYPE = re.compile(rf"[<>|=][{_KINDS}]\d{{1,2}}")


def encode(state: object) -> bytes:
    """Write numbers, text, arrays, and lists, tuples and dictionaries of them."""
    return json.dumps(_pack(state, "state")).encode()


def decode(data: bytes) -> Any:
    """Return what :func:`encode` was given, in the same types."""
    try:
        return _unpack(json.loads(data))
    except (KeyError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"not the state of a block: {error!r}") from None


def _pack(value: object, location: str) -> Any:
    if type(value) in _PLAIN:
        return value  # Python writes floats with all digits that tell them apart
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if type(value) in {list, tuple}:
        elements: Any = value
        packed = [_pack(v, f"{location}[{i}]") for i, v in enumerate(elements)]
        return {type(value).__name__: packed}
    if type(value) is dict:
        items = [
            [_pack(k, f"{location} key"), _pack(v, f"{location}[{k!r}]")] for k, v in value.items()
        ]
        return {"dict": items}
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        return {"scalar": _pack_array(np.asarray(value))}
    if type(value) is np.ndarray and value.dtype.kind in _KINDS:
        return {"array": _pack_array(value)}
    raise CapabilityError(
        f"{location} is {with_article(type(value).__name__)}; a file can hold numbers, text,"
        " bytes, arrays of"
        " numbers, and lists, tuples and dictionaries of them"
    )


def _pack_array(array: np.ndarray[Any, Any]) -> list[Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.str, list(array.shape), data]


def _unpack(packed: Any) -> Any:
    if type(packed) in _PLAIN:
        return packed
    ((kind, content),) = packed.items()
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "list":
        return [_unpack(v) for v in content]
    if kind == "tuple":
        return tuple(_unpack(v) for v in content)
    if kind == "dict":
        return {_unpack(k): _unpack(v) for k, v in content}
    if kind not in {"array", "scalar"}:
        raise KeyError(kind)
    dtype, shape, data = content
    if not _DTYPE.fullmatch(dtype):
        raise TypeError(f"dtype {dtype!r}")
    array = np.frombuffer(base64.b64decode(data), dtype=np.dtype(dtype)).reshape(shape).copy()
    return array if kind == "array" else array[()]


_CODES = {DataType.REAL: "f", DataType.INTEGER: "i", DataType.BOOLEAN: "b"}


def describe_block(name: str, kind: type[Block]) -> UnitDescription:
    """Read a block class's declarations."""
    kind.expect_declared()
    module = kind.__module__
    if is_of_file(module):  # the number of the module differs from process to process
        module = module.partition(".")[2]
    return UnitDescription(
        name=name,
        connectors=kind.connectors,
        feedthrough=kind.feedthrough,
        capabilities=Capabilities(
            can_roll_back=True,
            can_serialize=True,
            longest_step=kind.longest_step,
            input_order=INPUT_ORDER if kind.follows_inputs() else 0,
        ),
        has_states=bool(kind.states),
        tunable=kind.tunable,
        ranges={
            name: connector.limits
            for name, connector in kind.connectors.items()
            if connector.limits
        },
        details={"kind": "Python block", "class": f"{module}.{kind.__qualname__}"},
    )


class BlockUnit(SimulationUnit):
    """Runs one instance of a block."""

    def __init__(self, name: str, description: UnitDescription, block: Block) -> None:
        self.block = block
        self._waveforms: dict[str, Floats] = {}
        self._before: dict[str, Any] | None = None  # what it was when it was first initialised
        super().__init__(name, description, PythonUnit(block, name, [], []))

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            connector = self.description.connectors[name]
            if (refusal := connector.refusal(value)) is not None:
                raise DescriptionError(f"component '{self.name}': parameter '{name}': {refusal}")
            self.block.assign(connector, value)

    def _bind(self) -> None:
        native = PythonUnit(
            self.block,
            self.name,
            [self._port(connector) for connector in self.inputs],
            [self._port(connector) for connector in self.outputs],
        )
        native.bind_texts(
            [(c.name, c.type is DataType.BINARY) for c in self.text_inputs],
            [(c.name, c.type is DataType.BINARY) for c in self.text_outputs],
        )
        if self.block.follows_inputs():
            self._waveforms = self.block.held_inputs()
            native.bind_waveforms(
                MappingProxyType(self._waveforms),
                [self._waveforms.get(connector.name) for connector in self.inputs],
            )
        self.native = native

    def _port(self, connector: Connector) -> tuple[str, str, object]:
        array = getattr(self.block, connector.name) if connector.shape else None
        if array is not None and not (
            isinstance(array, np.ndarray)
            and array.shape == connector.shape
            and array.dtype == np.float64
            and array.flags.c_contiguous
        ):
            raise DescriptionError(
                f"component '{self.name}': array connector '{connector.name}' was replaced;"
                f" expected a contiguous float64 array of shape {connector.shape}:"
                f" write into it, self.{connector.name}[...] = value"
            )
        return connector.name, _CODES[connector.type], array

    def _initialise_outputs(self, start_ns: int) -> None:
        """Initialise the block once: what an earlier pass made it remember is put back first."""
        try:
            if self._before is None:
                self._before = self._memory()
            else:  # but for the inputs
                inputs = {c.name: self._value(c) for c in self.description.of(Causality.INPUT)}
                self.block.set_state(self._before)
                for name, value in inputs.items():
                    self.block.assign(self.block.connectors[name], value)
            with exits_are_errors():
                self.block.initialise(seconds(start_ns))
        except Exception as error:
            raise self._failure("initialising", error) from error

    def _memory(self) -> dict[str, Any]:
        """Everything declared, also of a block that keeps more and so cannot save its state."""
        try:
            return self.block.get_state()
        except CapabilityError:
            names = (*self.block.connectors, *self.block.states)
            return {name: deepcopy(getattr(self.block, name)) for name in names}

    def _exit_initialisation(self) -> None:
        """Take over the inputs that nothing is connected to: a block is ready to step."""
        for name, values in self.block.held_inputs().items() if self._waveforms else ():
            self._waveforms[name][:] = values

    def _get_state(self) -> object:
        try:
            with exits_are_errors():
                return self.block.get_state()
        except CapabilityError as error:
            raise CapabilityError(f"component '{self.name}': {error}") from None
        except Exception as error:
            raise self._failure("saving its state", error) from error

    def _set_state(self, state: object) -> None:
        if not isinstance(state, dict):
            raise TypeError(f"expected a state of this block, found {type(state).__name__}")
        try:
            with exits_are_errors():
                self.block.set_state(state)
        except Exception as error:
            raise self._failure("restoring a state", error) from error

    def _failure(self, doing: str, error: Exception) -> StepError:
        location = place_of(_own_frames(error.__traceback__)) or _class_location(type(self.block))
        return StepError(
            f"component '{self.name}' failed while {doing}: {type(error).__name__}:"
            f" {error}{location}"
        )

    def _serialize(self, state: object) -> bytes:
        try:
            return encode(state)
        except CapabilityError as error:
            raise CapabilityError(f"component '{self.name}': its {error}") from None

    def _deserialize(self, data: bytes) -> object:
        try:
            state = decode(data)
            if not isinstance(state, dict):
                raise TypeError(f"expected values by name, found {type(state).__name__}")
        except (ValueError, TypeError) as error:
            raise self._failure("reading its state from bytes", error) from None
        return state

    def _value(self, connector: Connector) -> Value | Floats:
        value: Value | Floats = getattr(self.block, connector.name)
        return value.copy() if isinstance(value, np.ndarray) else value

    def notices(self) -> tuple[Notice, ...]:
        """Return what the block says of the run so far."""
        return tuple(replace(notice, component=self.name) for notice in self.block.notices())

    def exception(self) -> BaseException | None:
        """Return the exception that the block raised, if it did."""
        return self.native.take_exception() if isinstance(self.native, PythonUnit) else None

    def location_of(self, error: BaseException | None) -> str:
        """Return where the class of the block is, for an error outside of its code."""
        is_outside = error is not None and error.__traceback__ is None
        return _class_location(type(self.block)) if is_outside else ""


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the frames of an error from the first one in the block's own file; ``None``: none.

    Frames of this package and of ``contextlib``, such as the default of ``initialise``, are not the
    block's own.
    """
    frame = trace
    while frame is not None and frame.tb_frame.f_code.co_filename in _FOREIGN:
        frame = frame.tb_next
    return frame


def _class_location(kind: type[Block]) -> str:
    """Return where a class of blocks is defined, for an error outside of its own code."""
    import inspect

    try:
        return f" ({inspect.getsourcefile(kind)}, line {inspect.getsourcelines(kind)[1]})"
    except (OSError, TypeError):
        return ""
