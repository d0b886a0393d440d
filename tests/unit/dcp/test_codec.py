"""Bytes to PDUs and back: the trace of a master with DCPLib's slave, round trips, damage."""

from contextlib import suppress
from dataclasses import fields
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp import pdus
from orchestrator.dcp.identifiers import PduType
from orchestrator.dcp.pdus import PDUS, Frames, LengthError, decode, encode, framed, header_of

U = bytes.fromhex("b5279485720d45429f29bee4d9a75ef9")
HERE = pdus.place_of("127.0.0.1", 8090)
SLAVE = pdus.place_of("127.0.0.1", 8080)
#: Seen on the wire between a master and the example slave of DCPLib.
TRACE = {
    "80000001": pdus.AskState(0, 1),
    "b200000100": pdus.StateAck(0, 1, 0),
    "0101000100b5279485720d45429f29bee4d9a75ef9010100": pdus.Register(1, 1, 0, U, 1, 1, 0),
    "b0010001": pdus.Ack(1, 1),
    "e00101": pdus.StateChanged(1, 1),
    "2b020001010000": pdus.ConfigureScope(2, 1, 1, 0),
    "2204000101000000020000000000000009": pdus.ConfigureInput(4, 1, 1, 0, 2, 9),
    "23050001020000000100000000000000": pdus.ConfigureOutput(5, 1, 2, 0, 1),
    "21060001010000000200": pdus.Steps(6, 1, 1, 2),
    "200700010100000064000000": pdus.TimeRes(7, 1, 1, 100),
    "26080001010000901f0100007f": pdus.SourceNetworkInformation(8, 1, 1, 0, SLAVE),
    "250900010200009a1f0100007f": pdus.TargetNetworkInformation(9, 1, 2, 0, HERE),
    "030a000101": pdus.Prepare(10, 1, 1),
    "040b000103": pdus.Configure(11, 1, 3),
    "050c000105": pdus.Initialize(12, 1, 5),
    "080d000107": pdus.SendOutputs(13, 1, 7),
    "060e0001050000000000000000": pdus.Run(14, 1, 5, 0),
    "f001000200524ff3f59e68e1bf": pdus.Data(1, 2, bytes.fromhex("524ff3f59e68e1bf")),
    "80110001": pdus.AskState(17, 1),
    "b111000110001320": pdus.Nack(17, 1, 16, 0x2013),
    "091000010b": pdus.Stop(16, 1, 11),
    "0211000110": pdus.Deregister(17, 1, 16),
}


@pytest.mark.parametrize("content", TRACE)
def test_the_trace_is_read_and_written(content):
    assert decode(bytes.fromhex(content)) == TRACE[content]
    assert encode(TRACE[content]).hex() == content


def test_places_are_little_endian():
    assert pdus.NetworkInformation(0, 1, 1, 0, HERE).address == ("127.0.0.1", 8090)
    assert bytes.fromhex("9a1f0100007f") == HERE


def test_there_is_a_pdu_for_every_type():
    assert set(PDUS) == set(PduType)
    assert {kind.kind for kind in PDUS.values()} == set(PduType)
    assert PduType.CFG_TIME_RES.title == "CFG_time_res"


SIZES = {"B": 2**8, "H": 2**16, "I": 2**32, "Q": 2**64, "q": 2**63}


@st.composite
def any_pdu(draw):
    kind = draw(st.sampled_from(list(PDUS.values())))
    codes = list(kind.layout.format[1:].replace("16s", "u"))
    values = [
        draw(st.binary(min_size=16, max_size=16))
        if code == "u"
        else draw(st.integers(0, SIZES[code] - 1))
        for code in codes
    ]
    names = [field.name for field in fields(kind)]
    if "state" in names and not issubclass(kind, pdus.Request):
        values[names.index("state")] %= 0x13
    if issubclass(kind, pdus.NetworkInformation):
        values[names.index("transport")] = draw(st.sampled_from([0, 4]))
        return kind(*values, draw(st.binary(min_size=6, max_size=6)))
    return kind(*values, *([draw(st.binary(max_size=40))] if kind.has_tail else []))


@given(any_pdu())
def test_what_is_written_is_read(pdu):
    assert decode(encode(pdu)) == pdu


@given(any_pdu())
def test_another_length_is_refused(pdu):
    content = encode(pdu)
    shortest = 1 + pdu.layout.size
    with pytest.raises(WireFormatError):
        decode(content[: shortest - 1])
    if not pdu.has_tail:
        with pytest.raises(LengthError, match="expected"):
            decode(content + b"\0")


def test_ten_thousand_damaged_pdus_are_read_as_they_are_or_refused():
    chance, sound = Random(1), [bytes.fromhex(each) for each in TRACE]  # noqa: S311 - of a test
    read = 0
    for _ in range(10_000):
        content = bytearray(chance.choice(sound))
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(content))
            content[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
            content = content or bytearray(b"\0")
        with suppress(WireFormatError):
            assert encode(decode(bytes(content))) == content
            read += 1
    assert read > 1000


@pytest.mark.parametrize(
    "content",
    [
        "",
        "00000001",
        "e001",
        "e00113",
        "b2000001ff",
        "250900010200009a1f01000",
        "f00100",
    ],
)
def test_what_is_no_pdu_is_told(content, wording):
    with wording.raises(WireFormatError):
        decode(bytes.fromhex(content.ljust(len(content) + len(content) % 2, "0")))


def test_a_response_is_no_request(wording):
    with wording.raises(WireFormatError):
        header_of(bytes.fromhex("b0010001"))


def test_numbers_that_do_not_fit_are_refused(wording):
    with wording.raises(WireFormatError):
        encode(pdus.DoStep(1, 1, 11, 2**32))


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=4), st.integers(1, 70))
def test_a_stream_is_taken_apart_wherever_it_is_cut(parts, count):
    stream, frames = b"".join(map(framed, parts)), Frames(100)
    pieces = (stream[at : at + count] for at in range(0, len(stream), count))
    assert [pdu for piece in pieces for pdu in frames.feed(piece)] == parts


@pytest.mark.parametrize("length", [0, 101, 2**32 - 1])
def test_a_length_that_no_pdu_has_ends_a_stream(length):
    with pytest.raises(WireFormatError, match=f"found the length {length}"):
        Frames(100).feed(length.to_bytes(4, "little") + b"\x80\0\0\1")
