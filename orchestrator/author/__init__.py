"""Authoring: systems as files for people, and files changed in place."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.author.edit import open_document as open_document
    from orchestrator.author.examples import example_fmu as example_fmu
    from orchestrator.author.reading import read_system as read_system
    from orchestrator.author.tables import is_system_file as is_system_file
    from orchestrator.author.edit import TomlDocument as TomlDocument
    from orchestrator.author.toml_read import read_toml as read_toml
    from orchestrator.author.toml_write import write_toml as write_toml
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
