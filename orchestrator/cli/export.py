"""``softdock export``: what other tools can open."""

from __future__ import annotations

import typer

from orchestrator.cli import export_block

app = typer.Typer(help="Export blocks and systems for other tools.", no_args_is_help=True)
app.command("block")(export_block.block)
