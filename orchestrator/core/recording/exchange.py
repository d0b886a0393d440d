"""Two folders that change their names at one moment."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
#: The system or the file system does not know the call.
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


def exchange(one: Path, other: Path, aside: Path) -> None:
    """Let two folders of one file system exchange their names.

    Where the system cannot do that in one call it takes two: ``other`` is renamed to ``aside``,
    then ``one`` to ``other`` and ``aside`` to ``one``. Who is killed between the first and the
    second leaves nothing under the name ``other``.
    """
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        code = errno.ENOSYS
    else:
        names = os.fsencode(one), os.fsencode(other)
        failed = call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], ctypes.c_uint(_RENAME_EXCHANGE))
        code = ctypes.get_errno() if failed else 0
    if code in _UNKNOWN:
        _rename_twice(one, other, aside)
    elif code:
        raise OSError(code, os.strerror(code), str(other))


def _rename_twice(one: Path, other: Path, aside: Path) -> None:
    try:
        other.rename(aside)
        one.rename(other)
    except BaseException:  # also an interrupt, before or after the first
        if aside.exists() and not other.exists():
            aside.rename(other)
        raise
    aside.rename(one)
