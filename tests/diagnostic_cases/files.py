"""For every code that is about a file: one that has it, and one alike that has not."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from diagnostic_cases.rigs import ON_RIG, READ, REST, SIMULATED, TWIN_CASE, rig

SPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
        "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
        "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
        "ssm": "http://ssp-standard.org/SSP1/SystemStructureParameterMapping",
        "ssb": "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary",
        "sd": "https://softdock.io/ssp/1",
        "srmd": "http://apps.pmsf.net/SSPTraceability/SimulationResourceMetaData",
    }.items()
)
Write = Callable[[Path, Path], Path]  # folder and an FMU in it, called probe.fmu


@dataclass(frozen=True)
class FileShape:
    """One code: a file that has it and one that has not, written into a folder with probe.fmu."""

    bad: Write
    good: Write


def parameters(*pairs: tuple[str, float]) -> str:
    """Return an ssv:ParameterSet; the type of a value is that of the number."""
    kinds = {float: "Real", int: "Integer", bool: "Boolean"}
    values = "".join(
        f'<ssv:Parameter name="{name}"><ssv:{kinds[type(value)]} value="{str(value).lower()}"/>'
        "</ssv:Parameter>\n"
        for name, value in pairs
    )
    return (
        f'<ssv:ParameterSet {SPACES} version="1.0" name="p"><ssv:Parameters>\n'
        f"{values}</ssv:Parameters></ssv:ParameterSet>"
    )


def bindings(*sets: str) -> str:
    """Return an ssd:ParameterBindings of inline sets."""
    inside = "".join(
        f"<ssd:ParameterBinding><ssd:ParameterValues>{each}</ssd:ParameterValues>"
        "</ssd:ParameterBinding>"
        for each in sets
    )
    return f"<ssd:ParameterBindings>{inside}</ssd:ParameterBindings>" if sets else ""


def component(*, source: str = "probe.fmu", kind: str = "", inside: str = "") -> str:
    """Return an ssd:Component called probe."""
    kind = kind or "application/x-fmu-sharedlibrary"
    return f'<ssd:Component name="probe" type="{kind}" source="{source}">{inside}</ssd:Component>'


_DEFAULT = bindings(parameters(("u", 0.0), ("n", 0), ("flag", False)))


def ssd(
    elements: str = "", *, inside: str = "", after: str = "", version: str = "1.0", tail: str = ""
) -> str:
    """Return an SSD; the attribute order and the line breaks matter to nobody."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription {SPACES} version="{version}" name="s">
<ssd:System name="s">
{inside}
<ssd:Elements>
{elements or component(inside=_DEFAULT)}
</ssd:Elements>
{after}
</ssd:System>
<ssd:DefaultExperiment startTime="0" stopTime="1">{tail}</ssd:DefaultExperiment>
</ssd:SystemStructureDescription>
"""


def _text(text: str | Callable[[Path], str], name: str = "SystemStructure.ssd") -> Write:
    def write(folder: Path, fmu: Path) -> Path:
        file = folder / name
        file.write_text(text if isinstance(text, str) else text(fmu))
        return file

    return write


_PLAIN = _text(ssd())
_MASTER = (
    '<ssd:Annotations><ssc:Annotation type="io.softdock.master"><sd:Master step="0.001"/>'
    "</ssc:Annotation></ssd:Annotations>"
)


def _rare(fmu: Path) -> str:
    reference = '<ssd:SignalDictionaryReference name="bus" dictionary="all"/>'
    dictionary = (
        '<ssd:SignalDictionaries><ssd:SignalDictionary name="all"><ssb:SignalDictionary'
        f' {SPACES} version="1.0" name="d"><ssb:DictionaryEntry name="x"><ssc:Real/>'
        "</ssb:DictionaryEntry></ssb:SignalDictionary></ssd:SignalDictionary>"
        "</ssd:SignalDictionaries>"
    )
    return ssd(component(inside=_DEFAULT) + reference, after=dictionary)


def _outside(folder: Path, fmu: Path) -> Path:
    inner = folder / "inner"
    inner.mkdir()
    file = inner / "SystemStructure.ssd"
    file.write_text(ssd(component(source="../probe.fmu", inside=_DEFAULT)))
    return file


def _hashed(method: str, digest: Callable[[bytes], str]) -> Write:
    def text(fmu: Path) -> str:
        found = digest(fmu.read_bytes())
        meta = (
            '<ssc:MetaData kind="general" type="application/x-srmd-meta-data"><ssc:Content>'
            f'<srmd:SimulationResourceMetaData version="1.0.0-beta2" name="m" checksum="{found}"'
            f' checksumType="{method}"/></ssc:Content></ssc:MetaData>'
        )
        return ssd(component(inside=_DEFAULT + meta), version="2.0")

    return _text(text)


def _sha3(content: bytes) -> str:
    return hashlib.sha3_256(content).hexdigest().upper()


def experiment(extra: str = "", system: str | None = None) -> Write:
    def write(folder: Path, fmu: Path) -> Path:
        (folder / "system.ssd").write_text(system or ssd())
        file = folder / "experiment.toml"
        file.write_text(
            f'title = "t"\n[defaults]\nstep = "1 ms"\n\n[case.one]\nsystem = "system.ssd"\n{extra}'
        )
        return file

    return write


def _system_file(text: str) -> Write:
    head = '[system]\nname = "s"\n\n[experiment]\nstep = "1 ms"\nstop = "1 s"\n\n'
    body = '[component.probe]\nsource = "probe.fmu"\nvalues = { u = 0.0, n = 0, flag = false }\n'
    return _text(head + body + text, "system.toml")


FILES: Mapping[str, FileShape] = {
    "TIM114": FileShape(rig(TWIN_CASE), rig(TWIN_CASE + REST)),
    "TIM115": FileShape(
        rig(SIMULATED + TWIN_CASE + REST, delay="30 ms"), rig(SIMULATED + TWIN_CASE + REST)
    ),
    "TIM117": FileShape(rig(READ + REST), rig(READ + REST.replace("2 ms", "0 ms"))),
    "CAP115": FileShape(
        rig(TWIN_CASE + REST + ON_RIG, device="ur_rtde"), rig(TWIN_CASE + REST + ON_RIG)
    ),
    "FIL101": FileShape(lambda folder, _: folder / "missing.ssd", _PLAIN),
    "EXP101": FileShape(experiment("colour = 3\n"), experiment()),
    "EXP102": FileShape(
        experiment('[case.one.measure.high]\nkind = "peak"\nsignal = "probe.nothing"\n'),
        experiment('[case.one.measure.high]\nkind = "peak"\nsignal = "probe.y"\n'),
    ),
    "EXP103": FileShape(
        experiment('set = { "probe.nothing" = 1.0 }\n'),
        experiment('set = { "probe.gain" = 1.0 }\n'),
    ),
    "EXP104": FileShape(experiment('stop = "soon"\n'), experiment('stop = "2 s"\n')),
    "TOM101": FileShape(_system_file("colour = 3\n"), _system_file("")),
    "TOM102": FileShape(experiment('[case.two]\nsystem = "missing.toml"\n'), experiment()),
    "POR101": FileShape(_text(ssd(tail=_MASTER)), _PLAIN),
    "POR102": FileShape(
        _text(ssd(component(source="block:gain", kind="application/x-softdock-block"))), _PLAIN
    ),
    "POR103": FileShape(_text(_rare), _PLAIN),
    "POR104": FileShape(_text(ssd(version="2.0")), _PLAIN),
    "POR105": FileShape(_outside, _PLAIN),
    "VAL107": FileShape(
        _text(
            ssd(component(inside=bindings(parameters(("gain", 1.0)), parameters(("gain", 2.0)))))
        ),
        _text(ssd(component(inside=bindings(parameters(("gain", 1.0)), parameters(("gain", 1)))))),
    ),
    "VAL108": FileShape(
        _text(
            ssd(
                component(inside=bindings(parameters(("gain", 1.0)))),
                inside=bindings(parameters(("probe.gain", 2.0))),
            )
        ),
        _text(
            ssd(
                component(inside=bindings(parameters(("gain", 1.0)))),
                inside=bindings(parameters(("probe.mumble", True))),
            )
        ),
    ),
    "FMU108": FileShape(_hashed("SHA3-256", lambda _: "00" * 32), _hashed("SHA3-256", _sha3)),
    "FMU110": FileShape(_hashed("MD5", lambda _: "00" * 16), _hashed("SHA3-256", _sha3)),
}


def copied(fmu: Path, folder: Path) -> Path:
    """Put an FMU into a folder as probe.fmu."""
    return Path(shutil.copy(fmu, folder / "probe.fmu"))
