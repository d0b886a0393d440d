"""TOML, JSON and numbers that others wrote: what is wrong with a text of them is a ValueError.

Of numbers Python reads more: ``1_0`` as 10, blanks around, ``infinity``, digits of other scripts.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.operating_system import available_memory

if TYPE_CHECKING:
    from pydantic import ValidationError


#: More is no number of anything here, and does not fit what computes with it.
_BITS = 64
#: Some editors begin a file with it; it is no part of what the file says.
BYTE_ORDER_MARK = "\ufeff"
#: What tomllib says of a second table of one name, and of a second value of one key.
_TWICE = re.compile(r"Cannot declare \((?P<keys>.*)\) twice (?P<location>\(.*\))")
_OVERWRITTEN = "Cannot overwrite a value"
_DEEP = "it is nested too deeply"
#: Tables and lists of TOML in each other.
_DEEPEST = 64


def toml_data(text: str) -> dict[str, Any]:
    """Read TOML; a byte order mark before it is passed over."""
    try:
        content = tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except RecursionError:
        raise ValueError(_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        if match := _TWICE.fullmatch(str(error)):
            table = ".".join(re.findall(r"'([^']*)'", match["keys"]))
            reason = f"the table [{table}] is declared twice {match['location']}"
            raise ValueError(reason) from None
        if str(error).startswith(_OVERWRITTEN):
            reason = str(error).replace(_OVERWRITTEN, "a key has two values", 1)
            raise ValueError(reason) from None
        raise
    _expect_short(content, "", _DEEPEST)
    return content


def toml_file(
    path: Path, missing: str = "no such file", expected: str = "a TOML file"
) -> dict[str, Any]:
    """Read a file of TOML; LoadError: there is none, which ``missing`` says, or it is another."""
    try:
        return toml_data(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LoadError.in_file(path, missing) from None
    except (OSError, ValueError) as error:
        raise LoadError.in_file(path, f"expected {expected}: {error}") from None


def json_data(text: str | bytes) -> Any:
    """Read JSON."""
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError(_DEEP) from None


def misfit(error: ValidationError) -> str:
    """Say what does not fit its form first: where, what was expected, what was found."""
    first = error.errors(include_url=False, include_context=False)[0]
    location = ".".join(map(str, first["loc"])) or "content"
    return f"'{location}': {first['msg']}, found {str(first['input'])[:80]!r}"


def _integer(digits: str) -> int:
    if len(digits) > _BITS or not _fits(number := int(digits)):
        raise ValueError(
            f"an integer of {len(digits.lstrip('-'))} digits; expected at most 64 bits"
        )
    return number


def _fits(number: int) -> bool:
    return -(1 << (_BITS - 1)) <= number < 1 << _BITS


def _expect_short(value: object, key_path: str, deepest: int) -> None:
    """Expect integers of 64 bits, and tables and lists nested at most `deepest` deep."""
    if deepest < 0:
        raise ValueError(_DEEP)
    if isinstance(value, dict):
        for key, inner in value.items():
            _expect_short(inner, f"{key_path}.{key}" if key_path else key, deepest - 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _expect_short(inner, f"{key_path}[{number}]", deepest - 1)
    elif isinstance(value, int) and not _fits(value):
        raise ValueError(f"'{key_path}': expected an integer of at most {_BITS} bits")


_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
#: That may stand around the content of an element.
XML_BLANKS = " \t\r\n"
#: A longer text is no number of these.
_MOST = 64


def plain_number(text: str | None) -> float | None:
    """Return a number, if it is finite; ``None`` for what is none."""
    if text is None or len(text) > _MOST or not _NUMBER.fullmatch(text):
        return None
    return finite(float(text))


def finite(value: float) -> float | None:
    """Return a number as JSON has it; ``None`` for one that is not finite."""
    return value if math.isfinite(value) else None


_GIB = 2**30


def expect_memory(path: str | Path, rows: int, columns: int, copies: float = 1.0) -> None:
    """Expect that the rows of a file fit into memory, before any is read.

    rows, columns: Of numbers of 8 bytes.
    copies: How many times they are held while they are read.
    Raises LoadError: if they do not fit; the process would be killed by the kernel later.
    """
    available, size = available_memory(), 8.0 * rows * columns
    if available is None or copies * size < available:
        return
    raise LoadError.in_file(
        Path(path),
        f"its {rows} rows of {columns} columns need {copies * size / _GIB:.3g} GiB of memory, and"
        f" {available / _GIB:.3g} GiB are available: record fewer outputs or every n-th row"
        " (record, every), or read it in parts with pyarrow or pandas",
    )
