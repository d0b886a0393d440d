"""Models of tables that are imported when the first of them is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import CoreSchema


@dataclass(frozen=True)
class LaterModel:
    """What stands for a model, or a union of some, in the type of a key.

    Parameters
    ----------
    load
        Imports it.
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

    def _read(self, value: object) -> Any:
        return self._adapter.validate_python(value)

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> CoreSchema:
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, _schema: object, handler: Any) -> Any:
        return handler(self._adapter.core_schema)


def later_model(load: Callable[[], Any]) -> Any:
    """Return a type whose values are those of a model that is loaded when one is read."""
    return Annotated[Any, LaterModel(load)]
