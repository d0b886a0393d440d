"""What `softdock check` calls an error is refused by a run, and a run has no further refusals."""

from math import inf, nan

import pytest
from diagnostic_cases.case import (
    Case,
    Forge,
    around,
    enumerated,
    fmu,
    line,
    owning,
    run,
    with_lines,
)
from diagnostic_cases.files import FILES, copied
from diagnostic_cases.systems import SYSTEMS

from orchestrator import simulate
from orchestrator.checks import check_target, code_named
from orchestrator.checks.run_checks import check_case, check_declaration, is_sound
from orchestrator.core.diagnostics import Severity, SoftdockError
from orchestrator.core.simunits import Block, Input, Output, Parameter, block
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Bus,
    Causality,
    Connector,
    DataType,
    MappingTransformation,
    PowerPort,
    System,
)

pytestmark = pytest.mark.usefixtures("sample_blocks", "no_pictures")

#: Cases without an error that this test cannot run, and why.
NOT_RUN = {
    ("TIM102", "bad"): "its step is given on the command line of the run",
    ("CAP106", "good"): "FMPy needs functions of FMI that the library of the probe does not have",
    ("CAP116", "bad"): "its library for Windows is a placeholder",
}
#: Files whose cases a test cannot run, and why.
RIGS = {"TIM117": "it has a device", "CAP115": "it has a device"}
#: Errors of files that a run does not look for, and why.
RUN_ANYWAY = {
    "FMU108": "a run does not compute checksums of FMUs: it takes as long as reading them",
}


@pytest.fixture
def forge(make_fmu, c_fmu):
    return Forge(make_fmu, c_fmu)


def errors_of(system, run):
    """Return the codes of the errors that the check finds in a system."""
    context, declared = check_declaration(system)
    more, _ = check_case(replace(context, run=run), is_sound_system=is_sound(declared))
    return [
        each.code
        for each in (*declared, *more)
        if (code_named(each.code).severity or each.severity) is Severity.ERROR
    ]


def refusal_of(system, run):
    """Return the sentence with which a run of a system ends; `None` if it ends well."""
    times = {
        key: f"{value} ns"
        for key, value in (("step", run.step_ns), ("stop", run.stop_ns))
        if value is not None
    }
    settings = {"algorithm": run.algorithm, "algorithm_options": run.options, "rates": run.rates}
    try:
        simulate(system, delay=str(run.mode), **times, **settings)
    except SoftdockError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", ["bad", "good"])
@pytest.mark.parametrize("code", SYSTEMS)
def test_a_run_refuses_the_errors_of_the_check_and_nothing_else(code, kind, forge):
    case: Case = SYSTEMS[code]
    run = case.run if kind == "bad" else case.good_run or case.run
    system = getattr(case, kind)(forge)
    errors, refusal = errors_of(system, run), refusal_of(system, run)
    if (code, kind) in NOT_RUN:
        assert refusal is not None, NOT_RUN[code, kind]
        assert not errors
        return
    assert bool(errors) == (refusal is not None), (errors, refusal)
    assert (code in errors) == (kind == "bad" and code_named(code).severity is Severity.ERROR)


@pytest.mark.parametrize("kind", ["bad", "good"])
@pytest.mark.parametrize("code", sorted(FILES.keys() - RIGS.keys()))
def test_files_too(code, kind, probe, tmp_path, softdock):
    file = getattr(FILES[code], kind)(tmp_path, copied(probe, tmp_path))
    errors = [f.code for f in check_target(file).findings if f.severity is Severity.ERROR]
    step = [] if file.name == "experiment.toml" else ["--step", "1 ms"]
    status, _, text = softdock("run", file, *step, "--output", tmp_path / "out")
    if code in RUN_ANYWAY and kind == "bad":
        assert (errors, status) == ([code], 0), RUN_ANYWAY[code]
        return
    assert bool(errors) == (status != 0), (errors, text)


def _through(middle):
    """A source that feeds a gain in a nested system through a connector of that system."""
    inner = System("inner").add("gain", block("gain"))
    inner = owning(with_lines(inner, line(middle.name, "gain.u")), middle)
    outer = around(inner).add("source", block("source"))
    return with_lines(outer, line("source.y", f"inner.{middle.name}"))


def _framed(outside, within):
    """A body in a nested system whose power port has another frame than that of the body."""
    body = block("body").with_power_port("side", "force", "velocity", frame=within)
    inner = System("inner").add("body", body, virtual_force=0.0, thrust=0.0)
    force = Connector("force", Causality.INPUT)
    velocity = Connector("velocity", Causality.OUTPUT)
    inner = owning(with_lines(inner, line("force", "body.force")), force, velocity)
    inner = with_lines(inner, line("body.velocity", "velocity"))
    port = PowerPort("side", ("force",), ("velocity",), frame=outside)
    inner = replace(inner, power_ports={"side": port})
    outer = around(inner).add("source", block("source"))
    return with_lines(outer, line("source.y", "inner.force"))


def _on_bus(kind):
    """An entry of a dictionary of another type than its writer and its reader."""
    entry = Connector("x", Causality.INOUT, kind)
    system = System("s", buses={"bus": Bus("bus", "all", {"x": entry})})
    system = system.add("source", block("source")).add("gain", block("gain"))
    return with_lines(system, line("source.y", "bus.x"), line("bus.x", "gain.u"))


def _table(last):
    """A table whose target is an output of the system itself, with two items."""
    system = System("s").add("typed", block("typed"), n=0, flag=False)
    own = enumerated("mode", Causality.OUTPUT, "off", "on")
    table = MappingTransformation(((0, 0), (1, last)))
    return owning(with_lines(system, line("typed.m", "mode", transformation=table)), own)


def _parameter(start):
    """A parameter of the system itself that feeds that of a block."""
    system = System("s").add("gain", block("gain"), u=1.0)
    own = Connector("k", Causality.PARAMETER, start=start)
    return owning(with_lines(system, line("k", "gain.k")), own)


BETWEEN = {
    "a type": (lambda: _through(Connector("x", Causality.INPUT, DataType.INTEGER)), "CON104"),
    "a text": (lambda: _through(Connector("x", Causality.INPUT, DataType.STRING)), "CON104"),
    "a shape": (lambda: _through(Connector("x", Causality.INPUT, shape=(2,))), "CON105"),
    "the same type": (lambda: _through(Connector("x", Causality.INPUT)), None),
    "a frame": (lambda: _framed("hub", "arm"), "CON120"),
    "the same frame": (lambda: _framed("hub", "hub"), None),
    "one frame only": (lambda: _framed("hub", None), None),
    "a type on a bus": (lambda: _on_bus(DataType.INTEGER), "CON104"),
    "the same type on a bus": (lambda: _on_bus(DataType.REAL), None),
    "an item": (lambda: _table(2), "ENU103"),
    "the items": (lambda: _table(1), None),
    "a parameter": (lambda: _parameter(2.0), None),
    "a parameter without a value": (lambda: _parameter(None), None),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_what_stands_between_two_components_is_compared_by_both(name):
    make, code = BETWEEN[name]
    system = make()
    errors, refusal = errors_of(system, run()), refusal_of(system, run())
    assert set(errors) == ({code} if code else set())
    assert bool(refusal) is bool(code), refusal


def test_an_own_input_may_keep_the_start_value_of_an_fmu(make_fmu):
    system = System("s").add("p", fmu(make_fmu()), n=0, flag=False)
    system = owning(with_lines(system, line("u", "p.u")), Connector("u", Causality.INPUT))
    assert errors_of(system, run()) == []
    assert refusal_of(system, run()) is None


class Limited(Block):
    u: float = Input()
    y: float = Output()
    k: float = Parameter(start=1.0, minimum=0.0, maximum=5.0)
    n: int = Parameter(start=1)

    def step(self, t, h):
        self.y = self.k * self.u


def _own(value, *, target="u", kind=DataType.REAL, name="x", start=None):
    """A connector of the system itself that feeds a component, and a value of it."""
    system = System("s").add("a", block("limited"), **({} if target == "u" else {"u": 0.0}))
    causality = Causality.INPUT if target == "u" else Causality.PARAMETER
    own = Connector("x", causality, kind, start=start)
    system = owning(with_lines(system, line("x", f"a.{target}")), own)
    return system if value is None else replace(system, values={name: value})


def _twice():
    """Two outputs of components that lead to one output of the system itself."""
    system = System("s").add("a", block("source")).add("b", block("source"))
    system = owning(system, Connector("o", Causality.OUTPUT))
    return with_lines(system, line("a.y", "o"), line("b.y", "o"))


OWN = {
    "a number": (lambda: _own(1.0), None),
    "an unknown name": (lambda: _own(1.0, name="nobody", start=1.0), "VAL101"),
    "a text": (lambda: _own("x"), "VAL103"),
    "a truth value": (lambda: _own(True), "VAL103"),
    "not a number": (lambda: _own(nan), "VAL104"),
    "infinite": (lambda: _own(inf), "VAL104"),
    "a start that is not a number": (lambda: _own(None, start=nan), "VAL104"),
    "a start that is a text": (lambda: _own(None, start="x"), "VAL103"),
    "beyond a limit": (lambda: _own(9.0, target="k"), "VAL121"),
    "at a limit": (lambda: _own(5.0, target="k"), None),
    "a half as a whole": (lambda: _own(1.5, target="n", kind=DataType.INTEGER), "VAL103"),
    "too large": (lambda: _own(10**400, target="n", kind=DataType.INTEGER), "VAL104"),
    "two sources": (_twice, "CON108"),
}


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("name", OWN)
def test_values_of_connectors_of_systems_are_checked_by_both(name, is_nested, register):
    register(limited=Limited)
    make, code = OWN[name]
    system = around(make()) if is_nested else make()
    errors, refusal = errors_of(system, run()), refusal_of(system, run())
    assert set(errors) == ({code} if code else set())
    assert bool(refusal) is bool(code), refusal
