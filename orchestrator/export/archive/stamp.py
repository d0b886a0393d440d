"""What an FMU was built from: a text in its archive, and a hash of equal equations."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import casadi as ca

from orchestrator.core.archive import DAMAGE
from orchestrator.export.codegen.compiler import compiler_facts
from orchestrator.export.dae.residual_dae import ResidualDae, Variable
from orchestrator.export.recipe import Platform

_EXPORT = Path(__file__).parents[1]
RUNTIME = _EXPORT / "runtime"
STAMP_FILE = "extra/softdock/build.json"


def stamp(
    model: str, source: str, settings: dict[str, Any], platforms: Sequence[Platform]
) -> dict[str, str]:
    """Facts about a build; ``key`` hashes everything that decides about the FMU's content."""
    facts = {
        "settings": json.dumps(settings, sort_keys=True),
        "compiler": "; ".join(map(compiler_facts, platforms)),
        "casadi": version("casadi"),
        "rumoca": version("rumoca"),
    }
    digest = hashlib.sha256(f"{_exporter()}\0{source}\0{json.dumps(facts)}".encode())
    return {**facts, "model": model, "key": digest.hexdigest()}


def hash_of(contents: list[tuple[str, bytes]]) -> str:
    """Hash of named contents; the same bytes under other names are something else."""
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def stored_key(target: Path) -> str | None:
    """Key inside an existing FMU; a damaged one counts as absent and is replaced."""
    try:
        with zipfile.ZipFile(target) as archive:
            return str(json.loads(archive.read(STAMP_FILE))["key"])
    except (KeyError, TypeError, *DAMAGE):
        return None


def runtime_files() -> list[Path]:
    """The C half of every FMU."""
    return sorted(path for path in RUNTIME.iterdir() if path.suffix in {".c", ".h"})


@cache
def _exporter() -> str:
    rooms = ("archive", "blocks", "codegen", "dae", "modelica")
    own = sorted([*_EXPORT.glob("*.py"), *(f for r in rooms for f in (_EXPORT / r).rglob("*.py"))])
    return hash_of(
        [(str(file.relative_to(_EXPORT)), file.read_bytes()) for file in (*own, *runtime_files())]
    )


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
