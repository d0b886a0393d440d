"""Authoring: systems as files for people, and files changed in place."""

from orchestrator.authoring.documents import open_document
from orchestrator.authoring.reading import read_system
from orchestrator.authoring.tables import is_system_file
from orchestrator.authoring.toml_document import TomlDocument
from orchestrator.authoring.toml_read import read_toml
from orchestrator.authoring.toml_write import write_toml

__all__ = [
    "TomlDocument",
    "is_system_file",
    "open_document",
    "read_system",
    "read_toml",
    "write_toml",
]
