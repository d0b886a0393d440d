"""What the face of a package hands on is imported from there, by whoever stands outside of it."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("orchestrator", "python_blocks", "hw_adapters")


def imports(file):
    return [
        node
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]


@cache
def face(package):
    """Each name that a package hands on, and the module that it comes from."""
    file = ROOT.joinpath(*package, "__init__.py")
    if not file.is_file():
        return {}
    return {name.asname or name.name: node.module for node in imports(file) for name in node.names}


def past_a_face(file):
    """Names that a file takes from within a package whose face has them."""
    here = file.relative_to(ROOT).parent.parts
    for node in imports(file):
        parts = tuple(node.module.split("."))
        outside = [parts[:n] for n in range(1, len(parts)) if here[:n] != parts[:n]]
        for name in node.names:
            if parts[0] in TOPS and any(face(p).get(name.name) == node.module for p in outside):
                yield f"{file.relative_to(ROOT)}: {name.name} from {node.module}"


def test_no_import_goes_past_a_face():
    files = [file for top in TOPS for file in sorted(ROOT.glob(f"{top}/**/*.py"))]
    assert files
    assert [line for file in files for line in past_a_face(file)] == []


def test_an_import_past_a_face_is_found(tmp_path, monkeypatch):
    package = tmp_path / "orchestrator" / "core" / "system"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from orchestrator.core.system.unit import conversion\n")
    reader = tmp_path / "orchestrator" / "reader.py"
    reader.write_text("from orchestrator.core.system.unit import conversion, per_second\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    face.cache_clear()
    try:
        assert list(past_a_face(reader)) == [
            "orchestrator/reader.py: conversion from orchestrator.core.system.unit"
        ]
    finally:
        face.cache_clear()
