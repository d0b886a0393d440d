"""Texts of XML Schema's simple types, read strictly: Python's own forms are wider."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.names import tag

_REAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?INF|NaN", re.ASCII)
_INTEGER = re.compile(r"[-+]?\d{1,25}", re.ASCII)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}

_Kind = TypeVar("_Kind")


def real(text: str) -> float:
    """Read an xs:double."""
    text = text.strip()
    if not _REAL.fullmatch(text):
        raise SspError(f"expected a number, found '{_cut(text)}'")
    return float(text)


def integer(text: str) -> int:
    """Read an xs:integer of at most 25 digits; SspError if it is none."""
    text = text.strip()
    if not _INTEGER.fullmatch(text):
        raise SspError(f"expected a whole number, found '{_cut(text)}'")
    return int(text)


def boolean(text: str) -> bool:
    """Read an xs:boolean; SspError if it is none."""
    found = _TRUTH.get(text.strip())
    if found is None:
        raise SspError(f"expected true or false, found '{_cut(text)}'")
    return found


def binary(text: str) -> bytes:
    """Read an xs:hexBinary; SspError if it is none."""
    try:
        return bytes.fromhex(text.strip())
    except ValueError:
        raise SspError(f"expected pairs of hexadecimal digits, found '{_cut(text)}'") from None


def attribute(
    element: etree._Element, name: str, read: Callable[[str], _Kind], default: _Kind
) -> _Kind:
    """Read an attribute, or return the default where it is missing."""
    text = element.get(name)
    if text is None:
        return default
    try:
        return read(text)
    except SspError as error:
        raise SspError(f"{tag(element)}: attribute '{name}': {error}") from None


def real_text(value: float) -> str:
    """Write a number as an xs:double that reads back to the same bits."""
    number = float(value)
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(number), repr(number))


def boolean_text(value: object) -> str:
    """Write an xs:boolean."""
    return "true" if value else "false"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
