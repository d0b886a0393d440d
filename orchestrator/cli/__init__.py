"""The ``softdock`` command."""

from orchestrator.cli.main import main

__all__ = ["main"]
