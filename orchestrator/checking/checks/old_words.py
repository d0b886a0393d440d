"""Words that have been replaced and are still read: which one is written now."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from orchestrator.checking.finding import finding, inside
from orchestrator.checking.toml_places import Keys, line_for
from orchestrator.diagnostics import Diagnostic
from orchestrator.diagnostics.codes import Code, warning
from orchestrator.diagnostics.toml_key import toml_key
from orchestrator.renamed import NEW_NAMES
from orchestrator.system import Component, Connection, Source, SourceKind
from orchestrator.system.former_names import present_path, with_present_ends
from orchestrator.system.ports.connectors import Connectors

CODES: tuple[Code, ...] = (
    warning(
        "EXP105",
        "an old word of experiment files",
        "`[campaign.NAME]` is called `[sweep.NAME]` now, and `campaign` of a figure `sweep`. Both"
        " are read as before; write the new word.",
    ),
    warning(
        "CON122",
        "a connector is called by a former name",
        "A value, a connection or an entry of an experiment names a connector as its block called"
        " it before (`formerly` of its declaration). It is read as before; write the new name.",
    ),
    warning(
        "CAP113",
        "a block imports a module by an old name",
        "A Python file of a block imports a module of Softdock that has another name now. It is"
        " found as before; public names are those of `orchestrator`.",
    ),
)


def old_tables(
    notes: Iterable[Diagnostic], path: Path, lines: Mapping[Keys, int]
) -> Iterator[Diagnostic]:
    """Tell which tables and keys of an experiment file have old names; ``notes`` say them."""
    for note in notes:
        yield finding("EXP105", note.key, note.message, str(path), line_for(note.key, lines))


def former_names(component: Component, known: Component, at: str) -> Iterator[Diagnostic]:
    """Tell which values and declared connectors of a component have former names.

    Parameters
    ----------
    component, known
        As declared, and as its source is now.
    at
        Path of the component.
    """
    if isinstance(known.connectors, Connectors):
        for name in dict.fromkeys((*component.connectors, *component.values)):
            if (present := known.connectors.present(name)) != name:
                yield _former(f"{at}.{name}", f"{at}.{name}", present)


def former_ends(
    lines: Iterable[Connection], components: Mapping[str, Component], path: str
) -> Iterator[Diagnostic]:
    """Tell which connections of the system at a path have ends of former names."""
    for line in lines:
        (present,) = with_present_ends((line,), components)
        for old, new in ((line.source, present.source), (line.target, present.target)):
            if old != new:
                yield _former(inside(path, str(line)), inside(path, str(old)), new.connector)


def former_entries(
    content: Any, components: Mapping[str, Component], keys: Keys = ()
) -> Iterator[tuple[Keys, str, str]]:
    """Find keys and texts of an experiment that name connectors as they were called before.

    Returns
    -------
    iterator of keys, former path, present path
    """
    if isinstance(content, str):
        if (present := present_path(content, components)) != content:
            yield keys, content, present
    elif isinstance(content, dict):
        for key, value in content.items():
            if (present := present_path(key, components)) != key:
                yield (*keys, key), key, present
            yield from former_entries(value, components, (*keys, key))
    elif isinstance(content, list):
        for value in content:
            yield from former_entries(value, components, keys)


def old_entries(
    content: Any, components: Mapping[str, Component], path: Path, lines: Mapping[Keys, int]
) -> Iterator[Diagnostic]:
    """Tell the same as diagnostics, each entry once."""
    for keys, old, new in dict.fromkeys(former_entries(content, components)):
        key = toml_key(*keys)
        yield finding(
            "CON122", key, f"'{old}' is now called '{new}'", str(path), line_for(key, lines)
        )


def old_imports(source: Source, at: str) -> Iterator[Diagnostic]:
    """Tell what the Python file of a component imports by old names; nothing is executed."""
    file = source.file
    if source.kind is not SourceKind.BLOCK or file is None:
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # told where the block is opened
    for node in ast.walk(tree):
        for old in _imported(node):
            if old in NEW_NAMES:
                text = f"'{old}' is now '{NEW_NAMES[old]}'"
                yield finding("CAP113", at, text, str(file), getattr(node, "lineno", None))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _former(place: str, path: str, new: str) -> Diagnostic:
    return finding("CON122", place, f"'{path}' is now called '{new}'")
