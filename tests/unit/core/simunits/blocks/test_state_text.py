import math

import numpy as np
import pytest

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.blocks.block_unit import decode, encode


def same(one, two):
    assert type(one) is type(two)
    if isinstance(one, dict):
        assert list(one) == list(two)
        for key in one:
            same(one[key], two[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            same(a, b)
    elif isinstance(one, (np.ndarray, np.generic)):
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        assert one.tobytes() == two.tobytes()
    elif isinstance(one, float):
        assert one.hex() == two.hex()
    else:
        assert one == two


@pytest.mark.parametrize(
    "state",
    [
        {"x": 0.1, "y": -0.0, "z": 5e-324, "inf": -math.inf, "nan": math.nan},
        {"n": 2**80, "flag": True, "none": None, "text": 'µ "\n'},
        {"list": [1, 1.0, (True, [])], 3: {"a": {}}, (1, 2): "key"},
        {"scalar": np.float64(0.1), "short": np.float32(0.1), "bit": np.bool_(True)},
        {"a": np.arange(6.0).reshape(2, 3) / 7, "b": np.array([1j]), "c": np.zeros((0, 2), ">i2")},
        {"random": np.random.default_rng(4).bit_generator.state},
    ],
)
def test_there_and_back(state):
    same(decode(encode(state)), state)


def test_a_decoded_array_can_be_written():
    decode(encode({"a": np.zeros(2)}))["a"][0] = 1.0


@pytest.mark.parametrize(
    "state",
    [
        {"rng": np.random.default_rng(4)},
        {"a": [1, {2}]},
        {"a": np.array([object()])},
        {"a": ({"b": open},)},
    ],
)
def test_what_cannot_be_written_is_named(state, wording):
    with wording.raises(CapabilityError):
        encode(state)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"{",
        b"[1]",
        b"{}",
        b'{"set": []}',
        b'{"list": 1}',
        b'{"array": ["<f8", [3], "AAAA"]}',
        b'{"array": ["O", [1], "AAAAAAAAAAA="]}',
        b'{"array": ["nonsense", [1], "AAAAAAAAAAA="]}',
    ],
)
def test_damaged_text(data):
    with pytest.raises(ValueError, match=r"."):
        decode(data)
