"""Components that can what an algorithm asks, and others."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace

from diagnostic_cases.case import (
    Case,
    Forge,
    changed,
    counting,
    declared,
    fmu,
    pair,
    probe,
    run,
)
from orchestrator.core.simunits import block
from orchestrator.core.system import System

_VARIABLE_STEP = 'canHandleVariableCommunicationStepSize="true"'

CAPABILITIES: Mapping[str, Case] = {
    "CAP101": Case(
        lambda make: _iterated(make, "false"),
        lambda make: _iterated(make, "true"),
        run(algorithm="newton"),
    ),
    "CAP102": Case(
        lambda make: changed(make, _VARIABLE_STEP, _VARIABLE_STEP.replace("true", "false")),
        lambda make: probe(make),
        run(algorithm="step-doubling"),
    ),
    "CAP103": Case(
        lambda make: System("s").add("p", fmu(make(), interface="me"), u=0.0, n=0, flag=False),
        lambda make: System("s").add("p", fmu(make(), interface="cs"), u=0.0, n=0, flag=False),
    ),
    "CAP104": Case(
        lambda _: pair(), lambda _: pair(), run(algorithm="magic"), run(algorithm="jacobi")
    ),
    "CAP105": Case(lambda _: _predicted(), lambda _: _predicted(), run(algorithm="newton"), run()),
    "CAP106": Case(
        lambda make: System("s").add("p", fmu(make(), backend="pyfmi"), u=0.0, n=0, flag=False),
        lambda make: System("s").add("p", fmu(make(), backend="fmpy"), u=0.0, n=0, flag=False),
    ),
    "CAP107": Case(
        lambda _: pair().with_options("gain", on_failure="hold"),
        lambda _: pair().with_options("gain", on_failure="hold", isolation="process"),
    ),
    "CAP108": Case(lambda _: System("s").add("x", declared("not_registered")), lambda _: pair()),
    "CAP109": Case(lambda make: _texts(make, delay="5 ms"), lambda make: _texts(make, delay=None)),
    "CAP111": Case(
        lambda make: counting(make, "", isolation="process"), lambda make: counting(make, "")
    ),
    "CAP112": Case(lambda _: _from_archive(packed=True), lambda _: _from_archive(packed=False)),
    "CAP114": Case(
        lambda _: _compensated(), lambda _: _compensated(), run(algorithm="newton"), run()
    ),
    "CAP116": Case(lambda make: _for_windows(make, "win64"), lambda make: _for_windows(make, None)),
    "CAP110": Case(lambda make: _twins(make, 2), lambda make: _twins(make, 1)),
}


def _for_windows(make: Forge, platform: str | None) -> System:
    """A probe that has a library for Windows as well, which nobody loads here."""
    path = make()
    with zipfile.ZipFile(path, "a") as archive:
        if "binaries/win64/probe.dll" not in archive.namelist():
            archive.writestr("binaries/win64/probe.dll", b"MZ")
    return System("s").add("p", fmu(path, platform=platform), u=0.0, n=0, flag=False)


def _from_archive(*, packed: bool) -> System:
    """A source, marked as if an archive had brought it."""
    source = block("source")
    return System("s").add("s", replace(source, source=replace(source.source, packed=packed)))


def _predicted() -> System:
    system = System("s").add("source", block("source")).add("gain", block("gain"))
    return system.connect("source.y", "gain.u", extrapolation="linear")


def _compensated() -> System:
    system = System("s").add("source", block("source")).add("gain", block("gain"))
    return system.connect("source.y", "gain.u", compensation="nepce")


_STATE = 'canGetAndSetFMUstate="true"'


def _iterated(make: Forge, can: str) -> System:
    """The probe in an algebraic ring with a gain."""
    system = changed(make, _STATE, _STATE.replace("true", can))
    system = system.add("gain", block("gain"))
    return system.connect("probe.g", "gain.u").connect("gain.y", "probe.u")


def _texts(make: Forge, delay: str | None) -> System:
    """Two probes of which one gives the other a text."""

    def change(text: str) -> str:
        return text.replace(
            'name="label" valueReference="0" causality="parameter" variability="fixed"',
            'name="label" valueReference="0" causality="input" variability="discrete"',
        )

    held = {"u": 0.0, "n": 0, "flag": False}
    system = System("s").add("a", fmu(make()), **held).add("b", fmu(make(change)), **held)
    return system.connect("a.label_out", "b.label", delay=delay)


def _twins(make: Forge, count: int) -> System:
    """Components of one FMU that can be instantiated only once per process."""
    once = 'canBeInstantiatedOnlyOncePerProcess="true" '
    path = make(lambda text: text.replace("<CoSimulation ", f"<CoSimulation {once}"))
    system = System("twins")
    for number in range(count):
        system = system.add(f"p{number}", fmu(path), u=0.0, n=0, flag=False)
    return system
