"""What the process of a unit may answer: its form, since the process may be anything but sound."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.plain_data import misfit
from orchestrator.core.simunits.protocol.description import Capabilities
from orchestrator.core.simunits.protocol.notice import Notice


class Answer(TypedDict):
    """One answer: what was logged since the last, and a result or an error.

    An error of Softdock has its class and its diagnostics, another one its text.
    """

    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]
    log: list[tuple[str, int, str]]
    error: NotRequired[str]
    diagnostics: NotRequired[Any]
    text: NotRequired[str]
    trace: NotRequired[str]
    result: NotRequired[Any]


#: Of the calls that return something, and of what an error carries.
_RESULTS: Mapping[str, Any] = {
    "diagnostics": list[Diagnostic],
    "make": Capabilities,
    "bind": tuple[bool, int, bool, bool],
    "get_state": int,
    "deserialize": int,
    "notices": list[Notice],
    "notes": list[str],
    "last_ns": int,
    "exception": str,
    "last_message": str,
}


def answer_of(content: Any) -> Answer:
    """Take a message for an answer.

    Raises
    ------
    ValueError
        If it is none.
    """
    found: Answer = _checked(_form(""), content)
    if "error" in found and not {"diagnostics" if found["error"] else "text", "trace"} <= {*found}:
        raise ValueError("an error without what it says")
    if "diagnostics" in found:
        found["diagnostics"] = _checked(_form("diagnostics"), found["diagnostics"])
    return found


def result_of(what: str, answer: Answer) -> Any:
    """Return the result of a call.

    Raises
    ------
    ValueError
        If it is not what such a call returns.
    """
    found = answer.get("result")
    if what == "value" and (found is None or isinstance(found, dict)):
        raise ValueError(f"no value: {found!r}")
    return _checked(_form(what), found) if what in _RESULTS else found


def _checked(form: TypeAdapter[Any], content: Any) -> Any:
    try:
        return form.validate_python(content)
    except ValidationError as error:
        raise ValueError(misfit(error)) from None


@cache
def _form(what: str) -> TypeAdapter[Any]:
    return TypeAdapter(_RESULTS[what] if what else Answer)
