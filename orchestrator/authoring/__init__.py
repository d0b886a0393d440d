"""Authoring: systems as files for people, and files changed in place."""

from orchestrator.authoring.reading import read_system
from orchestrator.authoring.tables import is_system_file
from orchestrator.authoring.toml_read import read_toml
from orchestrator.authoring.toml_write import write_toml

__all__ = ["is_system_file", "read_system", "read_toml", "write_toml"]
