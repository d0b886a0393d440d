"""The sensor's calibration, as it tells it over HTTP in ``netftapi2.xml``."""

from __future__ import annotations

import http.client
from dataclasses import dataclass

from lxml import etree

from hw_adapters.ati_net_ft.codec import Counts
from orchestrator.core.files.archive import parse_xml
from orchestrator.core.files.plain_data import XML_BLANKS, plain_number
from orchestrator.rig.devices import WireFormatError

Wrench = tuple[float, float, float, float, float, float]
PAGE = "/netftapi2.xml"
#: The page of a real sensor has some kB.
MOST_BYTES = 1_000_000
_POUND_FORCE = 4.4482216152605  # N, exact by definition
_INCH = 0.0254  # m, exact by definition
_KILOGRAM_FORCE = 9.80665  # N, exact by definition
#: In N, by the names that ATI's calibrations have.
FORCE_UNITS = {
    "N": 1.0,
    "kN": 1000.0,
    "lbf": _POUND_FORCE,
    "klbf": 1000.0 * _POUND_FORCE,
    "kg": _KILOGRAM_FORCE,
    "kgf": _KILOGRAM_FORCE,
    "g": _KILOGRAM_FORCE / 1000.0,
    "gf": _KILOGRAM_FORCE / 1000.0,
}
#: In N.m.
TORQUE_UNITS = {
    "Nm": 1.0,
    "N-m": 1.0,
    "kNm": 1000.0,
    "kN-m": 1000.0,
    "Nmm": 0.001,
    "N-mm": 0.001,
    "lbf-in": _POUND_FORCE * _INCH,
    "lbf-ft": _POUND_FORCE * 12.0 * _INCH,
    "kg-cm": _KILOGRAM_FORCE * 0.01,
    "kgf-cm": _KILOGRAM_FORCE * 0.01,
    "kgf-m": _KILOGRAM_FORCE,
    "gf-cm": _KILOGRAM_FORCE / 1000.0 * 0.01,
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """What turns counts into N and N.m.

    Parameters
    ----------
    counts_per_force, counts_per_torque
        ``cfgcpf`` and ``cfgcpt``: counts for one unit, > 0.
    force_unit, torque_unit
        ``scfgfu`` and ``scfgtu``: names in :data:`FORCE_UNITS` and :data:`TORQUE_UNITS`.
    rate_hz
        ``comrdtrate``: records per second; 0 where the sensor does not say.
    """

    counts_per_force: float
    counts_per_torque: float
    force_unit: str = "N"
    torque_unit: str = "Nm"
    rate_hz: float = 0.0

    def wrench(self, counts: Counts) -> Wrench:
        """Return Fx, Fy, Fz in N and Tx, Ty, Tz in N.m, in the frame of the sensor."""
        force = FORCE_UNITS[self.force_unit] / self.counts_per_force
        torque = TORQUE_UNITS[self.torque_unit] / self.counts_per_torque
        fx, fy, fz, tx, ty, tz = counts
        return (fx * force, fy * force, fz * force, tx * torque, ty * torque, tz * torque)


def decode_calibration(content: bytes) -> Calibration:
    """Read the page of a sensor; zeros at its end are those of a string in C.

    Raises
    ------
    WireFormatError
        If it is no well-formed XML, declares a document type, lacks a value, a number is not
        positive, a unit is not known, or RDT is switched off.
    """
    root = parse_xml(content.rstrip(b"\0"), PAGE, WireFormatError)
    if (_text(root, "comrdte") or "Enabled").casefold() not in {"enabled", "1"}:
        raise _page_error(
            f"<comrdte>: expected 'Enabled', found {_text(root, 'comrdte')!r}: switch RDT on"
        )
    rate = _text(root, "comrdtrate")
    return Calibration(
        counts_per_force=_positive(root, "cfgcpf"),
        counts_per_torque=_positive(root, "cfgcpt"),
        force_unit=_unit(root, "scfgfu", FORCE_UNITS),
        torque_unit=_unit(root, "scfgtu", TORQUE_UNITS),
        rate_hz=0.0 if rate is None else _positive(root, "comrdtrate"),
    )


def fetch_calibration(host: str, port: int = 80, timeout_s: float = 3.0) -> Calibration:
    """Ask a sensor for its calibration.

    Raises
    ------
    WireFormatError
        If it answers with another status than 200, too much, or what is no calibration.
    OSError, http.client.HTTPException
        If it does not answer, or not in HTTP.
    """
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.request("GET", PAGE)
        answer = connection.getresponse()
        content = answer.read(MOST_BYTES + 1)
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise _page_error(f"http://{host}:{port}{PAGE}: expected status 200, found {answer.status}")
    if len(content) > MOST_BYTES:
        raise _page_error(f"expected at most {MOST_BYTES} bytes, found more")
    return decode_calibration(content)


def _text(root: etree._Element, tag: str) -> str | None:
    element = root.find(f".//{tag}")
    return None if element is None else (element.text or "").strip(XML_BLANKS)


def _positive(root: etree._Element, tag: str) -> float:
    text = _text(root, tag)
    value = plain_number(text)
    if value is None or value <= 0.0:
        raise _page_error(f"<{tag}>: expected a number > 0, found {text!r}")
    return value


def _unit(root: etree._Element, tag: str, units: dict[str, float]) -> str:
    text = _text(root, tag)
    if text is None or text not in units:
        raise _page_error(f"<{tag}>: expected one of {', '.join(units)}, found {text!r}")
    return text


def _page_error(message: str) -> WireFormatError:
    return WireFormatError.in_file(PAGE, message)
