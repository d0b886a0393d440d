"""The declarations of the engine for type checkers are those of the engine that is installed.

The engine carries a signature for each of its functions. Types are compared where both sides name a
plain one: the stub says more of rows, arrays and tuples than the engine knows.
"""

import ast
import inspect
import re
from enum import Enum
from pathlib import Path

import pytest

from orchestrator import engine
from orchestrator.engine import _engine

_STUB = ast.parse((Path(engine.__file__).parent / "_engine.pyi").read_text(encoding="utf-8"))
_PLAIN = {"int", "float", "str", "bool", "bytes", "None"}


def _is_protocol(node):
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)


_CLASSES = {n.name: n for n in _STUB.body if isinstance(n, ast.ClassDef) and not _is_protocol(n)}


def _members(node):
    """Functions and properties of a class or of the module in the stub, each with its kind."""
    members = {}
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef):
            names = [ast.unparse(decorator) for decorator in inner.decorator_list]
            if f"{inner.name}.setter" in names:
                members[inner.name] = ("attribute", inner)
            else:
                kind = "property" if "property" in names else "function"
                members[inner.name] = (kind, inner)
        elif isinstance(inner, ast.AnnAssign):
            members[inner.target.id] = ("attribute", inner)
        elif isinstance(inner, ast.Assign):
            members[inner.targets[0].id] = ("member", inner)
    return members


def _own(owner):
    """Functions and properties that a class of the engine defines, each with its kind."""
    members = {}
    for name, value in vars(owner).items():
        if isinstance(value, property):
            members[name] = ("property" if value.fset is None else "attribute", value)
        elif hasattr(value, "__nb_signature__") and name != "__new__":
            members[name] = ("function", value)
    return members


def _installed(owner):
    """Those of a class of the engine: what every derived class defines counts as its base's."""
    members = _own(owner)
    derived = [_own(inner) for inner in owner.__subclasses__()]
    if derived:
        common = set.intersection(*map(set, derived)) & {*_members(_CLASSES[owner.__name__])}
        members |= {name: derived[0][name] for name in common}
    above = [_CLASSES[base.__name__] for base in owner.__bases__ if base.__name__ in _CLASSES]
    inherited = {name for node in above for name in _members(node)}
    return {name: member for name, member in members.items() if name not in inherited}


def _shape(function, fewest=None):
    """Parameters of a function, each with whether it may be left out and its type, and the result.

    fewest: How many parameters the shortest of its overloads has.
    """
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args]
    needed = min(len(every) - len(arguments.defaults), fewest or len(every))
    parameters = [
        (
            argument.arg if number >= len(arguments.posonlyargs) else "",
            number >= needed,
            argument.annotation and ast.unparse(argument.annotation),
        )
        for number, argument in enumerate(every)
    ]
    return parameters, function.returns and ast.unparse(function.returns)


def _signatures(function):
    """Signatures of the overloads of a function of the engine, the longest last."""
    texts = [each[0].replace("\\", "") for each in function.__nb_signature__]
    texts = [re.sub(r"ndarray\[[^]]*\]", "ndarray", text) for text in texts]
    parsed = [ast.parse(f"{text}: ...").body[0] for text in texts]
    return sorted(parsed, key=lambda each: len(_shape(each)[0]))


def _differences(label, declared, function):
    shortest, *_, longest = [*_signatures(function)[:1], *_signatures(function)]
    told, result = _shape(declared)
    own, own_result = _shape(longest, len(_shape(shortest)[0]))
    if [each[:2] for each in told] != [each[:2] for each in own]:
        yield f"{label}: {ast.unparse(declared.args)}, the engine has {ast.unparse(longest.args)}"
        return
    types = [(first[2], second[2]) for first, second in zip(told, own, strict=True)]
    for declared_type, engine_type in [*types, (result, own_result)]:
        if {declared_type, engine_type} <= _PLAIN and declared_type != engine_type:
            yield f"{label}: type {declared_type}, the engine has {engine_type}"


@pytest.mark.parametrize("name", sorted(_CLASSES))
def test_a_class_is_declared_as_it_is(name):
    owner, node = getattr(_engine, name), _CLASSES[name]
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
    if issubclass(owner, Enum):
        assert set(_members(node)) == set(owner.__members__)
        return
    assert bases == [base.__name__ for base in owner.__bases__ if base is not object]
    declared, installed = _members(node), _installed(owner)
    assert {k: kind for k, (kind, _) in declared.items()} == {
        k: kind for k, (kind, _) in installed.items()
    }
    wrong = []
    for key, (kind, function) in declared.items():
        if kind == "function":
            wrong += _differences(f"{name}.{key}", function, installed[key][1])
    assert wrong == []


def test_the_module_is_declared_as_it_is():
    names = {n for n in vars(_engine) if not n.startswith("_")}
    classes = {n for n in names if inspect.isclass(getattr(_engine, n))}
    assert set(_CLASSES) == classes
    functions = {n: getattr(_engine, n) for n in names - classes if callable(getattr(_engine, n))}
    declared = {n.name: n for n in _STUB.body if isinstance(n, ast.FunctionDef)}
    assert set(declared) == set(functions)
    wrong = []
    for name, function in functions.items():
        wrong += _differences(name, declared[name], function)
    assert wrong == []
