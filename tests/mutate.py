"""Make small mistakes in rooms of Python, and list those that no quick test notices.

``make mutate`` or ``python -m tests.mutate [--count N] [--seed S] [--seconds T] [--processes P]
[ROOM ..]``: of each room N mistakes, P at a time, the same for the same seed. Tests that take
longer than T count as noticing, and are ended with all that they started.
In all processes of a test ``tests/mutants/sitecustomize.py`` lets this module compile the file that
MUTANT names (path:number) mistaken.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from tests.processes import on_trial

ROOT = Path(__file__).resolve().parents[1]
_DECIDE = ("gate", "rest_profile", "limits", "checks", "machine", "states", "supervisor")
_SYNTHETIC = (
    *(f"{name}_limits" for name in ("machine", "check", "gate", "rig")),
    *("transitions", "supervisor", "gate", "rest", "check_states", "motion_check"),
    "watched_limits",
)
#: Rooms: files below ``orchestrator``, and the quick tests of them below ``tests/unit``.
ROOMS = {
    "core/coupling": (("core/coupling/*",), ("core/coupling", "core/faults", "loops/test_axis.py")),
    "rig/identification": (
        ("rig/identification/*",),
        ("rig/identification", "rig/test_twin_file.py", "rig/test_clock.py"),
    ),
    "loops/contact": (("loops/contact/*",), ("loops/contact",)),
    "loops": (("loops/*",), ("loops", "rig/test_margins.py")),
    "rig/supervisor": (
        tuple(f"rig/supervisor/{name}" for name in _DECIDE),
        tuple(f"rig/supervisor/test_{name}.py" for name in _SYNTHETIC),
    ),
    "rig/supervisor/wire": (
        ("rig/supervisor/process", "rig/supervisor/wire"),
        tuple(
            f"rig/supervisor/test_{name}.py"
            for name in ("process_limits", "operators", "processes", "rig_in_step")
        ),
    ),
    "rig/device_units": (
        ("rig/device_units/supervision", "rig/device_units/io_loop"),
        (
            *(f"rig/device_units/test_{name}_limits.py" for name in ("seat", "link", "own_gate")),
            "rig/device_units",
        ),
    ),
    "rig/arming": (
        ("rig/arming/*", "rig/hardware/line_delay"),
        (
            "rig/test_arming_limits.py",
            "rig/test_line_delay.py",
            "rig/test_margins.py",
            *("rig/test_sampled_arming.py", "rig/test_tuned_margins.py", "rig/test_hardware.py"),
        ),
    ),
}
#: Rooms of processes, whose tests take a second or two each.
_OF_PROCESSES = frozenset(("rig/supervisor/wire", "rig/device_units"))
_OTHER = {
    getattr(ast, name): getattr(ast, other)
    for name, _, other in (
        pair.partition(":")
        for pair in [
            "Add:Sub",
            "Sub:Add",
            "Mult:Div",
            "Div:Mult",
            "MatMult:Add",
            "FloorDiv:Div",
            "Mod:Mult",
            "Lt:LtE",
            "LtE:Lt",
            "Gt:GtE",
            "GtE:Gt",
            "Eq:NotEq",
            "NotEq:Eq",
            "Is:IsNot",
            "IsNot:Is",
            "And:Or",
            "Or:And",
            "In:NotIn",
            "NotIn:In",
        ]
    )
}


def places(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """Return the nodes that a mistake can be made in, and the field that it changes."""
    types = [getattr(n, field, None) for n in ast.walk(tree) for field in ("annotation", "returns")]
    notes = {id(inner) for one in types if one for inner in ast.walk(one)}
    kept = (node for node in ast.walk(tree) if id(node) not in notes)
    return [(node, field) for node in kept for field in _fields(node)]


def _fields(node: Any) -> Iterator[str]:
    if type(getattr(node, "op", None)) in _OTHER:
        yield "op"
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
        yield "ops"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "operand"
    elif isinstance(node, ast.Constant) and type(node.value) in {int, float, bool}:
        yield "value"
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"min", "max"}:
        yield "func"
    if isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare):
        yield "test"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "value"


def mistake(tree: ast.Module, number: int) -> str:
    """Make one mistake in a tree, and say which."""
    node: Any
    node, field = places(tree)[number]
    before, held = ast.unparse(node), getattr(node, field)
    if field == "op":
        node.op = _OTHER[type(held)]()
    elif field == "ops":
        node.ops = [_OTHER[type(held[0])](), *held[1:]]
    elif field == "func":
        node.func.id = "max" if held.id == "min" else "min"
    elif field == "test":
        node.test = ast.UnaryOp(ast.Not(), held)
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(held, bool):
        node.value = not held
    elif field == "operand":
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        node.operand = ast.UnaryOp(ast.Not(), held) if isinstance(node.op, ast.Not) else held
    else:
        node.value = held * 2 or held + 1
    texts = (text.partition("\n")[0] for text in (before, ast.unparse(node)))
    return f"line {node.lineno}: {'  ->  '.join(texts)}"


def _code(path: str, number: int, loader: SourceFileLoader, name: str) -> CodeType | None:
    if loader.path != path:
        return _GET_CODE(loader, name)
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    mistake(tree, number)
    return compile(ast.fix_missing_locations(tree), path, "exec")


def noticed(room: str, seconds: float, mutant: tuple[Path, int]) -> bool:
    """Whether a test of a room fails with a mistake: a quick one, or one of processes."""
    tests = [f"tests/unit/{each}" for each in ROOMS[room][1]]
    quick = ["-x", "-q", "--numprocesses", "0", "-p", "no:cacheprovider"]
    quick += [] if room in _OF_PROCESSES else ["--leave-out-slow"]
    command = [sys.executable, "-m", "pytest", *quick, *tests]
    variables = {
        "MUTANT": f"{mutant[0]}:{mutant[1]}",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT / "tests" / "mutants"),
    }
    return on_trial(command, ROOT, variables, seconds)[0] != 0


def main() -> None:
    """Try the mistakes of each room, some at a time."""
    options = argparse.ArgumentParser()
    options.add_argument("rooms", nargs="*", default=list(ROOMS), choices=[[], *ROOMS])
    for name, value in (("count", 12), ("seed", 1), ("seconds", 300), ("processes", 2)):
        options.add_argument(f"--{name}", type=int, default=value)
    asked = options.parse_args()
    for room in asked.rooms:
        top, patterns = ROOT / "orchestrator", ROOMS[room][0]
        files = sorted(file for pattern in patterns for file in top.glob(f"{pattern}.py"))
        trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
        if noticed(room, 2.0 * asked.seconds, (ROOT / "nothing", 0)):
            raise SystemExit(f"{room}: its quick tests fail, or take too long, without a mistake")
        every = [(path, i) for path, tree in trees.items() for i in range(len(places(tree)))]
        chosen = random.Random(asked.seed).sample(every, min(asked.count, len(every)))  # noqa: S311
        with ThreadPoolExecutor(asked.processes) as all_of_them:
            found = list(all_of_them.map(partial(noticed, room, asked.seconds), chosen))
        left = [one for one, seen in zip(chosen, found, strict=True) if not seen]
        told = [f"{room}: {len(chosen)} of {len(every)} mistakes tried, {len(left)} survived"]
        for path, i in sorted(left):
            said = mistake(ast.parse(path.read_text("utf-8")), i)
            told.append(f"  {path.relative_to(ROOT)} {said}")
        sys.stdout.write("\n".join([*told, ""]))
        sys.stdout.flush()


if place := os.environ.get("MUTANT"):
    _GET_CODE = SourceFileLoader.get_code
    _path, _, _number = place.rpartition(":")
    SourceFileLoader.get_code = lambda self, name: _code(_path, int(_number), self, name)  # type: ignore[method-assign, assignment]

if __name__ == "__main__":
    main()
