"""What is wrong with a file that does not fit its form, in words: one sentence for each key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

#: What a value of one of several types is expected to be, by pydantic's kind of error.
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
}
Location = tuple[int | str, ...]


def misread(path: Path, form: type[BaseModel], error: ValidationError) -> list[str]:
    """Say what is wrong, key by key.

    Parameters
    ----------
    path
        The file.
    form
        What it was read as.
    error
        What pydantic found; of a value that may have several types, one entry for each.
    """
    told = []
    items = [
        (tuple(_keys(form, item["loc"])), item)
        for item in error.errors()
        if item["type"] != "too_short" or not item["input"]  # else what is wrong in it is listed
    ]
    for where, same in groupby(items, key=lambda pair: pair[0]):
        told.append(f"{path}: {_told(form, where, [item for _, item in same])}")
    return told


def _told(form: type[BaseModel], where: Location, items: Sequence[Mapping[str, Any]]) -> str:
    key, item = ".".join(map(str, where)), items[0]
    if item["type"] == "extra_forbidden":
        known = [name for model in _tables(form, where[:-1]) for name in _names(model)]
        close = get_close_matches(str(where[-1]), known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(set(known)))}"
        return f"unknown key '{key}'; {hint}"
    if item["type"] == "missing":
        return f"missing key '{key}'"
    types = list(dict.fromkeys(_TYPES[i["type"]] for i in items if i["type"] in _TYPES))
    if types:
        return f"'{key}': expected {' or '.join(types)}, found {item['input']!r}"
    return f"'{key}': {item['msg']}, found {item['input']!r}"


def _keys(form: type[BaseModel], location: Location) -> Iterator[int | str]:
    """Leave out what pydantic adds to a place: which type of several it tried."""
    tables = [form]
    inside = False  # of a table of free names, or of a list
    for part in location:
        here = [field for model in tables for name, field in _fields(model) if name == part]
        if here:
            yield part
            kinds = [field.annotation for field in here]
            tables = [model for kind in kinds for model in _models(kind)]
            inside = any(_holds(kind) for kind in kinds)
        elif inside or isinstance(part, int):
            yield part
            inside = False
        elif tables and part == location[-1] and not _is_tag(part):
            yield part  # no table has it


def _is_tag(part: int | str) -> bool:
    return part in {"str", "int", "float", "bool"} or "[" in str(part)


def _tables(form: type[BaseModel], where: Location) -> list[type[BaseModel]]:
    tables = [form]
    for part in where:
        here = [field for model in tables for name, field in _fields(model) if name == part]
        if here:
            tables = [model for field in here for model in _models(field.annotation)]
    return tables


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        yield field.alias or name, field


def _names(model: type[BaseModel]) -> list[str]:
    return [name for name, _ in _fields(model)]


def _models(kind: Any) -> list[type[BaseModel]]:
    """Tables that a value may be, or hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [model for part in get_args(kind) for model in _models(part)]


def _holds(kind: Any) -> bool:
    """Whether a value has keys of any name."""
    if get_origin(kind) in (Union, UnionType, Annotated):
        return any(_holds(part) for part in get_args(kind))
    return get_origin(kind) is dict
