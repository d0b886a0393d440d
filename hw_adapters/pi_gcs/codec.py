"""The text of GCS 2: commands, questions, and replies of one or several lines.

References
----------
Physik Instrumente: user manual MS204E, C-887 hexapod controller, GCS 2.0. A command ends with a
line feed; of a reply of several lines every one but the last has a space before it. X, Y and Z are
in mm, U, V and W in degrees.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from orchestrator.core.files.plain_data import plain_number
from orchestrator.rig.devices import WireFormatError

AXES = ("X", "Y", "Z", "U", "V", "W")
STOP_ALL = b"\x18"
#: A reply about six axes stays below; what is longer without an end is none.
_MOST_BYTES = 4096
_ERRORS = {
    1: "parameter syntax error",
    2: "unknown command",
    5: "move without a reference, or with the servo off",
    7: "position out of limits",
    8: "velocity out of limits",
    10: "stopped by a command",
    15: "no such axis",
    23: "no such axis",
}


def command(name: str, values: Mapping[str, float]) -> bytes:
    """Write a command with a value for each axis, with 7 decimals (0.1 nm, 0.1 microdegree).

    Raises
    ------
    WireFormatError
        If a value is not finite.
    """
    if not all(map(math.isfinite, values.values())):
        raise _reply_error(f"{name}: expected finite values, found {dict(values)}")
    pairs = (f" {axis} {value:.7f}" for axis, value in values.items())
    return f"{name}{''.join(pairs)}\n".encode()


def switch_on(axes: Sequence[str]) -> bytes:
    """Write the command that switches the servo of axes on."""
    return f"SVO{''.join(f' {axis} 1' for axis in axes)}\n".encode()


def ask(*questions: str) -> bytes:
    """Write questions, such as ``POS?``."""
    return "".join(f"{question}\n" for question in questions).encode()


def question_about(question: str, axes: Sequence[str]) -> str:
    """Return a question about axes; without names it would be about others as well, such as A."""
    return " ".join((question, *axes))


def axes_of(reply: Sequence[str]) -> tuple[str, ...]:
    """Return the axes of a reply in its order."""
    return tuple(line.partition("=")[0] for line in reply)


def axis_values(reply: Sequence[str], axes: Sequence[str]) -> dict[str, float]:
    """Read a reply of a line ``AXIS=NUMBER`` for each axis.

    Raises
    ------
    WireFormatError
        If it is about other axes, or a number is none.
    """
    by_axis = {}
    for line in reply:
        axis, _, text = line.partition("=")
        if axis in by_axis:
            raise _reply_error(f"expected each axis once, found '{axis}' twice")
        by_axis[axis] = _number(text)
    if set(by_axis) != set(axes):
        raise _reply_error(f"expected axes {' '.join(axes)}, found {' '.join(by_axis)[:40]!r}")
    return by_axis


def last_digits(reply: Sequence[str]) -> float:
    """Return half of the largest last digit of the numbers of a reply, mm or degrees."""
    decimals = (len(line.partition("=")[2].strip().partition(".")[2]) for line in reply)
    return 0.5 * 10.0 ** -min(decimals, default=0)


def error_code(reply: Sequence[str]) -> int:
    """Read the reply to ``ERR?``; 0: none.

    Raises
    ------
    WireFormatError
        If it is no whole number in one line.
    """
    if len(reply) != 1 or not re.fullmatch(r"-?\d{1,6}", reply[0]):
        raise _reply_error(f"expected an error code, found {' '.join(reply)[:40]!r}")
    return int(reply[0])


def error_text(code: int) -> str:
    """Return an error code with its meaning."""
    return f"error {code} ({_ERRORS[code]})" if code in _ERRORS else f"error {code}"


class ReplySplitter:
    """Cuts what comes into replies."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[str] = []

    def split(self, data: bytes) -> list[tuple[str, ...]]:
        """Take what came, and return the replies that are complete, as lines without their ends.

        Raises
        ------
        WireFormatError
            If it is no text, or has no end; what came is forgotten.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        replies = []
        try:
            for line in lines:
                self._lines.append(line.decode("ascii").rstrip(" "))
                if not line.endswith(b" "):
                    replies.append(tuple(self._lines))
                    self._lines = []
        except UnicodeDecodeError:
            self.forget()
            raise _reply_error(f"expected text, found {line[:40]!r}") from None
        if len(self._rest) + sum(map(len, self._lines)) > _MOST_BYTES:
            self.forget()
            raise _reply_error(f"expected a reply of at most {_MOST_BYTES} bytes")
        return replies

    def forget(self) -> None:
        """Forget a reply that has begun."""
        self._rest, self._lines = b"", []


def _number(text: str) -> float:
    value = plain_number(text)
    if value is None:
        raise _reply_error(f"expected a number, found {text[:40]!r}")
    return value


def _reply_error(message: str) -> WireFormatError:
    return WireFormatError.in_file("GCS", message)
