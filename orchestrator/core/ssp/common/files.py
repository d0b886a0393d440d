"""Writing of files that are either complete or not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from orchestrator.core.diagnostics import SspError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written beside ``path``, which takes its place if nothing fails.

    It has the permissions of the old one. Of a link, the file that it leads to is replaced.
    """
    final = path.resolve()
    draft = final.with_name(f".{final.name}.{os.getpid()}.draft")
    if final.exists() and not _is_writable(final):
        raise SspError.in_file(path, "is read-only; make it writable, or write another file")
    try:
        with draft.open("wb") as file:
            if final.exists():
                shutil.copymode(final, draft)
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(final)
    except OSError as reason:
        raise SspError.in_file(
            path, f"cannot be written: {reason.strerror or reason}; the old file is untouched"
        ) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _is_writable(path: Path) -> bool:
    """Whether its permissions allow to write it, also for root, who may write anything."""
    return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)
