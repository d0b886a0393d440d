"""Shared memory: records under a seqlock, claimed by one adapter."""

import mmap
import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_adapters.shm.adapter import ShmDevice, ShmSettings
from hw_adapters.shm.codec import Record, decode, encode
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, WireFormatError, read_settings

FOLDER = Path("/dev/shm")  # noqa: S108 # where Linux has it
VALUES = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6).map(tuple)


@given(VALUES, st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
def test_what_is_written_is_read(values, sequence, time_ns, status):
    record = Record(values, sequence, time_ns, status)
    assert decode(struct.pack("<Q", 4) + encode(record)) == record


@given(st.binary(max_size=90))
def test_whatever_is_there_is_a_record_or_refused(content):
    with suppress(WireFormatError):
        found = decode(content)
        assert found is None or isinstance(found, Record)


@pytest.fixture
def block():
    """A block with one measurement and one command, made by hand."""
    name = f"softdock-test-{os.getpid()}"
    path = FOLDER / name
    path.write_bytes(b"SDSHM1\0\0" + struct.pack("<II16x", 1, 1) + bytes(80))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        yield name, memory
    path.unlink(missing_ok=True)


def made(name, **more):
    signals = {"measurements": [{"name": "x"}], "commands": [{"name": "u"}]}
    return ShmDevice(ShmSettings(**{"name": name, "rate": 100.0, **signals, **more}))


def write(memory, counter, value, number):
    fixed, values = struct.pack("<QQI", number, 5 * 10**8, 0), struct.pack("<d", value)
    crc = struct.pack("<I", zlib.crc32(fixed + values))
    memory[32:72] = struct.pack("<Q", counter) + fixed + crc + values


def test_each_sample_is_read_once_and_commands_are_written(block, wording):
    name, memory = block
    device = made(name)
    device.open()
    try:
        assert device.receive(0.0) is None
        write(memory, 2, 0.5, 7)
        found = device.receive(0.0)
        assert (found.values, found.sequence, found.device_time, found.valid) == (
            (0.5,),
            7,
            0.5,
            True,
        )
        assert device.receive(0.0) is None
        write(memory, 3, 0.75, 8)
        assert device.receive(0.0) is None  # odd: it is being written
        write(memory, 4, 0.75, 8)
        assert device.receive(0.0).values == (0.75,)
        device.send((1.5,))
        device.send((2.5,))
        counter, number, _, status = struct.unpack("<QQQI", memory[72:100])
        assert (counter, number, status) == (4, 2, 0)
        assert struct.unpack("<d", memory[104:112]) == (2.5,)
        assert (
            zlib.crc32(memory[80:100] + memory[104:112]) == struct.unpack("<I", memory[100:104])[0]
        )
    finally:
        device.close()
    with wording.raises(DeviceError):
        device.receive(0.0)


def test_a_torn_record_is_told_once(block, wording):
    name, memory = block
    device = made(name)
    device.open()
    try:
        write(memory, 2, 0.5, 7)
        memory[64:72] = struct.pack("<d", 9.0)
        with wording.raises(WireFormatError):
            device.receive(0.0)
        assert device.receive(0.0) is None
    finally:
        device.close()


def test_a_second_adapter_is_refused(block, wording):
    first, second = made(block[0]), made(block[0])
    first.open()
    try:
        with wording.raises(DeviceError):
            second.open()
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"SDSHM1\0\0" + bytes(24) + bytes(80),
        b"x" * 200,
    ],
)
def test_a_block_of_another_kind_is_refused(block, content, wording):
    (FOLDER / block[0]).unlink()
    (FOLDER / block[0]).write_bytes(content)
    device = made(block[0])
    with wording.raises(DeviceError):
        device.open()
    device.close()


def test_a_name_that_is_a_path_is_refused(wording):
    signals = [{"name": "x"}]
    with wording.raises(DescriptionError):
        read_settings(ShmDevice, {"name": "../x", "rate": 1.0, "measurements": signals}, "device")
