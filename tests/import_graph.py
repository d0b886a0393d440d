"""The graph of imports of the package, and its circles: for tests and benchmarks/house.py."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

import orchestrator

ROOT = Path(orchestrator.__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.glob("orchestrator/**/*.py")
}
#: The files that reach up, from whichever file asks them.
UPWARD = {"orchestrator.core.upward", "orchestrator.study.upward"}


def is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(node: ast.AST, *, annotations: bool) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.module:
            yield from ((child.module, alias.name) for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, "") for alias in child.names)
        elif annotations or not is_for_checkers(child):
            yield from imports(child, annotations=annotations)


@cache
def homes_in(module: str) -> dict[str, str]:
    """Where the names of a package come from, by its face."""
    path = MODULES.get(module)
    if path is None or path.name != "__init__.py":
        return {}
    return {name: home for home, name in imports(ast.parse(path.read_text()), annotations=True)}


def home_of(module: str, name: str) -> str:
    """The module that a name comes from: a file of a package, or what its face imports it from."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    return homes_in(module).get(name, module)


def circles(*, annotations: bool) -> list[list[str]]:
    """List the circles of files, also those that only calls of functions would close."""
    graph: nx.DiGraph = nx.DiGraph()
    for module, path in MODULES.items():
        if path.name != "__init__.py":
            tree = ast.parse(path.read_text())
            homes = {home_of(*pair) for pair in imports(tree, annotations=annotations)}
            graph.add_edges_from(
                (module, home) for home in homes & MODULES.keys() - {module} - UPWARD
            )
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
