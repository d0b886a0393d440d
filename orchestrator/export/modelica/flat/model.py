"""The flat model as rumoca writes it, with for loops expanded, and what signals a refusal."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, field
from orchestrator.export.modelica.source.text import SourceMap


class Refusal(Exception):  # noqa: N818 - it never leaves the room: readers turn it into ModelicaError
    """A Modelica construct that cannot be exported; the reader adds model, equation and line.

    construct: What was met, such as ``delay()``.
    hint: What the author of the model can do instead.
    """

    def __init__(self, construct: str, hint: str = "") -> None:
        self.construct = construct
        self.hint = hint
        super().__init__(f"{construct}; {hint}" if hint else construct)


Json = Any
#: Of a model whose flat form is not what its sources say.
LOST = ": the front end does not do what these lines say"
_TYPE_NAME = re.compile(r"\.?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\s*\[[^\]]*\])?\s+[A-Za-z_]")
_PREDEFINED = frozenset({"Real", "Integer", "Boolean", "String"})
_ORIGINS = {
    "ComponentEquation": "equation of '{component}'",
    "FlowSum": "flow balance {description}",
    "Connection": "connection {lhs} = {rhs}",
    "UnconnectedFlow": "zero flow of '{variable}', which nothing is connected to",
}
_SHOWN = 5  # problems of one kind in a message
_SUBSCRIPTS = re.compile(r"\[[^\]]*\]")


def without_subscripts(name: str) -> str:
    """``a[1].b`` as ``a.b``."""
    return _SUBSCRIPTS.sub("", name)


def origin_of(equation: Json, kind: str) -> Json | None:
    """What rumoca says of where an equation comes from, if that is of this kind."""
    origin = equation.get("origin")
    return origin.get(kind) if isinstance(origin, dict) else None


def tag_of(choice: Json) -> str:
    """Which of several kinds it is, written as a text or as a dictionary of one."""
    return str(next(iter(choice)) if isinstance(choice, dict) else choice)


def is_settled(variable: Json) -> bool:
    """Whether a variable is a parameter or a constant."""
    return tag_of(variable["variability"]) in {"Parameter", "Constant"}


def expect_none(model: str, problems: Iterable[str], verdict: str, hint: str = "") -> None:
    """Raise the first of these problems of a model, each once, if there are any."""
    listed = list(dict.fromkeys(problems))
    if listed:
        more = f"\n  and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
        listing = "\n  ".join(listed[:_SHOWN])
        raise ModelicaError(f"{model}{verdict}:\n  {listing}{more}{hint}")


class FlatEquation(Struct):
    """One (possibly array-valued) equation; ``loop`` holds the values of for-loop variables.

    ``count`` is the number of scalar equations that rumoca announces, where it does.
    """

    residual: Json
    origin: str
    count: int | None = None
    loop: Mapping[str, int] = field(default_factory=dict)


class FlatModel(Struct, dict=True):
    """A flattened model: rumoca's JSON tree and what is needed to point at its sources.

    name: Qualified class name.
    tree: The dictionary of ``Model.to_dict("flat")``.
    structural: Parameters whose value is folded into the equations: they cannot be set afterwards.
    sources: File name to Modelica text, for line numbers in messages.
    """

    name: str
    tree: Json
    structural: frozenset[str]
    sources: SourceMap

    def equations(self, key: str = "equations") -> Iterator[FlatEquation]:
        """Equations in order; ``key`` is ``equations`` or ``initial_equations``.

        rumoca 0.10 leaves the inner points of some for loops as the placeholder ``der(x[i]) = 0.0``
        (``interiors_materialized: false``): those families are expanded from their template.
        """
        entries = self.tree[key]
        families = {
            family["first_equation_index"]: family
            for family in self.tree[key.replace("equations", "structured_equations")]
            if not family["interiors_materialized"]
        }
        index = 0
        while index < len(entries):
            family = families.get(index)
            if family is None:
                entry = entries[index]
                yield FlatEquation(entry["residual"], self._origin(entry), entry["scalar_count"])
                index += 1
                continue
            binders = family["domain"]["binders"]
            ranges = (
                range(binder["lower"], binder["upper"] + 1, binder["step"]) for binder in binders
            )
            names = [binder["display_name"] for binder in binders]
            points = [
                dict(zip(names, indices, strict=True)) for indices in itertools.product(*ranges)
            ]
            bodies = family["template"]["body"] if family["template"] else []
            origin = self._origin(entries[index])
            if not bodies or len(bodies) != family["equations_per_point"]:
                raise ModelicaError(
                    f"{self.name}: {origin}: rumoca neither expanded this for loop nor gave its"
                    " template; write the equations out"
                )
            for point, body in itertools.product(points, bodies):
                listed = ", ".join(f"{name}={value}" for name, value in point.items())
                yield FlatEquation(body, f"{origin}, for {listed}", loop=point)
            index += len(points) * len(bodies)

    @cached_property
    def _connectors(self) -> frozenset[str]:
        return frozenset(self.tree["top_level_connectors"])

    def connector(self, name: str) -> str:
        """Connector of the model itself that a variable is a member of; empty if of none."""
        owner, _, member = name.partition(".")
        return owner if member and owner.partition("[")[0] in self._connectors else ""

    def declared_type(self, entry: Json) -> str:
        """Type of a variable as its declaration writes it; empty for a predefined type."""
        written = _TYPE_NAME.match(self.sources.text(entry.get("source_span")))
        return written[1] if written and written[1] not in _PREDEFINED else ""

    def location(self, entry: Json) -> str:
        """``file:line`` of a part of the tree, empty if unknown."""
        return self.sources.locate(entry.get("span") or entry.get("source_span"))

    def declared_at(self, name: str) -> str:
        """``file:line`` of the declaration of a variable or of an element of one."""
        variables = self.tree["variables"]
        while name not in variables and "[" in name:
            name = name.rpartition("[")[0]
        return self.location(variables[name]) if name in variables else ""

    def at(self, name: str) -> str:
        """Model, variable and the place of its declaration, for messages."""
        placed = self.placed(f"variable '{name}'", self.tree["variables"][name])
        return f"{self.name}: {placed}"

    def placed(self, subject: str, entry: Json) -> str:
        """A part of the tree and the place where it is written, if that is known."""
        location = self.location(entry)
        return f"{subject} at {location}" if location else subject

    def refused(self, name: str, refusal: Refusal) -> ModelicaError:
        """The error for a variable that cannot be exported."""
        return ModelicaError(f"{self.at(name)}: the exporter does not support {refusal}")

    def expect_none(self, problems: Iterable[str], verdict: str, hint: str = "") -> None:
        """Raise the first of these problems, each once, if there are any."""
        expect_none(self.name, problems, verdict, hint)

    @contextmanager
    def reporting(self, origin: str) -> Iterator[None]:
        """Turn a refusal into an error that says where."""
        try:
            yield
        except Refusal as refusal:
            raise ModelicaError(
                f"{self.name}: {origin}: the exporter does not support {refusal}"
            ) from refusal

    def _origin(self, entry: Json) -> str:
        kind, details = "equation", entry.get("origin")
        if isinstance(details, dict):
            tag, body = next(iter(details.items()))
            if tag != "ComponentEquation" or body["component"]:
                kind = _ORIGINS[tag].format_map(body) if tag in _ORIGINS else f"{tag} {body}"
        elif details:
            kind = str(details)
        return self.placed(kind, entry)
