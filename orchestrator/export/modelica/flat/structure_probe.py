"""Which parameters are folded into the equations, so that setting them later would do nothing.

A flat model does not tell: a condition of a component or of an if-equation has been decided and is
gone. So each Boolean and Integer parameter is given another value, the model is flattened again
(milliseconds), and the equations are compared.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica.flat.model import tag_of


class EnumerationTypes:
    """The enumerations of a flat model.

    tree: rumoca's flat model.
    Raises ModelicaError: if literals and types do not belong together one by one.
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
    """Literals by the full name of their type."""
    literals_of: dict[str, list[str]] = defaultdict(list)
    before = ""  # behind P.G.first comes G.first, which is the same literal, then both in quotes
    for name, ordinal in ordinals.items():
        if name.endswith("'"):
            continue
        if not before.endswith(f".{name}"):
            owner, _, literal = name.rpartition(".")
            literals_of[owner].append(literal)
            if ordinal != len(literals_of[owner]):
                raise ModelicaError(
                    f"{model}: rumoca confuses the literals '{name}' of two enumerations of one"
                    " name; rename one of the types"
                )
        before = name
    return {owner: tuple(literals) for owner, literals in literals_of.items()}


_LOGGER = logging.getLogger(__name__)
Json = Any
_FEW = 200  # variables of a model that is flattened once more for each parameter that it lost
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_COMPARED = (
    "equations",
    "initial_equations",
    "algorithms",
    "initial_algorithms",
    "when_chains",
    "assert_equations",
)


def structural_parameters(
    tree: Json, suspected: frozenset[str], flatten_with: Callable[[str], Json], *, is_small: bool
) -> frozenset[str]:
    """Names of parameters that cannot be set after the model was flattened.

    Of parameters that decide about nothing but equations, which Modelica lets be set, there is a
    warning; of parameters that no equation names any more in few variables and small sources only.
    """
    is_small &= len(tree["variables"]) <= _FEW
    structural: set[str] = set()
    probed: dict[str, tuple[str, str]] = {}
    decided: dict[str, tuple[str, str]] = {}
    for name, is_used in _set_from_outside(tree):
        plain = _PLAIN_NAME.fullmatch(name) and tree["variable_type_names"].get(name) != "Real"
        values = _two_values(tree, name) if plain else None
        if values is not None and (is_used or is_small):
            (probed if is_used else decided)[name] = values
        if not is_used:
            structural.add(name)  # or decided during flattening
        elif values is None:
            structural |= {name} & suspected
    if probed or decided:
        probe = _Probe(probed | decided, flatten_with)
        structural.update(name for name in probed if name in suspected and probe.shapes([name]))
        structural.update(probe.shaping([name for name in probed if name not in suspected]))
        probe.warn_of_folded([name for name in (*probed, *decided) if name in structural])
    return frozenset(structural)


def _set_from_outside(tree: Json) -> Iterator[tuple[str, bool]]:
    """Parameters that are not calculated from others, and whether anything uses them."""
    keys = (*_COMPARED, "structured_equations", "initial_structured_equations")
    attributes = ("binding", "start", "min", "max", "nominal")
    used = [entry[key] for entry in tree["variables"].values() for key in attributes]
    referenced = set(referenced_names([*used, *(tree[key] for key in keys)]))
    kinds = {name: tag_of(entry["variability"]) for name, entry in tree["variables"].items()}
    settable = {name for name, kind in kinds.items() if kind != "Constant"}
    for name, variable in tree["variables"].items():
        calculated = settable.intersection(referenced_names(variable["binding"]))
        if kinds[name] == "Parameter" and not calculated:
            around = (name[: match.start()] for match in re.finditer(r"[.\[]", name))
            yield name, bool(referenced.intersection((name, *around)))


class _Probe:
    """Gives parameters their other values and compares the equations."""

    def __init__(
        self, values: dict[str, tuple[str, str]], flatten_with: Callable[[str], Json]
    ) -> None:
        self._values = values  # present and other one, as Modelica text

        @cache
        def shape_with(names: tuple[str, ...], candidate: int) -> tuple[Any, ...]:
            modified = {name: values[name][candidate] for name in names}
            return _shape(flatten_with(_modification(modified)))

        self._shape_with = shape_with
        self._unmodified = shape_with((), 0)

    def shapes(self, names: list[str]) -> bool:
        """Whether the other values of these, all at once, give other equations."""
        try:
            changed_shape = self._shape_with(tuple(names), 1)
            if changed_shape == self._unmodified:
                return False
            return len(names) > 1 or changed_shape != self._shape_with(tuple(names), 0)
        except ModelicaError:
            return True  # no valid model with the other value: a size, for example

    def warn_of_folded(self, names: list[str]) -> None:
        """Say which of these decide about equations, but not about variables and sizes."""
        for name in names:
            try:
                variables, *equations = self._shape_with((name,), 1)
            except ModelicaError:
                continue  # a size
            if variables == self._unmodified[0] and equations != list(self._unmodified[1:]):
                _LOGGER.warning(
                    "parameter '%s' is frozen at %s: the front end folds it into the equations;"
                    " build with another value to change it",
                    name,
                    self._values[name][0].rpartition(".")[2],
                )

    def shaping(self, names: list[str]) -> Iterator[str]:
        """Parameters that change the equations, found by bisection, since most do not."""
        if not names or not self.shapes(names):
            return
        if len(names) == 1:
            yield from names
            return
        half = len(names) // 2
        yield from self.shaping(names[:half])
        yield from self.shaping(names[half:])


def _two_values(tree: Json, name: str) -> tuple[str, str] | None:
    """The present value and another one, as Modelica text; both go through the same flattening."""
    variable, declared = tree["variables"][name], tree["variable_type_names"].get(name)
    if variable["dims"]:
        return None
    if literals := EnumerationTypes(name, tree).literals(variable):
        return (f"{declared}.{literals[0]}", f"{declared}.{literals[-1]}")
    binding = variable["binding"] or variable["start"]
    if not isinstance(binding, dict) or "Literal" not in binding:  # an expression of constants
        return {"Boolean": ("true", "false"), "Integer": ("1", "2")}.get(declared)
    tag, value = next(iter(binding["Literal"]["value"].items()))
    if tag == "Boolean":
        return ("true", "false") if value else ("false", "true")
    return (str(value), str(value + 1)) if tag == "Integer" else None


def _modification(values: Mapping[str, str]) -> str:
    """Modelica text that modifies these, ``a.b = 1`` and ``a.c = 2`` as ``a(b=1, c=2)``."""
    plain = [f"{name}={value}" for name, value in values.items() if "." not in name]
    inner: dict[str, dict[str, str]] = {}
    for name, value in values.items():
        first, dot, inner_name = name.partition(".")
        if dot:
            inner.setdefault(first, {})[inner_name] = value
    nested = [f"{name}({_modification(parts)})" for name, parts in inner.items()]
    return ", ".join([*plain, *nested])


def _shape(tree: Json) -> tuple[Any, ...]:
    sizes = sorted((name, entry["dims"]) for name, entry in tree["variables"].items())
    return (sizes, *(_bare(tree[key]) for key in _COMPARED))


def _bare(node: Json) -> Json:
    """The tree without what legitimately differs between two runs: places and identities."""
    if isinstance(node, dict):
        return {
            key: _bare(value)
            for key, value in node.items()
            if key not in {"span", "component_ref", "location", "instance_id", "def_id", "source"}
        }
    return [_bare(value) for value in node] if isinstance(node, list) else node


def referenced_names(node: Json, *, sizes: bool = True) -> Iterator[str]:
    """Names of all variables and literals that a part of the tree refers to.

    sizes: Also those of which it takes the size only.
    """
    if isinstance(node, dict):
        if "VarRef" in node:
            yield node["VarRef"]["name"]["name"]
        for key, value in node.items():
            if sizes or key != "BuiltinCall" or value["function"] != "Size":
                yield from referenced_names(value, sizes=sizes)
    elif isinstance(node, list):
        for value in node:
            yield from referenced_names(value, sizes=sizes)
