"""Numbers in the text of devices: what Python reads beyond them is refused, in every codec."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_adapters.ati_net_ft.calibration import decode_calibration
from hw_adapters.kuka_rsi.codec import RobotFrame, decode_frame
from hw_adapters.pi_gcs.codec import axis_values
from orchestrator.core.files.plain_data import plain_number
from orchestrator.rig.devices import WireFormatError

#: All but the last two are numbers for ``float``.
FOREIGN = [
    *(
        "1_0",
        " 1",
        "1 ",
        "\u00a01",
        "1e5_0",
        "infinity",
        "-inf",
        "nan",
        "\u0661",
        "1e999",
        "1" * 65,
    ),
    *("0x10", "1,5"),
]


@given(st.floats(-1e300, 1e300), st.sampled_from(["{!r}", "{:.6f}", "{:+.3e}", "{:g}"]))
def test_what_devices_write_is_read(value, form):
    text = form.format(value)
    assert plain_number(text) == (float(text) if len(text) <= 64 else None)


@pytest.mark.parametrize("text", ["1", "+1", "-1.", ".5", "1E+2", "007"])
def test_plain_forms_are_read(text):
    assert plain_number(text) == float(text)


def frame(x):
    return f'<Rob><RIst X="{x}" Y="0" Z="0" A="0" B="0" C="0"/><IPOC>4</IPOC></Rob>'.encode()


def page(counts):
    rest = "<cfgcpt>1</cfgcpt><scfgfu>N</scfgfu><scfgtu>Nm</scfgtu>"
    return f"<netft><cfgcpf>{counts}</cfgcpf>{rest}</netft>".encode()


@pytest.mark.parametrize("text", FOREIGN)
def test_what_only_python_reads_is_refused_in_every_codec(text, wording):
    assert plain_number(text) is None
    with wording.raises(WireFormatError):
        decode_frame(frame(text))
    with wording.raises(WireFormatError):
        axis_values([f"X={text}"], ["X"])
    if text.strip(" ") in FOREIGN:  # blanks around the content of an element are those of XML
        with wording.raises(WireFormatError):
            decode_calibration(page(text))


def test_zeros_at_the_end_are_those_of_a_string_in_c():
    found = decode_frame(frame("1.5") + b"\0\0")
    assert found == RobotFrame(4, pose=(1.5, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert decode_calibration(page("10") + b"\0").counts_per_force == 10.0
    with pytest.raises(WireFormatError):
        decode_frame(frame("1.5").replace(b"1.5", b"1.5\0") + b"\0")


def test_an_ipoc_has_digits_and_blanks_of_xml_only(wording):
    text = frame("1").replace(b">4<", b">\n 4<")
    assert decode_frame(text).ipoc == 4
    for foreign in ("\u00a04", "4_0", "\u0664", "+4"):
        with wording.raises(WireFormatError):
            decode_frame(frame("1").replace(b">4<", f">{foreign}<".encode()))
