"""A hash of a residual DAE: equal for equal equations, in every process."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import casadi as ca

from orchestrator.export.archive.stamp import hash_of
from orchestrator.export.dae.residual_dae import ResidualDae, Variable


def dae_hash(dae: ResidualDae) -> str:
    """Hash of the expressions and of all that is said about the variables.

    CasADi writes an expression as a function of its symbols, operation by operation, so equal
    texts are equal expressions; the plain text of an expression would leave out what is deep in it.
    """
    symbols = [dae.time, *(variable.symbol for variable in dae.variables)]
    symbols += [dae.derivatives[name] for name in sorted(dae.derivatives)]
    symbols += dae.events.symbols
    residuals = (*dae.residuals, *dae.initial)
    expressions = [ca.SX(residual.expression) for residual in residuals]
    for variable in dae.variables:
        expressions += [
            ca.SX(part) for part in (variable.start, variable.value) if part is not None
        ]
    expressions += [ca.SX(part) for part in dae.events.expressions()]
    function = ca.Function("dae", symbols, expressions).serialize()
    facts = [
        dae.name,
        dae.description,
        sorted(dae.derivatives),
        [residual.origin for residual in residuals],
        len(dae.initial),
        repr(dae.events),
        [_facts(variable) for variable in dae.variables],
    ]
    return hash_of([("function", function.encode()), ("facts", repr(facts).encode())])


def _facts(variable: Variable) -> list[Any]:
    given = [getattr(variable, f.name) for f in fields(variable) if f.name not in _EXPRESSIONS]
    return [*given, variable.value is None]


_EXPRESSIONS = frozenset(("symbol", "start", "value"))
