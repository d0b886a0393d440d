"""Tables of files: their base, what does not fit them, and models that are imported late."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt, StrictStr, ValidationError

from orchestrator.core.diagnostics.errors import (
    DescriptionError,
    Diagnostic,
    Severity,
    toml_key,
)
from orchestrator.core.diagnostics.wording import choices_for, nearest_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationInfo
    from pydantic_core import CoreSchema


#: A time in a table: a number of seconds, or a text with a unit.
Time = StrictStr | StrictInt | StrictFloat


class Table(BaseModel):
    """Base of tables of files: it is not changed once it is read, and refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)


@dataclass(frozen=True)
class _Deferred:
    """Reads values of a model, or of a union of models, which is imported for the first value.

    load: Imports it.
    """

    load: Callable[[], Any]

    @cached_property
    def model(self) -> Any:
        """The model itself."""
        return self.load()

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        from pydantic import TypeAdapter

        return TypeAdapter(self.model)

    def _read(self, value: object, info: ValidationInfo) -> Any:
        return self._adapter.validate_python(value, context=info.context)

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> CoreSchema:
        from pydantic_core.core_schema import with_info_plain_validator_function

        return with_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, _schema: object, handler: Any) -> Any:
        return handler(self._adapter.core_schema)


def deferred(load: Callable[[], Any]) -> Any:
    """Return the type of a key whose model is imported when a value is read.

    load: Imports and returns the model, or a union of models.
    """
    return Annotated[Any, _Deferred(load)]


#: What a value is expected to be, by pydantic's kind of error; in braces what it knows more.
_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "a number > {gt}",
    "greater_than_equal": "a number >= {ge}",
    "less_than": "a number < {lt}",
    "less_than_equal": "a number <= {le}",
    "too_short": "at least {min_length}",
    "value_error": "{error}",
}
#: What pydantic calls plain types that it tried.
_TAGS = {"str", "int", "float", "bool"}
Location = tuple[int | str, ...]
Form = type[BaseModel]
Model = TypeVar("Model", bound=BaseModel)


def valid(
    form: type[Model],
    content: object,
    file: object = "",
    code: str = "DescriptionError",
    *,
    context: Mapping[str, Any] | None = None,
) -> Model:
    """Read content of a form; DescriptionError: what is wrong, key by key.

    context: For validators of the form.
    """
    try:
        return form.model_validate(content, context=context)
    except ValidationError as error:
        raise DescriptionError(*format_validation_error(error, form, file, code)) from None


def format_validation_error(
    error: ValidationError, form: Form, file: object = "", code: str = "DescriptionError"
) -> list[Diagnostic]:
    """Return the problems key by key; a misspelt key that is required is reported once."""
    items = [
        (_location(form, item), item)
        for item in error.errors()
        if item["type"] != "too_short" or not item["input"]  # else what is wrong in it is listed
    ]
    unknown: list[Diagnostic] = []
    diagnostics: list[Diagnostic] = []
    missing, meant = {}, set()
    for location, same in groupby(items, key=lambda pair: pair[0]):
        text, hint = _message(form, location, listed := [item for _, item in same])
        diagnostic = Diagnostic(
            code, Severity.ERROR, text, str(file), key=toml_key(*location), hint=hint
        )
        is_unknown = listed[0]["type"] == "extra_forbidden"
        (unknown if is_unknown else diagnostics).append(diagnostic)
        if listed[0]["type"] == "missing":
            missing[location] = diagnostic
        if hint:
            meant.add((*location[:-1], hint))
    explained = [diagnostic for location, diagnostic in missing.items() if location in meant]
    # A misspelt key may be meant for a missing one, so unknown keys come first.
    return [diagnostic for diagnostic in (*unknown, *diagnostics) if diagnostic not in explained]


def _location(form: Form, item: Mapping[str, Any]) -> Location:
    keys, parts = tuple(_keys(form, item["loc"])), item["loc"]
    if item["type"] == "extra_forbidden" and keys[-1:] != parts[-1:]:
        return (*keys, parts[-1])  # a key that looks like a kind, such as "int"
    return keys


def _message(form: Form, location: Location, items: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the message about one key, and the name that was probably meant."""
    key, item = toml_key(*location), items[0]
    if item["type"] == "extra_forbidden":
        name = str(location[-1])
        names = sorted({name for model in _tables(form, location[:-1]) for name in _names(model)})
        return f"unknown key '{key}'{choices_for(name, names, 'key')}", nearest_name(name, names)
    if item["type"] == "missing":
        return f"missing key '{key}'", ""
    expected = list(dict.fromkeys(_expected(item) for item in items if item["type"] in _EXPECTED))
    text = f"expected {' or '.join(expected)}" if expected else item["msg"]
    if len(expected) == 1 and "expected " in expected[0]:  # an error of a validator says it all
        text = expected[0]
    elif not isinstance(item["input"], dict) or item["type"] != "value_error":
        text += f", found {item['input']!r}"  # the keys of a whole table are in the file
    return f"'{key}': {text}" if key else text, ""


def _expected(item: Mapping[str, Any]) -> str:
    return _EXPECTED[item["type"]].format(**item.get("ctx", {}))


def _keys(form: Form, location: Location) -> Iterator[int | str]:
    """Leave out what pydantic adds to a place: which type of several it tried."""
    tables = [form]
    inside = False  # of a table of free names, or of a list
    for part in location:
        here = _kinds_of(part, tables)
        if here:
            yield part
            tables = [model for kind in here for model in _models(kind)]
            inside = any(map(_holds, here))
        elif inside or isinstance(part, int):
            yield part
            inside = False
        elif tables and part == location[-1] and part not in _TAGS and "[" not in part:
            yield part  # no table has it


def _tables(form: Form, location: Location) -> list[Form]:
    tables = [form]
    for part in location:
        here = _kinds_of(part, tables)
        if here:
            tables = [model for kind in here for model in _models(kind)]
    return tables


def _kinds_of(key: int | str, tables: Sequence[Form]) -> list[Any]:
    """What the value of a key may be in some tables."""
    fields = (pair for model in tables for pair in model.model_fields.items())
    return [field.annotation for name, field in fields if (field.alias or name) == key]


def _names(model: Form) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(kind: Any) -> list[Form]:
    """Tables that a value may be, or hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    if isinstance(kind, _Deferred):
        return _models(kind.model)
    return [model for part in get_args(kind) for model in _models(part)]


def _holds(kind: Any) -> bool:
    """Whether a value has keys of any name."""
    if get_origin(kind) in (Union, UnionType, Annotated):
        return any(_holds(part) for part in get_args(kind))
    return get_origin(kind) is dict
