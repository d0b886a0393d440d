"""``--platform``: what machines an exported FMU runs on."""

from __future__ import annotations

from typing import Annotated

import typer

PlatformOption = Annotated[
    str | None,
    typer.Option(
        help="Platforms to compile for, with commas between: win64,linux64,darwin64,aarch64-linux,"
        "aarch64-darwin, or their names in FMI 3.0; default: this machine's. Others need the"
        " extra cross"
    ),
]


def platforms_in(text: str | None) -> tuple[str, ...]:
    """The names that the option gives; none, if it is not given."""
    from orchestrator.export.platforms import names_of, platforms_of

    if text is None:
        return ()
    return tuple(names_of(platforms_of(name.strip() for name in text.split(","))))
