"""Writing of a system as a system file."""

from __future__ import annotations

from pathlib import Path

from orchestrator.author.toml_data import data_of
from orchestrator.author.toml_text import text_of
from orchestrator.core.ssp.common.files import replacing
from orchestrator.core.system import System


def write_toml(system: System, path: str | Path, *, connectors: bool = True) -> None:
    """Write a system as a system file, with the FMUs' paths relative to it.

    Parameters
    ----------
    system
        What to write; reading the file gives an equal system, but for what comes from sources:
        feed-through and start values.
    path
        The file.
    connectors
        Whether connectors of components are declared; a file without them is shorter, and the
        sources alone say what there is.

    Raises
    ------
    DescriptionError
        If a system file cannot hold the system.
    SspError
        If the file cannot be written; an old file is untouched.
    """
    path = Path(path)
    text = text_of(data_of(system, path.parent, connectors=connectors))
    with replacing(path) as file:
        file.write(text.encode())
