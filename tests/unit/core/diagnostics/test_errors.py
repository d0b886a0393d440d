"""Errors carry their diagnostics as data, and their text is made from them."""

import pickle

import pytest

from orchestrator.core import diagnostics
from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    FmuError,
    Severity,
    SoftdockError,
    SspError,
    UnknownNameError,
    error_named,
)
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import RefusalError, refusal

CLASSES = [
    kind
    for kind in vars(diagnostics).values()
    if isinstance(kind, type) and issubclass(kind, SoftdockError)
]
FULL = Diagnostic(
    "SSP104",
    Severity.ERROR,
    "there is no 'u'. Did you mean 'v'?",
    "s.ssd",
    7,
    "connection a.y -> b.u",
    "a.y -> b.u",
    "v",
    "SSP 1.0, 5.3.2",
)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_takes_words_and_data(kind):
    error = kind("no such thing", FULL)
    assert error.diagnostics == (Diagnostic(kind.__name__, Severity.ERROR, "no such thing"), FULL)
    assert str(error) == f"no such thing\n{FULL}"
    assert error_named(kind.__name__) is kind


@pytest.mark.parametrize("error", [FmuError(FULL, "more"), refusal(codes.URI, "no", "SSP 1.0")])
def test_an_error_of_another_process_is_the_same(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert type(again) is type(error)
    assert again.diagnostics == error.diagnostics
    assert str(again) == str(error)


def test_the_text_says_context_file_line_place_message_clause():
    assert str(FULL) == (
        "s.ssd:7: connection a.y -> b.u: there is no 'u'. Did you mean 'v'? (SSP 1.0, 5.3.2)"
    )
    within = FULL.within("system 'arm'").within("case 'one'")
    assert str(within) == f"case 'one': system 'arm': {FULL}"
    assert within.inner.inner == FULL
    assert within.as_json()["context"] == "case 'one': system 'arm'"


def test_several_problems_become_one_error():
    one, other = UnknownNameError("a", "b"), DescriptionError("c")
    assert DescriptionError.collect([one]) is one
    both = DescriptionError.collect([one, other])
    assert both.problems == ("a", "b", "c")
    assert [diagnostic.code for diagnostic in both.diagnostics] == [
        "UnknownNameError",
        "UnknownNameError",
        "DescriptionError",
    ]


def test_a_file_is_said_once():
    error = SspError.in_file("s.ssd", "is damaged")
    assert str(error) == "s.ssd: is damaged"
    assert error.of_file("other.ssd").diagnostics == error.diagnostics
    named = refusal(codes.ROOT, "no root").of_file("s.ssd")
    assert isinstance(named, RefusalError)
    assert (str(named), named.diagnostics[0].code) == ("s.ssd: no root", "SSP005")
