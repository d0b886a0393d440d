"""Data types and payloads of DCP."""

import pytest

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp.data_types import (
    CONVERSIONS,
    DcpType,
    Payload,
    PayloadPlace,
    converts,
    pack_value,
    unpack_value,
)


def test_conversions_are_those_that_lose_nothing_that_the_standard_lists():
    allowed = sum(len(targets) for targets in CONVERSIONS.values())
    assert allowed == 9 + 7 + 4 + 1 + 6 + 5 + 3 + 1 + 2 + 1 + 1 + 1  # the crosses of Table 11
    assert converts(2, DcpType.INT64)
    assert not converts(2, DcpType.FLOAT32)
    assert not converts(99, DcpType.INT64)


@pytest.mark.parametrize("kind", list(DcpType))
def test_values_at_the_ends_of_their_types(kind, wording):
    if kind.is_integer:
        good, bad = [*kind.range, 0], [kind.range[0] - 1, kind.range[1] + 1, 0.5, True, "1"]
    elif kind.is_text:
        good, bad = (["", "ä"], [b"a", 1]) if kind is DcpType.STRING else ([b"", b"\0"], ["a", 1])
    else:
        good, bad = [0.0, -1.5, 1], [float("nan"), float("inf"), "1", *[1e39] * (kind.size == 4)]
    for value in good:
        assert unpack_value(kind, b"\7" + pack_value(kind, value), 1)[0] == value
    for value in bad:
        with wording.raises(WireFormatError):
            pack_value(kind, value)
    with wording.raises(WireFormatError):
        unpack_value(kind, pack_value(kind, good[0])[:-1], 0)


def test_the_examples_of_the_standard():
    # Tables 3, 4, 6 and 8: int32, float32, binary, string.
    assert pack_value(DcpType.INT32, -89498498).hex() == "7e5caafa"
    assert pack_value(DcpType.FLOAT32, 7256.2568359375).hex() == "0ec2e245"
    assert pack_value(DcpType.BINARY, bytes.fromhex("39e629d2")).hex() == "0400000039e629d2"
    assert pack_value(DcpType.STRING, "beef").hex() == "0400000062656566"


def test_payloads_are_whole(wording):
    layout = Payload([PayloadPlace(1, DcpType.UINT8, 2), PayloadPlace(2, DcpType.STRING, 1)])
    content = layout.pack({1: (1, 2), 2: ("ab",)})
    assert layout.unpack(content) == {1: (1, 2), 2: ("ab",)}
    for wrong in (content[:-1], content + b"\0", content[:-1] + b"\xff"):
        with wording.raises(WireFormatError):
            layout.unpack(wrong)
    with wording.raises(WireFormatError):
        layout.pack({1: (1,), 2: ("",)})
