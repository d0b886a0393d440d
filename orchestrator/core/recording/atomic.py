"""Files that appear whole or not at all."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.core.diagnostics import SoftdockError

_DRAFT = re.compile(r"\.[0-9a-f]{12}\.part")


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path next to ``path`` that takes its place once it is written.

    Parameters
    ----------
    path
        Where the file shall stand. Its folder is made if it does not exist.

    Yields
    ------
    Path
        Where to write. If the body fails it is removed, and what stood at ``path`` before is
        untouched.

    Raises
    ------
    SoftdockError
        If the folder or the file cannot be written.
    """
    final = Path(path)
    draft = final.with_name(f".{secrets.token_hex(6)}.part")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        draft.replace(final)
    except OSError as error:
        raise SoftdockError(
            f"{final}: cannot be written: {error.strerror or error};"
            " an earlier file of that name is untouched"
        ) from error
    finally:
        _remove(draft)


def is_draft(path: Path) -> bool:
    """Whether a file is one that was not finished: its process was killed, or is at it."""
    return _DRAFT.fullmatch(path.name) is not None


def _remove(draft: Path) -> None:
    try:
        draft.unlink(missing_ok=True)
    except OSError:  # the folder itself is gone or read-only, which the body has said already
        return
