"""What a rule looks at, and what it finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.export.modelica.source.class_scope import Scope
from orchestrator.export.modelica.source.instances import Instance
from orchestrator.export.modelica.source.tree import Place

#: A place in the sources and what is wrong there.
Finding = tuple[Place, str]


@dataclass(frozen=True, slots=True)
class Model:
    """The instances of a model, and each class of them once, bases as well."""

    instances: Sequence[Instance]
    classes: Sequence[Scope]

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> Model:
        """Collect the classes of instances."""
        found: dict[int, Scope] = {}
        for instance in instances:
            for scope in with_bases(instance.scope):
                found.setdefault(id(scope.tree), scope)
            for member in instance.scope.components.values():
                kind = instance.scope.type_of(member)[1]
                if kind is not None and kind.predefined and not kind.tree.short:
                    found.setdefault(id(kind.tree), kind)
        return cls(instances, list(found.values()))


def with_bases(scope: Scope) -> Iterator[Scope]:
    """Yield a class and all that it extends."""
    yield scope
    for base in scope.bases:
        yield from with_bases(base)
