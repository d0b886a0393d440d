"""No code of the product takes the text of an error apart: what others need is data."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SOURCES = sorted(
    path
    for room in ("orchestrator", "python_blocks")
    for path in (ROOT / room).rglob("*.py")
    if "src" not in path.relative_to(ROOT).parts
)
#: What takes a text apart, as a method of it or of ``re``.
TAKES = {
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "splitlines",
    "startswith",
    "endswith",
    "find",
    "index",
    "replace",
    "search",
    "match",
    "fullmatch",
    "findall",
    "finditer",
    "sub",
}
#: Texts of errors that others raise, who give nothing but a text.
FOREIGN = {
    "orchestrator/core/files/plain_data.py": "tomllib",
    "orchestrator/core/ssp/common/names.py": "libxml2",
    "orchestrator/export/modelica/front_end_source.py": "Rumoca, as in the next file",
    "orchestrator/export/modelica/frontend.py": "the compiler Rumoca says lines in its texts only",
    "orchestrator/export/modelica/source/class_place.py": "the same",
}


def is_text(node: ast.expr, errors: set[str], texts: set[str]) -> bool:
    """Whether an expression is the text of an error, or made of one without more words."""
    match node:
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)]):
            return name in errors
        case ast.Attribute(attr="message" | "problems" | "text", value=ast.Name(id=name)):
            return name in errors
        case ast.Subscript(value=inner):
            return is_text(inner, errors, texts)
        case ast.Name(id=name):
            return name in texts
    return False


def names_in(function: ast.AST) -> tuple[set[str], set[str]]:
    """Names of errors that are caught, and of their texts."""
    handlers = [n for n in ast.walk(function) if isinstance(n, ast.ExceptHandler) and n.name]
    errors = {handler.name for handler in handlers}
    texts: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                texts |= {name} if is_text(value, errors, texts) else set()
            case ast.comprehension(target=ast.Name(id=name), iter=source):
                texts |= {name} if is_text(source, errors, texts) else set()
            case ast.For(target=ast.Name(id=name), iter=source):
                texts |= {name} if is_text(source, errors, texts) else set()
    return errors, texts


def taken_apart(source: str) -> list[int]:
    """Lines at which the text of an error is taken apart."""
    tree = ast.parse(source)
    lines = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        errors, texts = names_in(function)
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr=name, value=value), args=args):
                    given = [value, *args]
                    if name in TAKES and any(is_text(a, errors, texts) for a in given):
                        lines.append(node.lineno)
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]):
                    if is_text(right, errors, texts):
                        lines.append(node.lineno)
    return sorted(set(lines))


@pytest.mark.slow
def test_no_text_of_an_error_is_taken_apart():
    found = {str(p.relative_to(ROOT)): taken_apart(p.read_text("utf-8")) for p in SOURCES}
    assert {path for path, lines in found.items() if lines} == set(FOREIGN), found


@pytest.mark.parametrize(
    "line",
    [
        "str(error).removeprefix('a: ')",
        "text = str(error)\n        text.partition(': ')",
        "[text.split() for text in error.problems]",
        "PATTERN.search(str(error))",
        "'parse' in str(error)",
        "error.problems[0].startswith('a')",
    ],
)
def test_it_is_seen(line):
    source = f"def f():\n    try:\n        g()\n    except ValueError as error:\n        {line}\n"
    assert taken_apart(source)


def test_a_text_may_be_passed_on():
    assert not taken_apart(
        "def f():\n    try:\n        g()\n    except ValueError as error:\n"
        "        raise LoadError(f'a: {error}') from None\n"
    )
