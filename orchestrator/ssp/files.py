"""Writing of files that are either complete or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from orchestrator.errors import SspError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written beside ``path``, which takes its place if nothing fails.

    Raises
    ------
    SspError
        If the file cannot be written; what stood at ``path`` is untouched.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as reason:
        raise SspError(f"{path}: cannot be written: {reason}; the old file is untouched") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
