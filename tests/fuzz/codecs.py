"""What comes over the wires of devices: sound bytes, and what is made of damaged ones.

A reader raises AssertionError if what was accepted is not what the bytes say. Messages are short:
a file holds many of them, each damaged for itself, with its length before it.
"""

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from fuzz.mutations import damaged
from hw_adapters.ati_net_ft import codec as rdt
from hw_adapters.ati_net_ft.calibration import decode_calibration
from hw_adapters.canopen_cia402 import codec as canopen
from hw_adapters.canopen_cia402 import slcan
from hw_adapters.canopen_cia402.pdo import pdo_maps
from hw_adapters.canopen_cia402.state_machine import state_of
from hw_adapters.kuka_rsi import codec as rsi
from hw_adapters.pi_gcs import codec as gcs
from hw_adapters.shm import codec as shm
from hw_adapters.udp import codec as udp
from hw_adapters.udp.layout import Layout
from hw_adapters.ur_rtde import codec as rtde
from orchestrator.rig.devices import WireFormatError

SLCAN = b"t18183704000012000A00\rt701105\r\rF00\rz\rT00000001101\rt08181186210102030405\r"
_MAP = pdo_maps(1, [["statusword", "position", "torque"]], commanded=False)[0]
_IDENTIFIERS = (0x081, 0x181, 0x581, 0x701)
#: An identifier and data, of each kind of message.
CANOPEN = struct.pack("<H", 0x181) + bytes.fromhex("3712000001000AFF")
_RECIPE = rtde.Recipe("O", 1, ("DOUBLE", "UINT32", "VECTOR6D", "BOOL"))
RTDE = (
    rtde.encode_data(_RECIPE, (0.5, 7, *range(6), True))
    + b"\0\x11O\1DOUBLE,UINT32"
    + bytes.fromhex("000c4d0268690452544445 01")
    + b"\0\4S\1"
)
GCS = b"X=1.5000000 \nY=-0.2500000 \nZ=0 \nU=1e-3 \nV=0.0 \nW=-12.0\n0\n"


RDT = bytes.fromhex(
    "00000001000003e880020000000f4240fff0bdc000000000000001f4ffffffff7fffffff"
    "00000002000003e900000000" + 24 * "00"
)
RDT_PAGE = (
    b"<netft><cfgcpf>1000000</cfgcpf><cfgcpt>2000</cfgcpt><scfgfu>lbf</scfgfu>"
    b"<scfgtu>lbf-in</scfgtu><comrdte>Enabled</comrdte><comrdtrate>7000</comrdtrate></netft>"
)
RSI = (
    b'<Rob TYPE="KUKA"><RIst X="1000.5" Y="-2" Z="0" A="90" B="0.25" C="-180"/>'
    b'<AIPos A1="1" A2="2" A3="3" A4="4" A5="5" A6="6"/><Delay D="3"/><IPOC>4208163634</IPOC></Rob>'
)
_FIELDS = [
    {"role": "constant", "type": "u16", "value": 0xABCD},
    {"role": "sequence", "type": "u32"},
    {"role": "time", "type": "f64"},
    {"role": "status", "type": "u16"},
    {"name": "x", "type": "f64"},
    {"name": "angle", "type": "i16", "scale": 1e-3},
]
#: Its check sum is left out, which would refuse whatever was damaged.
_UDP = udp.Codec(Layout.model_validate({"fields": _FIELDS, "crc": "none"}))
UDP = _UDP.encode((0.5, 1.25), 7, 3.0)
SHM = struct.pack("<Q", 2) + shm.encode(shm.Record((0.5, -2.0), 7, 123, 1))

_LENGTH = struct.Struct("<I")
#: Messages in a damaged file.
MANY = 100


def packed(message: bytes) -> bytes:
    """Return a message with its length before it."""
    return _LENGTH.pack(len(message)) + message


def damaged_messages(content: bytes, chance: Random) -> bytes:
    """Return many damaged copies of the one message of a sound file."""
    message = content[_LENGTH.size :]
    return b"".join(packed(damaged(message, chance)) for _ in range(MANY))


def each(read: Callable[[bytes], None]) -> Callable[[Path], None]:
    """Read all messages of a file; the last refusal is raised."""

    def read_all(path: Path) -> None:
        refused = None
        for message in _messages(path.read_bytes()):
            try:
                read(message)
            except WireFormatError as error:
                refused = error
        if refused is not None:
            raise refused

    return read_all


def _messages(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        (length,) = _LENGTH.unpack_from(content, at)
        at += _LENGTH.size
        yield content[at : at + length]
        at += length


def read_slcan(content: bytes) -> None:
    """Cut into lines, and read each; a frame is written again as it came."""
    refused = None
    for line in slcan.LineSplitter().split(content):
        try:
            frame = slcan.decode_line(line)
        except WireFormatError as error:
            refused = error
            continue
        if frame is not None:
            told = slcan.encode_line(frame)[:-1]
            assert line.upper().startswith(told.upper())
            assert len(line) - len(told) in {0, 4}
    if refused is not None:
        raise refused


def read_canopen(content: bytes) -> None:
    """Read data under each kind of identifier; a PDO is written again as it came."""
    data = content[2:10]
    for identifier in _IDENTIFIERS:
        try:
            message = canopen.decode(canopen.CanFrame(identifier, data))
        except WireFormatError:
            continue
        assert (message is None) == (identifier == 0x181)
        assert message is None or message.node == 1
        if isinstance(message, canopen.SdoSegment):
            assert data[1:].startswith(message.data)
    values = _MAP.decode(data)
    assert _MAP.encode(values).data == data
    state = state_of(values["statusword"])
    assert values["statusword"] & state.mask == state.value


def read_rdt(content: bytes) -> None:
    """Read records, and a page of a calibration; records have the bytes that came."""
    records = rdt.decode_records(content)
    told = (
        struct.pack("!LLL6l", r.rdt_sequence, r.ft_sequence, r.status, *r.counts) for r in records
    )
    assert b"".join(told) == content


def read_rdt_page(content: bytes) -> None:
    """Read a calibration, whose scales are numbers > 0."""
    calibration = decode_calibration(content)
    assert 0.0 < calibration.counts_per_force < math.inf
    assert 0.0 < calibration.counts_per_torque < math.inf
    assert 0.0 <= calibration.rate_hz < math.inf


def read_rsi(content: bytes) -> None:
    """Read a frame of a robot, whose numbers are finite."""
    frame = rsi.decode_frame(content)
    sixes = (frame.pose, frame.setpoint, frame.joints, frame.joint_setpoints)
    assert all(math.isfinite(x) for six in sixes if six is not None for x in six)
    assert frame.ipoc >= 0


def read_udp(content: bytes) -> None:
    """Read a datagram of a declared layout; but for its status it is written again as it came."""
    found = _UDP.decode(content)
    told = _UDP.encode(found.values, found.sequence or 0, found.time_s or 0.0)
    assert told[:14] == content[:14]
    assert told[16:] == content[16:]


def read_shm(content: bytes) -> None:
    """Read a record, as it came and with its check sum put right."""
    fixed, values = content[8:28], content[32:]
    crc = struct.pack("<I", zlib.crc32(values, zlib.crc32(fixed)))
    found = shm.decode(content[:28] + crc + values)
    assert found is None or shm.encode(found) == fixed + crc + values
    shm.decode(content)


def read_rtde(content: bytes) -> None:
    """Cut into packages, and read each; data is written again as it came."""
    refused = None
    for package in rtde.PackageSplitter().split(content):
        try:
            message = rtde.decode(package)
            if isinstance(message, rtde.Data):
                values = rtde.decode_data(_RECIPE, message)
                assert all(map(math.isfinite, values))
                assert rtde.encode_data(_RECIPE, values) == package
        except WireFormatError as error:
            refused = error
    if refused is not None:
        raise refused


def read_gcs(content: bytes) -> None:
    """Cut into replies, and read each as what it can be."""
    for reply in gcs.ReplySplitter().split(content):
        if len(reply) == 1:
            assert str(gcs.error_code(reply)) == str(int(reply[0]))
        else:
            found = gcs.axis_values(reply, gcs.AXES)
            assert all(map(math.isfinite, found.values()))
            assert list(found) == [line[0] for line in reply]
