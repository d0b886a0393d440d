"""Values of the package are structs; a dataclass remains only where a struct cannot do its work."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "orchestrator"
#: Options of a field that structs do not have.
OF_A_DATACLASS = {"init", "repr", "compare"}
#: Dataclasses without such a field.
REASONS = {
    "Capabilities": "pydantic reads it from the answer of a process",
    "Diagnostic": "pydantic reads it from the answer of a process",
    "FaultRecord": "pydantic reads it from the metadata of a recording",
    "Mark": "pydantic reads it from the metadata of a recording",
    "Notice": "pydantic reads it from the answer of a process and from a recording",
    "Tuned": "pydantic reads it from the metadata of a recording",
    "QuasiPolynomial": "has an __init__ of its own, which takes other types than its fields have",
    "_Deferred": "has cached properties and is an annotation for pydantic",
}


def last_name(node):
    """Return the name of a function or decorator without its module and arguments."""
    return ast.unparse(node).partition("(")[0].rpartition(".")[2]


def classes():
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    for path in [path for path, text in texts.items() if "dataclass" in text]:
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.ClassDef) and any(
                last_name(d) == "dataclass" for d in node.decorator_list
            ):
                yield path.relative_to(PACKAGE).as_posix(), node


def has_field_of_a_dataclass(node):
    return any(
        isinstance(call, ast.Call)
        and last_name(call) == "field"
        and any(k.arg in OF_A_DATACLASS for k in call.keywords)
        for call in ast.walk(node)
    )


FOUND = {node.name: (path, node) for path, node in classes()}


@pytest.mark.parametrize("name", FOUND)
def test_a_dataclass_has_its_reason(name):
    path, node = FOUND[name]
    assert has_field_of_a_dataclass(node) or name in REASONS, f"{path}: derive {name} from Struct"


def test_reasons_are_those_of_dataclasses_that_need_one():
    assert {name for name, (_, node) in FOUND.items() if not has_field_of_a_dataclass(node)} == set(
        REASONS
    )
