"""Numbers as devices and files write them: digits of ASCII, a point, an exponent.

Python reads more: ``1_0`` as 10, blanks around, ``infinity``, digits of other scripts.
"""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
#: That may stand around the content of an element.
XML_BLANKS = " \t\r\n"
#: A longer text is no number of these.
_MOST = 64


def plain_number(text: str | None) -> float | None:
    """Return a number, if it is finite; ``None`` for what is none."""
    if text is None or len(text) > _MOST or not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
