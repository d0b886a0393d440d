"""States of Python blocks as text: bit for bit, and nothing is executed when it is read."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import CapabilityError

_PLAIN = (type(None), bool, int, float, str)
_KINDS = "biufc"
_DTYPE = re.compile(rf"[<>|=][{_KINDS}]\d{{1,2}}")


def encode(state: object) -> bytes:
    """Write numbers, text, arrays, and lists, tuples and dictionaries of them.

    Raises
    ------
    CapabilityError
        If anything else is in it; the message says where.
    """
    return json.dumps(_pack(state, "state")).encode()


def decode(data: bytes) -> Any:
    """Return what :func:`encode` was given, in the same types.

    Raises
    ------
    ValueError
        If the bytes are not of :func:`encode`.
    """
    try:
        return _unpack(json.loads(data))
    except (KeyError, TypeError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(f"not the state of a block: {error!r}") from None


def _pack(value: object, where: str) -> Any:
    if type(value) in _PLAIN:
        return value  # Python writes floats with all digits that tell them apart
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if type(value) in {list, tuple}:
        elements: Any = value
        packed = [_pack(v, f"{where}[{i}]") for i, v in enumerate(elements)]
        return {type(value).__name__: packed}
    if type(value) is dict:
        items = [[_pack(k, f"{where} key"), _pack(v, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"dict": items}
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        return {"scalar": _pack_array(np.asarray(value))}
    if type(value) is np.ndarray and value.dtype.kind in _KINDS:
        return {"array": _pack_array(value)}
    raise CapabilityError(
        f"{where} is a {type(value).__name__}; a file can hold numbers, text, bytes, arrays of"
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
