"""``softdock export``: systems become files for other tools."""

from __future__ import annotations

import typer

app = typer.Typer(help="Turn systems into files for other tools.", no_args_is_help=True)
