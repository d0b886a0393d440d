"""The XML of RSI: what the robot sends in each cycle, and the correction that answers it.

References
----------
KUKA.RobotSensorInterface with an Ethernet connection, as the ``kuka_rsi_hw_interface`` of
ros-industrial/kuka_experimental and kroshu/kuka_drivers use it. Lengths in mm, angles in degrees;
A, B and C turn about Z, then Y', then X''.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from orchestrator.core.files.archive import parse_xml
from orchestrator.core.files.plain_data import XML_BLANKS, plain_number
from orchestrator.rig.devices import WireFormatError

Six = tuple[float, float, float, float, float, float]
Space = Literal["cartesian", "joint"]
CARTESIAN = ("X", "Y", "Z", "A", "B", "C")
JOINTS = ("A1", "A2", "A3", "A4", "A5", "A6")
#: A frame of the largest configuration stays below; what is longer is no frame.
MOST_BYTES = 4096
#: Of IPOC; the controller counts in 64 bits at most.
_MOST_DIGITS = 20


@dataclass(frozen=True, slots=True)
class RobotFrame:
    """What the robot says in one cycle; ``None`` where its configuration does not send it.

    Parameters
    ----------
    ipoc
        Time stamp of the cycle, to be echoed.
    pose, setpoint
        ``RIst`` and ``RSol``: actual and commanded pose, X, Y, Z in mm, A, B, C in degrees.
    joints, joint_setpoints
        ``AIPos`` and ``ASPos``: actual and commanded axis angles in degrees.
    late
        ``Delay``: answers that came too late, as the controller counts them.
    echo
        The correction in force, in the element that the caller names: as an answer has it.
    """

    ipoc: int
    pose: Six | None = None
    setpoint: Six | None = None
    joints: Six | None = None
    joint_setpoints: Six | None = None
    late: int | None = None
    echo: Six | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """The answer to one frame.

    Parameters
    ----------
    ipoc
        Of the frame that is answered.
    values
        X, Y, Z in mm and A, B, C in degrees, or A1 to A6 in degrees.
    space
        ``"cartesian"``: ``RKorr``; ``"joint"``: ``AK``.
    sentype
        As the controller's Ethernet configuration calls it.
    """

    ipoc: int
    values: Six
    space: Space = "cartesian"
    sentype: str = "ImFree"


def decode_frame(datagram: bytes, echo: str = "", space: Space = "cartesian") -> RobotFrame:
    """Read a frame of the robot; zeros at its end are those of a string in C.

    Parameters
    ----------
    datagram
        Of the robot.
    echo
        Name of the element that has the correction in force; empty: there is none.
    space
        Of that correction.

    Raises
    ------
    WireFormatError
        If it is too long, no well-formed XML, declares a document type, is of another protocol,
        has no IPOC, or a number in it is none or not finite.
    """
    if len(datagram) > MOST_BYTES:
        raise _frame_error(f"expected at most {MOST_BYTES} bytes, found {len(datagram)}")
    root = parse_xml(datagram.rstrip(b"\0"), "RSI frame", WireFormatError)
    if root.tag != "Rob":
        raise _frame_error(f"expected element <Rob>, found <{root.tag}>")
    return RobotFrame(
        ipoc=_ipoc(root),
        pose=_six(root, "RIst", CARTESIAN),
        setpoint=_six(root, "RSol", CARTESIAN),
        joints=_six(root, "AIPos", JOINTS),
        joint_setpoints=_six(root, "ASPos", JOINTS),
        late=_late_packets(root),
        echo=_six(root, echo, CARTESIAN if space == "cartesian" else JOINTS) if echo else None,
    )


def encode_correction(correction: Correction) -> bytes:
    """Write the answer, numbers with 6 decimals (1 nm, 1 microdegree).

    Raises
    ------
    WireFormatError
        If a value is not finite: no such number goes to a robot.
    """
    if not all(map(math.isfinite, correction.values)):
        raise _frame_error(f"expected finite corrections, found {correction.values}")
    cartesian = correction.space == "cartesian"
    tag, names = ("RKorr", CARTESIAN) if cartesian else ("AK", JOINTS)
    root = etree.Element("Sen", Type=correction.sentype)
    values = zip(names, correction.values, strict=True)
    etree.SubElement(root, tag, {name: f"{value:.6f}" for name, value in values})
    etree.SubElement(root, "IPOC").text = str(correction.ipoc)
    return etree.tostring(root)


def _ipoc(root: etree._Element) -> int:
    text = root.findtext("IPOC")
    digits = (text or "").strip(XML_BLANKS)
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
        raise _frame_error(f"expected a whole number in <IPOC>, found {text!r}")
    return int(digits)


def _late_packets(root: etree._Element) -> int | None:
    element = root.find("Delay")
    if element is None:
        return None
    text = element.get("D", "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise _frame_error(f"<Delay>: expected a whole number in D, found {text!r}")
    return int(text)


def _six(root: etree._Element, tag: str, names: tuple[str, ...]) -> Six | None:
    element = root.find(tag)
    if element is None:
        return None
    x, y, z, a, b, c = (_number(element, name) for name in names)
    return (x, y, z, a, b, c)


def _number(element: etree._Element, name: str) -> float:
    text = element.get(name)
    value = plain_number(text)
    if value is None:
        value_text = "nothing" if text is None else repr(text)
        raise _frame_error(f"<{element.tag}>: expected a number in {name}, found {value_text}")
    return value


def _frame_error(message: str) -> WireFormatError:
    return WireFormatError.in_file("RSI frame", message)
