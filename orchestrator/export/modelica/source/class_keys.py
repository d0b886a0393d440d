"""Which classes are the same where they are used: those of one key."""

from __future__ import annotations

from orchestrator.export.modelica.source.class_scope import Changes, ClassScope
from orchestrator.export.modelica.source.lookup import Surroundings


class ClassKeys:
    """Numbers of classes with their modifications."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ClassScope, int]] = {}
        self._numbers: dict[object, int] = {}

    def of(self, scope: ClassScope) -> int:
        """A number for a class with its modifications, those of the classes around it as well."""
        if id(scope) not in self._known:
            outer = self.of(scope.outer) if scope.outer is not None else 0
            key = (id(scope.tree), self.print_of(scope.given), outer)
            self._known[id(scope)] = (scope, self._numbers.setdefault(key, len(self._numbers) + 1))
        return self._known[id(scope)][1]

    def print_of(self, changes: Changes) -> object:
        """What tells modifications from others; None without any."""
        value: object = None
        if changes.value is not None:
            location, origin = changes.value.location, 0
            if changes.origin is not None and any(t.kind == "name" for t in changes.value.tokens):
                origin = self.of(changes.origin)
            value = (location.source, location.start, origin)
        redeclaration: object = None
        if changes.redeclared is not None:
            redeclaration = (id(changes.redeclared.element), self.of(changes.redeclared.scope))
        inner = ((name, self.print_of(change)) for name, change in sorted(changes.inner.items()))
        relevant = tuple(change for change in inner if change[1] is not None)
        return (value, redeclaration, relevant) if value or redeclaration or relevant else None

    def around(self, around: Surroundings) -> object:
        """What tells the inner components and classes around an instance from others."""
        constants = {name: owner for name, (owner, _) in around.constants.items()}
        return tuple(
            (name, self.of(scope))
            for group in (around.components, around.classes, constants)
            for name, scope in sorted(group.items())
        )

    def is_changed(self, scope: ClassScope | None) -> bool:
        """Whether a class, or one around it, is another one than as it is written."""
        while scope is not None:
            if self.print_of(scope.given) is not None:
                return True
            scope = scope.outer
        return False
