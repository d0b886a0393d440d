"""Literals of enumeration types: rumoca tells types and literals, but not whose these are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from orchestrator.core.diagnostics import ModelicaError


class EnumerationTypes:
    """The enumerations of a flat model.

    Parameters
    ----------
    tree
        rumoca's flat model.

    Raises
    ------
    ModelicaError
        If literals and types do not belong together one by one.
    """

    def __init__(self, name: str, tree: Mapping[str, Any]) -> None:
        owners = _by_owner(name, tree["enum_literal_ordinals"])
        roots = tree["enumeration_type_roots"]  # in the same order: that of their declarations
        if len(owners) != len(roots):
            listed = ", ".join(owners)
            raise ModelicaError(
                f"{name}: rumoca knows {len(roots)} enumerations, but literals of {listed}"
            )
        self._literals = dict(zip(roots, owners.values(), strict=True))
        self._types = tree["effective_types"]

    def literals(self, variable: Mapping[str, Any]) -> tuple[str, ...]:
        """Literals of a variable's type, in order; none if it is no enumeration."""
        effective = self._types.get(str(variable["type_id"]))
        return self._literals.get(effective["canonical_type"], ()) if effective else ()


def _by_owner(model: str, ordinals: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Literals by the full name of their type.

    Behind ``P.G.first`` comes ``G.first``, which is the same literal, then both in quotes.
    """
    found: dict[str, list[str]] = defaultdict(list)
    before = ""
    for name, ordinal in ordinals.items():
        if name.endswith("'"):
            continue
        if not before.endswith(f".{name}"):
            owner, _, literal = name.rpartition(".")
            found[owner].append(literal)
            if ordinal != len(found[owner]):
                raise ModelicaError(
                    f"{model}: rumoca confuses the literals '{name}' of two enumerations of one"
                    " name; rename one of the types"
                )
        before = name
    return {owner: tuple(literals) for owner, literals in found.items()}
