"""Expressions of the flat model as text, and those of numbers as numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import isclose
from typing import Any

from orchestrator.export.modelica.flat.expression import (
    EventCollector,
    ExpressionScope,
    Interpreter,
)
from orchestrator.export.modelica.flat.model import Refusal, tag_of
from orchestrator.export.modelica.flat.tensor import Tensor

Json = Any
_SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "Exp": "^",
    "And": "and",
    "Or": "or",
    "Lt": "<",
    "Le": "<=",
    "Gt": ">",
    "Ge": ">=",
    "Eq": "==",
    "Neq": "<>",
}
_LONGEST = 120


def flat_as_text(flat: Json) -> str:
    """An expression as Modelica writes it; a long one is cut."""
    text = _text(flat)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."


def _text(flat: Json) -> str:
    if not isinstance(flat, dict):
        return str(flat)
    tag, body = next(iter(flat.items()))
    write = _WRITTEN.get(tag)
    return write(body) if write is not None else _reference_text(flat) or tag


def _listed(parts: list[Json]) -> str:
    return ", ".join(map(_text, parts))


def _literal(body: Json) -> str:
    value = next(iter(body["value"].values()))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _binary(body: Json) -> str:
    sign = _SIGNS.get(body["op"]) or f".{_SIGNS.get(body['op'][:-4], body['op'])}"
    return f"({_text(body['lhs'])} {sign} {_text(body['rhs'])})"


def _unary(body: Json) -> str:
    sign = {"Not": "not ", "Plus": "+", "DotPlus": "+"}.get(body["op"], "-")
    return f"{sign}{_text(body['rhs'])}"


def _choice(body: Json) -> str:
    cases = " else".join(f"if {_text(c)} then {_text(value)}" for c, value in body["branches"])
    return f"{cases} else {_text(body['else_branch'])}"


_WRITTEN: dict[str, Callable[[Json], str]] = {
    "Literal": _literal,
    "Binary": _binary,
    "Unary": _unary,
    "If": _choice,
    "FunctionCall": lambda body: f"{body['name']['name']}({_listed(body['args'])})",
    "BuiltinCall": lambda body: f"{body['function'].lower()}({_listed(body['args'])})",
    "Array": lambda body: f"{{{_listed(body['elements'])}}}",
}


def _reference_text(flat: Json) -> str:
    name, subscripts = shown_reference(flat)
    inside = ",".join(_subscript(subscript) for subscript in subscripts)
    return f"{name}[{inside}]" if inside else name


def _subscript(entry: Json) -> str:
    tag = tag_of(entry)
    if tag == "Colon":
        return ":"
    return str(entry["Index"]["value"]) if tag == "Index" else _text(entry["Expr"]["expr"])


def shown_reference(flat: Json) -> tuple[str, list[Json]]:
    """Name and subscripts of a reference to a variable; an empty name of what is none."""
    if not isinstance(flat, dict):
        return "", []
    tag, body = next(iter(flat.items()))
    if tag == "VarRef":
        return body["name"]["name"], list(body["subscripts"])
    if tag == "Index":
        name, subscripts = shown_reference(body["base"])
        return name, [*subscripts, *body["subscripts"]]
    if tag == "FieldAccess":
        name, subscripts = shown_reference(body["base"])
        return (f"{name}.{body['field']}" if name else ""), subscripts
    return "", []


class Numbers(tuple[Any, ...]):
    """A shape and numbers; equal if they are within rounding."""

    __slots__ = ()

    def agrees(self, numbers: Numbers) -> bool:
        """Whether both are the same array."""
        (shape, items), (other_shape, others) = self, numbers
        pairs = zip(items, others, strict=False)
        return shape == other_shape and all(isclose(a, b, rel_tol=1e-13) for a, b in pairs)


def numbers_of(flat: Json, tree: Json) -> Numbers | None:
    """The numbers that an expression without variables is; None of another one."""
    collector = EventCollector(lambda _: False)
    interpreter = Interpreter(_refuse, lambda _: False, _refuse, collector)
    literals = {n: Tensor.scalar(i) for n, i in tree["enum_literal_ordinals"].items()}
    try:
        value = interpreter.evaluate(flat, ExpressionScope(literals, event_free=True))
        return Numbers((value.shape, tuple(map(float, value.items))))
    except (Refusal, RuntimeError, TypeError, ValueError, KeyError, IndexError, AttributeError):
        return None  # it holds variables, texts or calls


def _refuse(*_: object) -> Any:
    raise Refusal("a call")
