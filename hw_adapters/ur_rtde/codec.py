"""The packages of RTDE, protocol version 2: recipes, data, messages.

References
----------
Universal Robots: Real-Time Data Exchange (RTDE) Guide. Everything is big endian; a package begins
with its size, these three bytes included, and its type.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.rig.devices import WireFormatError

Number = float | int | bool
_HEADER = struct.Struct(">HB")
#: The answer to a recipe of 2048 bytes is shorter; what is longer is no package.
_MOST_BYTES = 4096
_VERSION = 2
_TYPES = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT32": "I",
    "UINT64": "Q",
    "INT32": "i",
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "VECTOR6UINT32": "6I",
}
#: What stands for the type of a variable that cannot be had.
REFUSALS = {
    "NOT_FOUND": "the controller does not know it",
    "IN_USE": "another client has it",
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to a version, a start or a pause.

    Parameters
    ----------
    kind
        ``V``, ``S`` or ``P``.
    accepted
        Whether it is done.
    """

    kind: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """The answer to a list of variables.

    Parameters
    ----------
    kind
        ``O``: outputs of the robot; ``I``: inputs.
    number
        By which data packages name it; 0: it is refused.
    types
        Of the variables in their order, or why one cannot be had (:data:`REFUSALS`).
    """

    kind: str
    number: int
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextMessage:
    """What people shall read; level 0: exception, 1: error, 2: warning, 3: information."""

    text: str
    source: str
    level: int


@dataclass(frozen=True, slots=True)
class Data:
    """The values of a recipe, not taken apart yet."""

    number: int
    content: bytes


Message = Accepted | Recipe | TextMessage | Data


def request_version() -> bytes:
    """Ask for version 2 of the protocol."""
    return _package("V", struct.pack(">H", _VERSION))


def set_up_outputs(names: Sequence[str], frequency: float) -> bytes:
    """Ask for variables of the robot, so many times per second."""
    return _package("O", struct.pack(">d", frequency) + ",".join(names).encode())


def set_up_inputs(names: Sequence[str]) -> bytes:
    """Ask for variables that are written."""
    return _package("I", ",".join(names).encode())


def start() -> bytes:
    """Ask for the data to flow."""
    return _package("S", b"")


def pause() -> bytes:
    """Ask for the data to stop."""
    return _package("P", b"")


def encode_data(recipe: Recipe, values: Sequence[Number]) -> bytes:
    """Write the values of a recipe, vectors one number after the other.

    Raises
    ------
    WireFormatError
        If a value is not finite, does not fit its type, or there are more or fewer.
    """
    if not all(map(math.isfinite, values)):
        raise _package_error(f"expected finite values, found {tuple(values)}")
    try:
        content = struct.pack(_layout(recipe), *values)
    except struct.error as error:
        raise _package_error(f"values that do not fit {','.join(recipe.types)}: {error}") from None
    return _package("U", bytes((recipe.number,)) + content)


def decode_data(recipe: Recipe, data: Data) -> tuple[Number, ...]:
    """Read the values of a recipe, vectors one number after the other.

    Raises
    ------
    WireFormatError
        If it is of another recipe, longer or shorter, or a number is not finite.
    """
    layout = _layout(recipe)
    if data.number != recipe.number or len(data.content) != struct.calcsize(layout):
        raise _package_error(
            f"data: expected {struct.calcsize(layout)} bytes of recipe {recipe.number}, found"
            f" {len(data.content)} of recipe {data.number}"
        )
    values = struct.unpack(layout, data.content)
    if not all(map(math.isfinite, values)):
        raise _package_error("data: expected finite numbers")
    if struct.pack(layout, *values) != data.content:
        raise _package_error("data: expected 0 or 1 for what is true or false")
    return values


def decode(package: bytes) -> Message:
    """Read one package.

    Raises
    ------
    WireFormatError
        If its size is another one, or it is none that a controller sends.
    """
    if len(package) < _HEADER.size or _HEADER.unpack_from(package)[0] != len(package):
        raise _package_error(f"expected a package of the size that it says, found {package[:8]!r}")
    kind, content = chr(package[2]), package[3:]
    if kind == "U" and content:
        return Data(content[0], content[1:])
    if kind in "VSP" and content in {b"\0", b"\1"}:
        return Accepted(kind, content == b"\1")
    if kind in "OI" and content:
        return Recipe(kind, content[0], _types(content[1:]))
    if kind == "M":
        return _text_message(content)
    raise _package_error(f"expected a package of a controller, found {package[:8]!r}")


class PackageSplitter:
    """Cuts a stream into packages."""

    def __init__(self) -> None:
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        """Take what came, and return the packages that are complete.

        Raises
        ------
        WireFormatError
            If a size cannot be one: nobody knows where the next package begins.
        """
        self._rest += data
        packages = []
        while len(self._rest) >= _HEADER.size:
            size, _ = _HEADER.unpack_from(self._rest)
            if not _HEADER.size <= size <= _MOST_BYTES:
                raise _package_error(f"expected a size from 3 to {_MOST_BYTES}, found {size}")
            if len(self._rest) < size:
                break
            packages.append(self._rest[:size])
            self._rest = self._rest[size:]
        return packages


def _package(kind: str, content: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(content), ord(kind)) + content


def _layout(recipe: Recipe) -> str:
    return ">" + "".join(_TYPES[type_name] for type_name in recipe.types)


def _types(content: bytes) -> tuple[str, ...]:
    try:
        type_names = tuple(content.decode("ascii").split(",")) if content else ()
    except UnicodeDecodeError:
        raise _package_error(f"expected types of variables, found {content[:20]!r}") from None
    if strange := [
        type_name
        for type_name in type_names
        if type_name not in _TYPES and type_name not in REFUSALS
    ]:
        raise _package_error(f"expected types of variables, found {strange[0][:20]!r}")
    return type_names


def _text_message(content: bytes) -> TextMessage:
    try:
        length = content[0]
        text, remaining = content[1 : 1 + length], content[1 + length :]
        source, (level,) = remaining[1 : 1 + remaining[0]], remaining[1 + remaining[0] :]
        if len(text) == length and len(source) == remaining[0] and level <= 3:
            return TextMessage(text.decode(), source.decode(), level)
    except (IndexError, ValueError):
        pass
    raise _package_error(f"expected a text message, found {content[:40]!r}")


def _package_error(message: str) -> WireFormatError:
    return WireFormatError.in_file("RTDE", message)
