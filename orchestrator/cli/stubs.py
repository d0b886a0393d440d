"""``softdock stubs``: names and types of a system for editors and checkers of types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.core.diagnostics import LoadError
from orchestrator.core.system import Causality, Connector, DataType, System

_HEAD = '''"""Names and types of {file}, written by `softdock stubs`."""
# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator import Execution

'''
_TAIL = '''

def typed(execution: Execution) -> Run:
    """Return the execution, whose names a checker of types then knows."""
    return execution  # type: ignore[return-value]
'''
#: Of values that are read: numbers are floats, whatever type the connector has.
_READ = {DataType.STRING: "str", DataType.BINARY: "bytes"}
_WRITTEN = {
    DataType.REAL: "float",
    DataType.INTEGER: "int",
    DataType.BOOLEAN: "bool",
    DataType.CLOCK: "bool",
    **_READ,
}


def stub_text(system: System, file: str) -> str:
    """Return the module of a system without nested systems."""
    found = dict(_connectors(system))
    fed = {str(line.target) for line in system.connections}
    free = {n: c for n, c in found.items() if c.causality is Causality.INPUT and n not in fed}
    aliases = {
        "Component": list(system.components),
        "Output": [n for n, c in found.items() if c.causality is Causality.OUTPUT],
        "FreeInput": list(free),
        "Parameter": [n for n, c in found.items() if c.causality is Causality.PARAMETER],
    }
    lines = [_HEAD.format(file=file)]
    lines += [f"{name} = {_literal(names)}\n" for name, names in aliases.items() if names]
    lines += ["\nif TYPE_CHECKING:\n", "    class Run(Execution):\n"]
    lines += _overloads("get", "", {n: _type(c, written=False) for n, c in found.items()})
    lines += _overloads("set", ", value: {}", {n: _type(c, written=True) for n, c in free.items()})
    lines += ["else:\n", "    Run = Execution\n", _TAIL]
    return "".join(lines)


def _connectors(system: System) -> Iterator[tuple[str, Connector]]:
    yield from system.connectors.items()
    for name, component in system.components.items():
        yield from ((f"{name}.{c.name}", c) for c in component.connectors.values())


def _literal(names: Iterable[str]) -> str:
    return f"Literal[{', '.join(map(repr, names))}]"


def _type(connector: Connector, *, written: bool) -> str:
    if connector.shape:
        return "ArrayLike" if written else "NDArray[np.float64]"
    return _WRITTEN[connector.type] if written else _READ.get(connector.type, "float")


def _overloads(method: str, value: str, types: dict[str, str]) -> Iterator[str]:
    """Give a method for each type, with the names that have it."""
    kinds = sorted(set(types.values()))
    for kind in kinds:
        names = _literal(name for name, each in types.items() if each == kind)
        if len(kinds) > 1:
            yield "        @overload\n"
        result = "None" if value else kind
        given = f"self, name: {names}{value.format(kind)}"
        yield f"        def {method}({given}) -> {result}: ...  # type: ignore[override]\n"


def stubs(
    target: Annotated[Path, typer.Argument(help="An .ssd, .ssp or system .toml, or their folder")],
    output: Annotated[
        Path | None, typer.Option(help="The module to write; default: NAME_types.py, here")
    ] = None,
) -> None:
    """Write a module with the names and types of a system, for editors and checkers of types."""
    from orchestrator.author import read_system
    from orchestrator.core.recording import whole_file
    from orchestrator.core.simunits import resolve
    from orchestrator.core.ssp.archive.target import main_file

    file = main_file(target)
    system = resolve(read_system(file)).flat()
    name = re.sub(r"\W", "_", (target if target.is_dir() else file).resolve().stem)
    path = Path(f"{name}_types.py") if output is None else output
    if path.suffix not in {".py", ".pyi"}:
        raise LoadError.in_file(path, "expected a module to write, which ends in .py")
    with whole_file(path) as draft:
        draft.write_text(stub_text(system, file.name), encoding="utf-8")
    console.print(str(path), markup=False)
