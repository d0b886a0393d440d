"""Seeds and readers of DCP: a PDU, a talk of a master with a slave, a description."""

from pathlib import Path
from random import Random

from dcp_slaves import UUID, description, machine

from fuzz.mutations import damaged
from orchestrator.core.diagnostics import LoadError
from orchestrator.dcp import pdus
from orchestrator.dcp.dcp_file import archive_of, write_dcpx
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.pdus import Frames, decode, encode, framed

_PLACE = pdus.place_of("127.0.0.1", 8080)
_VALUE = bytes(8)
#: A run outside of real time, with what every state answers.
_ASKED = (
    (pdus.AskState,),
    (pdus.Register, 0, UUID.bytes, OpMode.NRT),
    (pdus.Clear,),
    (pdus.Logging, 0, 4, 2),
    (pdus.TimeRes, 1, 100),
    (pdus.ConfigureScope, 1, 0),
    (pdus.ConfigureInput, 1, 0, 2, 9),
    (pdus.SourceNetworkInformation, 1, 0, _PLACE),
    (pdus.ConfigureScope, 2, 0),
    (pdus.ConfigureOutput, 2, 0, 1),
    (pdus.Steps, 2, 2),
    (pdus.TargetNetworkInformation, 2, 0, _PLACE),
    (pdus.SetParameter, 3, 9, _VALUE),
    (pdus.SetParameter, 5, 10, b"\4\0\0\0abcd"),
    (pdus.TunableParameter, 7, 0, 4, 9),
    (pdus.ParameterNetworkInformation, 7, 0, _PLACE),
    (pdus.Prepare, 1),
    (pdus.Configure, 3),
    (pdus.Initialize, 5),
    (pdus.SendOutputs, 7),
    (pdus.Run, 5, 0),
    (pdus.Run, 10, 0),
    (pdus.DoStep, 11, 3),
    (pdus.SendOutputs, 13),
    (pdus.AskError,),
    (pdus.AskLog, 0, 9),
    (pdus.Stop, 11),
    (pdus.Reset, 16),
    (pdus.Deregister, 1),
)
_DATA = (pdus.Data(0, 1, _VALUE), pdus.ParameterData(0, 7, _VALUE))
_ANSWERS = (
    pdus.Ack(1, 1),
    pdus.Nack(1, 1, 2, 0x2013),
    pdus.StateAck(1, 1, 3),
    pdus.ErrorAck(1, 1, 0x1001),
    pdus.LogAck(1, 1, _VALUE + b"\1abc"),
    pdus.StateChanged(1, 1),
    pdus.LogNotification(1, 7, 1, b"abc"),
)


def _talk() -> list[bytes]:
    found = [kind(number, 1, *fields) for number, (kind, *fields) in enumerate(_ASKED, 1)]
    return [encode(pdu) for pdu in (*found[:22], *_DATA, *found[22:])]


TALK = _talk()
_PDUS = [*TALK, *map(encode, _ANSWERS)]
LONGEST = 2000


def talk() -> bytes:
    """Return a sound talk, as TCP carries it."""
    return b"".join(map(framed, TALK))


def dcpx() -> bytes:
    """Return a sound description."""
    return write_dcpx(description())


def dcp() -> bytes:
    """Return a sound archive."""
    return archive_of(description())


def _changed(content: bytes, chance: Random) -> bytes:
    """Change some bytes of a PDU behind its sequence number, or its length."""
    made = bytearray(content)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(min(3, len(made) - 1), len(made)) if chance.random() < 0.8 else 0
        made[at] = chance.choice((0, 1, 5, 9, 127, 255, chance.randrange(256)))
    if chance.random() < 0.2:
        del made[chance.randrange(len(made)) :]
    return bytes(made + chance.randbytes(chance.choice((0, 0, 0, 1, 8))))


def damaged_pdu(_: bytes, chance: Random) -> bytes:
    """Change one of all kinds of PDUs."""
    return _changed(chance.choice(_PDUS), chance) or b"\0"


def damaged_talk(content: bytes, chance: Random) -> bytes:
    """Leave out, repeat, swap or change PDUs; or bytes of the stream."""
    if chance.random() < 0.1:
        return damaged(content, chance)
    parts = list(TALK)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(parts))
        match chance.randrange(4):
            case 0:
                parts[at] = _changed(parts[at], chance)
            case 1:
                parts.insert(at, chance.choice(_PDUS))
            case 2:
                del parts[at]
            case _:
                parts[at], parts[-1] = parts[-1], parts[at]
        parts = parts or [b"\0"]
    return b"".join(framed(part) for part in parts if part)


def read_pdu(path: Path) -> object:
    """Read a PDU; what is accepted must be what is written again."""
    content = path.read_bytes()
    found = decode(content)
    if encode(found) != content:
        raise ValueError(f"{content.hex()} was read as {found}")
    return found


def read_talk(path: Path) -> None:
    """Let a slave hear a talk, each PDU again with the number that it expects."""
    slave, wire, clock = machine()
    frames = Frames(LONGEST)
    for pdu in frames.feed(path.read_bytes()):
        slave.receive(pdu, "master")
        slave.receive(pdu[:1] + (slave._last + 1).to_bytes(4, "little")[:2] + pdu[3:], "master")
        clock.ns += 10_000_000
        slave.tick()
    if not wire.answers:
        raise LoadError("nothing that a slave answers")
    for _, content in wire.answers:
        decode(content)  # a slave says nothing that a master cannot read
