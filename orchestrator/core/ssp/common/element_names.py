"""Names of elements: any text in SSP, without ``.`` and ``/`` in a System.

A dot separates component and connector, a slash the levels of a flat system. So ``.`` and ``/`` in
the name of an element are read as ``%2E`` and ``%2F``, and written back as they were. A name that
holds ``%2E`` or ``%2F`` itself is read with ``%25`` for the ``%``; any other ``%`` stays. Every
text has one name and every name one text.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[./]|%(?=(?:25)*2[EF])")
_CODED = re.compile(r"%2E|%2F|%25(?=(?:25)*2[EF])")
_TEXT = {"%2E": ".", "%2F": "/", "%25": "%"}
_CODE = {text: code for code, text in _TEXT.items()}


def encoded(text: str) -> str:
    """Turn the name of an element of a file into that of a component."""
    return _SPECIAL.sub(lambda found: _CODE[found[0]], text)


def decoded(name: str) -> str:
    """Turn the name of a component into that of the element of a file."""
    return _CODED.sub(lambda found: _TEXT[found[0]], name)
