"""Numbers on a command line are read as SSP has them: Python's own forms are wider."""

from __future__ import annotations

import pytest

from orchestrator.author.reading import plain_value, value_of
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Causality, Connector, DataType


@pytest.mark.parametrize("kind", [DataType.REAL, DataType.INTEGER])
@pytest.mark.parametrize(
    "text", ["1_0", "nan", "NaN", "inf", "-INF", "+-1", "1e", "٣", "1e999", ""]
)
def test_what_is_no_number_by_intent_is_refused(kind: DataType, text: str, wording) -> None:
    with wording.raises(DescriptionError):
        value_of(text, Connector("k", Causality.PARAMETER, kind), "a.k")
    assert plain_value(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [("-3", -3), ("+3", 3), (".5", 0.5), ("1e3", 1000.0), ("5.", 5.0), ("TRUE", True)],
)
def test_values_without_a_type(text: str, value: float) -> None:
    assert (plain_value(text), type(plain_value(text))) == (value, type(value))


def test_numbers_with_a_type() -> None:
    assert value_of(" 1.5e-3 ", Connector("k", Causality.PARAMETER), "a.k") == 1.5e-3
    connector = Connector("n", Causality.PARAMETER, DataType.INTEGER, shape=(2,))
    assert value_of("[1, -2]", connector, "a.n") == (1, -2)
