"""All classes of the files that rumoca has read, found by their full names."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import PurePath

from orchestrator.export.modelica.source.class_scope import Changes, Scope
from orchestrator.export.modelica.source.parser import parse_classes
from orchestrator.export.modelica.source.token_cursor import NotRead
from orchestrator.export.modelica.source.tree import ClassTree

_LOGGER = logging.getLogger(__name__)
_WITHIN = re.compile(r"\ufeff?\s*(?:(?://[^\n]*\n|/\*.*?\*/)\s*)*within\s+([\w.]+)\s*;", re.DOTALL)


class ClassLibrary:
    """Classes by name; a file of a package is read when something in it is asked for.

    Parameters
    ----------
    files
        Number, path and text of each file, as rumoca's source map lists them.
    """

    def __init__(self, files: Iterable[tuple[int, str, str]]) -> None:
        self._unread: dict[str, list[tuple[int, str, str]]] = {}
        self._trees: dict[str, tuple[ClassTree, str]] = {}
        self._scopes: dict[str, Scope | None] = {}
        for number, path, text in files:
            within = _WITHIN.match(text)
            if within is None:
                self._read(number, path, text)
            else:
                place = PurePath(path)
                name = place.parent.name if place.name == "package.mo" else place.stem
                self._unread.setdefault(f"{within[1]}.{name}", []).append((number, path, text))

    def find(self, name: str) -> Scope | None:
        """The class of that full name; None if there is none."""
        if name not in self._scopes:
            self._scopes[name] = None  # against a name that is looked for while it is looked for
            self._scopes[name] = self._made(name)
        return self._scopes[name]

    def _made(self, name: str) -> Scope | None:
        for entry in self._unread.pop(name, []):
            self._read(*entry)
        if name in self._trees:
            tree, within = self._trees[name]
            outer = self.find(within) if within else None
            return Scope(tree, outer, Changes(), self.find)
        within, _, last = name.rpartition(".")
        outer = self.find(within) if within else None
        return outer.local(last) if outer is not None else None

    def _read(self, number: int, path: str, text: str) -> None:
        try:
            within, trees = parse_classes(text, number)
        except NotRead as error:
            _LOGGER.warning("'%s': the modifications in it were not checked: %s", path, error)
            return
        for tree in trees:
            self._trees[f"{within}.{tree.name}" if within else tree.name] = (tree, within)
