"""FMU files, right and wrong."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from diagnostic_cases.case import (
    Case,
    Forge,
    changed,
    fmu,
    probe,
)
from orchestrator.core.system import Causality, Connector, System

FMUS: Mapping[str, Case] = {
    "FMU101": Case(lambda _: System("s").add("p", fmu("/nowhere/x.fmu")), lambda make: probe(make)),
    "CON119": Case(
        lambda make: System("s").add("p", fmu(make()), u=0.0, n=0), lambda make: probe(make)
    ),
    "FMU102": Case(lambda make: _broken(make()), lambda make: probe(make)),
    "FMU103": Case(
        lambda make: System("s").add("p", fmu(make(folder="darwin64")), u=0.0, n=0, flag=False),
        lambda make: probe(make),
    ),
    "FMU104": Case(
        lambda make: changed(make, 'name="mumble"', 'name="mum&#9;ble"'), lambda make: probe(make)
    ),
    "FMU105": Case(
        lambda make: System("s").add(
            "p", fmu(make(), Connector("z", Causality.INPUT)), u=0.0, n=0, flag=False
        ),
        lambda make: System("s").add(
            "p", fmu(make(), Connector("u", Causality.INPUT)), u=0.0, n=0, flag=False
        ),
    ),
    "FMU106": Case(
        lambda make: System("s").add(
            "p", fmu(make(), Connector("u", Causality.OUTPUT)), u=0.0, n=0, flag=False
        ),
        lambda make: System("s").add(
            "p", fmu(make(), Connector("u", Causality.INPUT, unit="N")), u=0.0, n=0, flag=False
        ),
    ),
    "FMU107": Case(
        lambda make: _versions(make, same=False), lambda make: _versions(make, same=True)
    ),
    "FMU109": Case(
        lambda make: System("s").add("p", fmu(_without_guid(make)), u=0.0, n=0, flag=False),
        lambda make: probe(make),
    ),
    "FMU112": Case(
        lambda make: System("s").add(
            "p", fmu(make(), Connector("u", Causality.INPUT, unit="kN")), u=0.0, n=0, flag=False
        ),
        lambda make: System("s").add(
            "p", fmu(make(), Connector("u", Causality.INPUT, unit="N")), u=0.0, n=0, flag=False
        ),
    ),
    "FMU113": Case(lambda make: _mistaken(make()), lambda make: probe(make)),
    "FMU121": Case(
        lambda make: changed(
            make, '<BaseUnit kg="1" m="1" s="-2"/>', '<BaseUnit kg="1" m="1" s="-3"/>'
        ),
        lambda make: probe(make),
    ),
    "FMU111": Case(
        lambda make: System("s").add(
            "p", fmu(make(), Connector("u", Causality.INPUT)), u=0.0, n=0, flag=False
        ),
        lambda make: probe(make),
    ),
}


def _mistaken(path: Path) -> System:
    """The probe with a library of another system in the folder of this machine."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            other = b"\x7fE" if data[:2] == b"MZ" else b"MZ"
            archive.writestr(name, other + data[2:] if name.startswith("binaries/") else data)
    return System("s").add("p", fmu(path), u=0.0, n=0, flag=False)


def _broken(path: Path) -> System:
    path.write_bytes(path.read_bytes()[:200])
    return System("s").add("p", fmu(path))


def _without_guid(make: Forge) -> Path:
    """A probe that has no GUID and expects none."""
    return make(lambda text: re.sub(r'guid="[^"]*"', 'guid=""', text), options=('-DGUID=""',))


def _versions(make: Forge, *, same: bool) -> System:
    """Two probes, of one file or of two that differ in a comment."""
    held = {"u": 0.0, "n": 0, "flag": False}
    first = make()
    second = first if same else make(lambda text: text + "<!-- later -->")
    return System("s").add("a", fmu(first), **held).add("b", fmu(second), **held)
