"""For every code that is about a system: a small one that has it, and one alike that has not.

Blocks are those of tests/fixtures/toy_blocks.py, "Probe" the FMU of tests/fixtures/probe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.checking.subject import Run
from orchestrator.simunits import Block, Output, block
from orchestrator.system import (
    Bus,
    Causality,
    Component,
    Connection,
    Connector,
    DataType,
    Endpoint,
    Enumeration,
    Jitter,
    JitterKind,
    MappingTransformation,
    Source,
    SourceKind,
    System,
    TransportDelay,
    UnitOptions,
    Variation,
)

MS = 1_000_000


@dataclass(frozen=True)
class Forge:
    """Makes FMUs: the probe of FMI 2.0 when called, one of tests/fixtures/c_fmus by ``c``."""

    probe: Callable[..., Path]
    c: Callable[..., Path]

    def __call__(self, *arguments: object, **options: object) -> Path:
        return self.probe(*arguments, **options)


Make = Callable[[Forge], System]


@dataclass(frozen=True)
class Shape:
    """One code: a system that has it and one that has not, made with a forge."""

    bad: Make
    good: Make
    run: Run = field(default_factory=lambda: Run(step_ns=MS, stop_ns=10 * MS))
    good_run: Run | None = None


def _run(**changes: object) -> Run:
    return replace(Run(step_ns=MS, stop_ns=10 * MS), **changes)


def _line(source: str, target: str, **changes: object) -> Connection:
    return replace(Connection(Endpoint.of_line(source), Endpoint.of_line(target)), **changes)


def _with(system: System, *lines: Connection) -> System:
    return replace(system, connections=(*system.connections, *lines))


def _pair(*, delay: str | None = None, **values: float) -> System:
    """A source that feeds a gain."""
    system = System("pair").add("source", block("source")).add("gain", block("gain"), **values)
    return system.connect("source.y", "gain.u", delay=delay)


def _ring(first: str = "lag", second: str = "gain", delay: str | None = None) -> System:
    system = System("ring").add("a", block(first)).add("b", block(second))
    return system.connect("a.y", "b.u", delay=delay).connect("b.y", "a.u")


def _declared(name: str, *connectors: Connector, source: Source | None = None) -> Component:
    known = {connector.name: connector for connector in connectors}
    return Component(name, source or Source(SourceKind.BLOCK, name), known)


def _fmu(path: Path | str, *connectors: Connector, **options: object) -> Component:
    found = _declared("fmu", *connectors, source=Source(SourceKind.FMU, str(path)))
    return replace(found, options=UnitOptions(**options))


def _probe(make: Forge, **values: object) -> System:
    """The probe with values for all its inputs."""
    held = {"u": 0.0, "n": 0, "flag": False}
    return System("probe").add("probe", _fmu(make()), **{**held, **values})


def _changed(make: Forge, old: str, new: str, **values: object) -> System:
    """The probe with another model description."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    held = {"u": 0.0, "n": 0, "flag": False}
    return System("probe").add("probe", _fmu(make(change)), **{**held, **values})


def _around(inner: System, name: str = "inner") -> System:
    return System("outer", systems={name: inner})


def _own(system: System, *connectors: Connector) -> System:
    return replace(system, connectors={c.name: c for c in connectors})


def _enumerated(name: str, causality: Causality, *items: str) -> Connector:
    numbers = Enumeration(f"of_{'_'.join(items)}", {item: i for i, item in enumerate(items)})
    return Connector(name, causality, DataType.INTEGER, enumeration=numbers)


def _switch(target: Connector, table: tuple[tuple[int, int], ...] | None, *sources: str) -> System:
    """An own input with an enumeration that feeds an input inside through a table."""
    feeds = Connector("mode", Causality.INPUT, DataType.INTEGER, start=0)
    if sources:
        feeds = replace(_enumerated("mode", Causality.INPUT, *sources), start=0)
    inner = System("inner").add("typed", block("typed"), flag=False)
    inner = _own(_with(inner, _line("mode", "typed.n")), target)
    mapping = MappingTransformation(table) if table else None
    outer = _own(replace(_around(inner), connectors={}), feeds)
    return _with(outer, _line("mode", f"inner.{target.name}", transformation=mapping))


def _taking(*items: str) -> Connector:
    return _enumerated("mode", Causality.INPUT, *items)


_JITTER = Variation(Jitter(JitterKind.UNIFORM, MS))
_LATE = TransportDelay(10 * MS, variation=_JITTER)

CONNECTORS: Mapping[str, Shape] = {
    "CON101": Shape(lambda _: _with(_pair(), _line("nobody.y", "gain.u")), lambda _: _pair()),
    "CON102": Shape(lambda _: _with(_pair(), _line("source.z", "gain.u")), lambda _: _pair()),
    "CON103": Shape(lambda _: _with(_pair(), _line("gain.u", "source.y")), lambda _: _pair()),
    "CON104": Shape(
        lambda _: System("s").add("t", block("typed"), n=0).connect("t.m", "t.flag"),
        lambda _: System("s").add("t", block("typed"), flag=True).connect("t.m", "t.n"),
    ),
    "CON105": Shape(
        lambda _: System("s").add("m", block("matrix")).connect("m.total", "m.u"),
        lambda _: System("s").add("m", block("matrix")).connect("m.y", "m.u"),
    ),
    "CON106": Shape(
        lambda _: System("s").add("b", block("body")).connect("b.position", "b.force"),
        lambda _: (
            System("s")
            .add("b", block("body"))
            .add("g", block("gain"))
            .connect("b.position", "g.u")
            .connect("g.y", "b.force")
        ),
    ),
    "CON107": Shape(
        lambda _: (
            System("s")
            .add("t", block("typed"), flag=False)
            .connect("t.m", "t.n", delay="5 ms", interpolation="linear")
        ),
        lambda _: (
            System("s")
            .add("t", block("typed"), flag=False)
            .connect("t.m", "t.n", delay="5 ms", interpolation="hold")
        ),
    ),
    "CON108": Shape(
        lambda _: _pair().add("more", block("source")).connect("more.y", "gain.u"),
        lambda _: _pair(),
    ),
    "CON109": Shape(
        lambda _: System("s").add("gain", block("gain")),
        lambda _: System("s").add("gain", block("gain"), u=1.0),
    ),
    "CON110": Shape(
        lambda _: _with(
            System("s").add("b", block("body")),
            _line("b.position", "b.force", suppress_unit_conversion=True),
        ),
        lambda _: System("s").add("b", block("body")).connect("b.position", "b.force"),
    ),
    "CON111": Shape(
        lambda _: _in_millimetres(suppressed=True), lambda _: _in_millimetres(suppressed=False)
    ),
    "CON119": Shape(lambda _: _framed("hub", "arm"), lambda _: _framed("hub", "hub")),
    "CON112": Shape(
        lambda _: (
            System("s").add("b", block("body")).add("g", block("gain")).connect("b.position", "g.u")
        ),
        lambda _: _pair(),
    ),
    "CON113": Shape(
        lambda _: _pair(),
        lambda _: System("s").add("lag", block("lag")).connect("lag.y", "lag.u"),
    ),
    "CON114": Shape(lambda _: _pair().add("alone", block("gain"), u=0.0), lambda _: _pair()),
    "CON115": Shape(
        lambda _: _pair().add("x", block("source")).add("y", block("gain")).connect("x.y", "y.u"),
        lambda _: _pair(),
    ),
    "CON116": Shape(lambda _: _bus(2), lambda _: _bus(1)),
    "CON117": Shape(
        lambda _: _around(_own(_pair(), Connector("idle", Causality.INPUT))),
        lambda _: _around(_pair()),
    ),
    "CON118": Shape(
        lambda _: _fed(Connector("u", Causality.INPUT)),
        lambda _: _fed(Connector("u", Causality.INPUT, start=1.0)),
    ),
}


def _framed(one: str, other: str) -> System:
    """A body on a gain, whose power ports say their frames."""
    body = block("body").with_power_port("side", "force", "velocity", frame=one)
    gain = replace(block("gain"), connectors={**block("gain").connectors})
    gain = gain.with_power_port("side", "y", "u", frame=other)
    system = System("s").add("body", body, virtual_force=0.0, thrust=0.0).add("gain", gain)
    return system.connect("gain.y", "body.force").connect("body.velocity", "gain.u")


def _fed(own: Connector) -> System:
    system = System("s").add("gain", block("gain"))
    return _own(_with(system, _line("u", "gain.u")), own)


def _in_millimetres(*, suppressed: bool) -> System:
    """A position in m that leaves through an own output in mm."""
    system = System("s").add("b", block("body"), force=0.0, virtual_force=0.0, thrust=0.0)
    own = Connector("position", Causality.OUTPUT, unit="mm")
    line = _line("b.position", "position", suppress_unit_conversion=suppressed)
    return _own(_with(system, line), own)


def _bus(writers: int) -> System:
    """Sources that write one entry of a dictionary, and a gain that reads it."""
    system = System("s").add("gain", block("gain"))
    entry = Connector("x", Causality.INOUT)
    for number in range(writers):
        name = f"writer{number}"
        inner = System(name, buses={"bus": Bus("bus", "all", {"x": entry})})
        inner = inner.add("source", block("source"))
        inner = _with(inner, _line("source.y", "bus.x"))
        system = replace(system, systems={**system.systems, name: inner})
    system = replace(system, buses={"bus": Bus("bus", "all", {"x": entry})})
    return _with(system, _line("bus.x", "gain.u"))


VALUES: Mapping[str, Shape] = {
    "VAL101": Shape(lambda _: _pair(z=1.0), lambda _: _pair(k=1.0)),
    "VAL102": Shape(lambda _: _pair(y=1.0), lambda _: _pair(k=1.0)),
    "VAL103": Shape(lambda _: _pair(k="much"), lambda _: _pair(k=2)),
    "VAL104": Shape(lambda _: _pair(k=float("nan")), lambda _: _pair(k=1e300)),
    "VAL105": Shape(
        lambda make: _changed(make, 'start="2"', 'start="2" min="0" max="5"', gain=5.5),
        lambda make: _changed(make, 'start="2"', 'start="2" min="0" max="5"', gain=5.0),
    ),
    "VAL106": Shape(lambda make: _constant(make, gain=3.0), lambda make: _probe(make, gain=3.0)),
    "VAL110": Shape(lambda _: _pair(u=1.0), lambda _: _pair()),
}


def _constant(make: Forge, **values: object) -> System:
    old = 'name="gain" valueReference="3" causality="parameter" variability="fixed"'
    new = 'name="gain" valueReference="3" causality="local" variability="constant"'
    return _changed(make, old, new, **values)


ENUMERATIONS: Mapping[str, Shape] = {
    "ENU101": Shape(lambda _: _setting(3), lambda _: _setting(1)),
    "ENU102": Shape(
        lambda _: _switch(_taking("x", "y"), ((0, 0),), "off", "on"),
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1)), "off", "on"),
    ),
    "ENU103": Shape(
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 2)), "off", "on"),
        lambda _: _switch(_taking("x", "y"), ((0, 1), (1, 0)), "off", "on"),
    ),
    "ENU104": Shape(
        lambda _: _switch(_taking("x", "y"), None, "off", "on"),
        lambda _: _switch(_taking("off", "on"), None, "off", "on"),
    ),
    "ENU105": Shape(
        lambda _: _with(
            System("s").add("lag", block("lag")),
            _line("lag.y", "lag.u", transformation=MappingTransformation(((0, 1),))),
        ),
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1)), "off", "on"),
    ),
    "ENU106": Shape(
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1), (2, 1)), "off", "on"),
        lambda _: _switch(_taking("x", "y"), ((0, 0), (1, 1)), "off", "on"),
    ),
}


def _setting(value: int) -> System:
    """A block whose input n is declared with an enumeration of two items."""
    typed = block("typed")
    numbers = _enumerated("n", Causality.INPUT, "off", "on")
    typed = replace(typed, connectors={**typed.connectors, "n": numbers})
    return System("s").add("typed", typed, n=value, flag=False)


LOOPS: Mapping[str, Shape] = {
    "LOO101": Shape(lambda _: _ring("strict_lag"), lambda _: _pair()),
    "LOO102": Shape(lambda _: _ring("gain", "gain"), lambda _: _ring("strict_lag")),
    "LOO103": Shape(
        lambda _: _ring("gain", "gain"),
        lambda _: _ring("strict_lag"),
        run=_run(algorithm="newton"),
    ),
    "LOO104": Shape(lambda _: _ring("strict_lag"), lambda _: _ring("strict_lag", delay="4 ms")),
    "LOO105": Shape(lambda _: _many(30), lambda _: _many(5)),
    "LOO106": Shape(lambda _: _fan(20), lambda _: _ring()),
}


def _many(count: int) -> System:
    """So many loops, each by itself."""
    system = System("many")
    for number in range(count):
        lag = f"lag{number}"
        system = system.add(lag, block("strict_lag")).connect(f"{lag}.y", f"{lag}.u")
    return system


def _fan(count: int) -> System:
    """A ring of sums of which each also takes those further back: many rings for few components."""
    system = System("fan")
    for number in range(count):
        system = system.add(f"s{number}", block("sum"))
    for number in range(count):
        for back in (1, 2):
            system = system.connect(f"s{(number - back) % count}.y", f"s{number}.u{back}")
    return system


TIMES: Mapping[str, Shape] = {
    "TIM101": Shape(lambda _: _pair(), lambda _: _pair(), _run(stop_ns=0), _run()),
    "TIM102": Shape(lambda _: _pair(), lambda _: _pair(), _run(step_ns=None), _run()),
    "TIM103": Shape(lambda _: _pair(delay="2.5 ms"), lambda _: _pair(delay="3 ms")),
    "TIM104": Shape(lambda _: _pair(delay="0.5 ms"), lambda _: _pair(delay="1 ms")),
    "TIM105": Shape(
        lambda _: _varying(),
        lambda _: _varying(),
        _run(algorithm="step-doubling"),
        _run(),
    ),
    "TIM106": Shape(
        lambda _: _pair(), lambda _: _pair(), _run(rates={"nobody": 2}), _run(rates={"gain": 2})
    ),
    "TIM107": Shape(lambda _: _pair(), lambda _: _pair(), _run(step_ns=3 * MS), _run()),
    "TIM109": Shape(
        lambda make: _counting(make, 'fixedInternalStepSize="0.0003"'),
        lambda make: _counting(make, 'fixedInternalStepSize="0.0005"'),
    ),
    "TIM110": Shape(
        lambda _: System("s").add("short", block(Short)),
        lambda _: System("s").add("short", block(Short)),
        _run(),
        _run(step_ns=MS // 2),
    ),
    "TIM111": Shape(
        lambda make: _changed(
            make, _NO_EXPERIMENT, f'<DefaultExperiment stepSize="1e-4"/>{_NO_EXPERIMENT}'
        ),
        lambda make: _changed(
            make, _NO_EXPERIMENT, f'<DefaultExperiment stepSize="1e-3"/>{_NO_EXPERIMENT}'
        ),
    ),
    "TIM112": Shape(
        lambda _: _ring("strict_lag", delay="0 ms"), lambda _: _ring("strict_lag", delay="8 ms")
    ),
}


_NO_EXPERIMENT = "<ModelVariables>"


class Short(Block):
    """Takes steps of at most half a millisecond."""

    longest_step = 0.0005
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = t + h


def _counting(make: Forge, attribute: str, **options: object) -> System:
    """An FMU of FMI 3.0 with event mode."""
    path = make.c(
        "counter3", lambda text: text.replace("<CoSimulation ", f"<CoSimulation {attribute} ")
    )
    return System("s").add("counter", _fmu(path, **options), value=0)


def _varying() -> System:
    return _pair().with_delay("source.y", "gain.u", _LATE)


_VARIABLE_STEP = 'canHandleVariableCommunicationStepSize="true"'

CAPABILITIES: Mapping[str, Shape] = {
    "CAP101": Shape(
        lambda make: _iterated(make, "false"),
        lambda make: _iterated(make, "true"),
        _run(algorithm="newton"),
    ),
    "CAP102": Shape(
        lambda make: _changed(make, _VARIABLE_STEP, _VARIABLE_STEP.replace("true", "false")),
        lambda make: _probe(make),
        _run(algorithm="step-doubling"),
    ),
    "CAP103": Shape(
        lambda make: System("s").add("p", _fmu(make(), interface="me"), u=0.0, n=0, flag=False),
        lambda make: System("s").add("p", _fmu(make(), interface="cs"), u=0.0, n=0, flag=False),
    ),
    "CAP104": Shape(
        lambda _: _pair(), lambda _: _pair(), _run(algorithm="magic"), _run(algorithm="jacobi")
    ),
    "CAP105": Shape(
        lambda _: _predicted(), lambda _: _predicted(), _run(algorithm="newton"), _run()
    ),
    "CAP106": Shape(
        lambda make: System("s").add("p", _fmu(make(), backend="pyfmi"), u=0.0, n=0, flag=False),
        lambda make: System("s").add("p", _fmu(make(), backend="fmpy"), u=0.0, n=0, flag=False),
    ),
    "CAP107": Shape(
        lambda _: _pair().with_options("gain", on_failure="hold"),
        lambda _: _pair().with_options("gain", on_failure="hold", isolation="process"),
    ),
    "CAP108": Shape(lambda _: System("s").add("x", _declared("not_registered")), lambda _: _pair()),
    "CAP109": Shape(lambda make: _texts(make, delay="5 ms"), lambda make: _texts(make, delay=None)),
    "CAP111": Shape(
        lambda make: _counting(make, "", isolation="process"), lambda make: _counting(make, "")
    ),
    "CAP110": Shape(lambda make: _twins(make, 2), lambda make: _twins(make, 1)),
}


def _predicted() -> System:
    system = System("s").add("source", block("source")).add("gain", block("gain"))
    return system.connect("source.y", "gain.u", extrapolation="linear")


_STATE = 'canGetAndSetFMUstate="true"'


def _iterated(make: Forge, can: str) -> System:
    """The probe in an algebraic ring with a gain."""
    system = _changed(make, _STATE, _STATE.replace("true", can))
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
    system = System("s").add("a", _fmu(make()), **held).add("b", _fmu(make(change)), **held)
    return system.connect("a.label_out", "b.label", delay=delay)


def _twins(make: Forge, count: int) -> System:
    """Components of one FMU that can be instantiated only once per process."""
    once = 'canBeInstantiatedOnlyOncePerProcess="true" '
    path = make(lambda text: text.replace("<CoSimulation ", f"<CoSimulation {once}"))
    system = System("twins")
    for number in range(count):
        system = system.add(f"p{number}", _fmu(path), u=0.0, n=0, flag=False)
    return system


FMUS: Mapping[str, Shape] = {
    "FMU101": Shape(
        lambda _: System("s").add("p", _fmu("/nowhere/x.fmu")), lambda make: _probe(make)
    ),
    "FMU102": Shape(lambda make: _broken(make()), lambda make: _probe(make)),
    "FMU103": Shape(
        lambda make: System("s").add("p", _fmu(make(folder="win64")), u=0.0, n=0, flag=False),
        lambda make: _probe(make),
    ),
    "FMU104": Shape(
        lambda make: _changed(make, 'name="mumble"', 'name="mum&#9;ble"'), lambda make: _probe(make)
    ),
    "FMU105": Shape(
        lambda make: System("s").add(
            "p", _fmu(make(), Connector("z", Causality.INPUT)), u=0.0, n=0, flag=False
        ),
        lambda make: System("s").add(
            "p", _fmu(make(), Connector("u", Causality.INPUT)), u=0.0, n=0, flag=False
        ),
    ),
    "FMU106": Shape(
        lambda make: System("s").add(
            "p", _fmu(make(), Connector("u", Causality.OUTPUT)), u=0.0, n=0, flag=False
        ),
        lambda make: System("s").add(
            "p", _fmu(make(), Connector("u", Causality.INPUT, unit="N")), u=0.0, n=0, flag=False
        ),
    ),
    "FMU107": Shape(
        lambda make: _versions(make, same=False), lambda make: _versions(make, same=True)
    ),
    "FMU109": Shape(
        lambda make: System("s").add("p", _fmu(make(_without_guid)), u=0.0, n=0, flag=False),
        lambda make: _probe(make),
    ),
    "FMU111": Shape(
        lambda make: System("s").add(
            "p", _fmu(make(), Connector("u", Causality.INPUT)), u=0.0, n=0, flag=False
        ),
        lambda make: _probe(make),
    ),
}


def _broken(path: Path) -> System:
    path.write_bytes(path.read_bytes()[:200])
    return System("s").add("p", _fmu(path))


def _without_guid(text: str) -> str:
    import re

    return re.sub(r'guid="[^"]*"', 'guid=""', text)


def _versions(make: Forge, *, same: bool) -> System:
    """Two probes, of one file or of two that differ in a comment."""
    held = {"u": 0.0, "n": 0, "flag": False}
    first = make()
    second = first if same else make(lambda text: text + "<!-- later -->")
    return System("s").add("a", _fmu(first), **held).add("b", _fmu(second), **held)


FILES: Mapping[str, Shape] = {
    "FIL102": Shape(lambda _: _with(_pair(), _line("nobody.y", "gain.u")), lambda _: _pair()),
}

SYSTEMS: Mapping[str, Shape] = {
    **FILES,
    **CONNECTORS,
    **VALUES,
    **ENUMERATIONS,
    **LOOPS,
    **TIMES,
    **CAPABILITIES,
    **FMUS,
}
