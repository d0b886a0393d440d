"""Loops through units that sample: their maps against closed forms, runs and python-control."""

import math
import re
import zipfile

import control
import numpy as np
import pytest
from scipy.linalg import expm

from orchestrator import Block, Input, Output, System, block, fmu, simulate
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.export import build_model
from orchestrator.loops import linear_system
from orchestrator.loops.certificate import certify
from orchestrator.loops.rule_map import MASTERS, RuledSystem

SAMPLED = """model Sampled "PI with a sample clock, whose output is filtered where tf is not 0"
  parameter Real kp = 2; parameter Real ki = 0; parameter Real ts = 0.02; parameter Real t0 = 0;
  input Real r(start=0); input Real y(start=0);
  discrete output Real u(start=0, fixed=true);
  output Real late(start=0, fixed=true);
  discrete Real i(start=0, fixed=true);
equation
  when sample(t0, ts) then
    i = pre(i) + ts*(r - y); u = kp*(r - y) + ki*i;
  end when;
  der(late) = (u - late)/0.01;
end Sampled;
"""
NEXT = """model Next "P whose instants are those of a comparison with time; two periods in turn"
  parameter Real kp = 2;
  input Real y(start=0);
  discrete output Real u(start=0, fixed=true);
  discrete Real next(start=0.01, fixed=true);
  discrete Boolean even(start=false, fixed=true);
equation
  when time >= pre(next) then
    even = not pre(even); next = pre(next) + (if pre(even) then 0.01 else 0.02); u = -kp*y;
  end when;
end Next;
"""
CLOCKS = """model Clocks "Measures every 10 ms, commands every 30 ms, and passes a part on at once"
  parameter Real kp = 60; parameter Real kd = 2;
  input Real y(start=0); output Real u;
  discrete Real s(start=0, fixed=true); discrete Real w(start=0, fixed=true);
equation
  when sample(0, 0.01) then s = 0.7*pre(s) - 0.3*y; end when;
  when sample(0, 0.03) then w = kp*pre(s); end when;
  u = w - kd*y;
end Clocks;
"""
TIMED = """model Timed "A gain beside a square wave: time events that sample no input"
  parameter Real k = 9;
  input Real y(start=0); output Real u; discrete Real wave(start=0, fixed=true);
equation
  when sample(0, 0.013) then wave = 1 - pre(wave); end when;
  u = -k*y + 0.001*wave;
end Timed;
"""
RAMPED = """model Ramped "A stiffness that goes up and down in turn, with a time event at each turn"
  parameter Real k = 9; parameter Real swing = 9; parameter Real half = 2;
  input Real y(start=0); output Real u;
  discrete Real slope(start=1, fixed=true); Real share(start=0, fixed=true);
equation
  when sample(half, half) then slope = -pre(slope); end when;
  der(share) = slope/half;
  u = -(k + swing*share)*y;
end Ramped;
"""
A, B = np.array([[0.0, 1.0], [-20.0, -4.0 / 3.0]]), np.array([0.0, 1.0 / 3.0])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """FMUs by the name of their model; ``Sampled3`` is one of FMI 3.0."""
    root, output = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("build")
    files = {}
    for name, text in (
        ("Sampled", SAMPLED),
        ("Next", NEXT),
        ("Clocks", CLOCKS),
        ("Timed", TIMED),
        ("Ramped", RAMPED),
    ):
        (root / f"{name}.mo").write_text(text, encoding="utf-8")
        for version in ("2.0", "3.0") if name == "Sampled" else ("2.0",):
            result = build_model(name, root, output / version, fmi=(version,))
            files[name if version == "2.0" else f"{name}3"] = result.path
    return files


def without(path, tmp_path, *patterns):
    """Write an FMU whose description says less."""
    target = tmp_path / path.name
    with zipfile.ZipFile(path) as zip_file, zipfile.ZipFile(target, "w") as less:
        for name in zip_file.namelist():
            data = zip_file.read(name)
            if name == "modelDescription.xml":
                text = data.decode()
                for pattern in patterns:
                    text, count = re.subn(pattern, "", text, flags=re.DOTALL)
                    assert count, pattern
                data = text.encode()
            less.writestr(name, data)
    return target


EXCHANGE = r"<ModelExchange\b[^>]*/>|<ModelExchange\b.*?</ModelExchange>"
STATES = r'canGetAndSetFMU[sS]tate="true"'


class Mass(Block):
    """3 v' = f - 4 v - 60 x, exact over a step with its force held."""

    f: float = Input()
    v: float = Output(depends_on=())
    x: float = Output(depends_on=())

    def initialise(self, t):
        self.v, self.x = 0.2, 0.0

    def step(self, t, h):
        whole = expm(h * np.block([[A, B[:, None]], [np.zeros((1, 3))]]))
        self.x, self.v = (whole @ [self.x, self.v, self.f])[:2].tolist()


def loop(controller, *, output="u", delay=None, **values):
    late = {"delay": delay} if delay else {}
    system = System("loop").add("m", block(Mass)).add("o", fmu(controller), **values)
    return system.connect("m.v", "o.y", **late).connect(f"o.{output}", "m.f")


def first_roots(linear):
    (account,) = linear.loop_accounts()
    return account.modes[0].sampled


def closed_form(kp, ki, ts):
    """Roots of the loop with output and integral held over each sample period."""
    whole = expm(ts * np.block([[A, B[:, None]], [np.zeros((1, 3))]]))
    step = np.zeros((3, 3))  # of x, v at the samples, and the integral
    seen = np.array([0.0, 1.0, 0.0])
    integral = np.array([0.0, 0.0, 1.0]) - ts * seen
    step[:2] = np.column_stack([whole[:2, :2], [0.0, 0.0]])
    step[:2] += np.outer(whole[:2, 2], -kp * seen + ki * integral)
    step[2] = integral
    values = np.linalg.eigvals(step).astype(complex)
    roots = np.log(values[np.abs(values - 1.0) > 1e-9]) / ts
    return sorted((s for s in roots if s.imag >= 0.0), key=lambda s: -s.real)


@pytest.mark.parametrize(
    ("kp", "ki", "ts", "step"),
    [
        (9.0, 0.0, 0.02, 5),
        (9.0, 12.0, 0.02, 5),
        (400.0, 0.0, 0.02, 5),
        (400.0, 0.0, 0.02, 20),
        (60.0, 300.0, 0.02, 4),
        (9.0, 0.0, 0.005, 5),
        (60.0, 300.0, 0.02, 8),
    ],
)
@pytest.mark.parametrize("model", ["Sampled", "hidden"])
def test_growth_is_that_of_the_discretised_loop(built, tmp_path, model, kp, ki, ts, step):
    path = built["Sampled"]
    if model == "hidden":  # a master sees no events of Co-Simulation
        path = without(path, tmp_path, EXCHANGE)
    linear = linear_system(loop(path, kp=kp, ki=ki, ts=ts, r=0.0), step=f"{step} ms")
    if 1000 * ts % step == 0:
        assert first_roots(linear) == pytest.approx(closed_form(kp, ki, ts)[0], rel=1e-8)
        assert linear.models["o"].phases == max(1, round(1000 * ts / step))
    else:  # the force is taken over at the next communication point
        assert linear.models["o"].phases == 5
        assert grows(loop(path, kp=kp, ki=ki, ts=ts, r=0.0), linear, f"{step} ms", 0.04)


def grows(system, linear, step, period, order=3, **options):
    """Whether a run grows as the least damped mode of a linear model says.

    Velocities one period apart follow a linear recursion whose roots are the multipliers (Prony).
    """
    run = simulate(system, step=step, stop=f"{round(30 * period, 6)} s", record=["*"], **options)
    every = round(period / (run.time[1] - run.time[0]))
    rows = run["m.v"][::every][2:]
    past = np.column_stack([rows[i : len(rows) - order + i] for i in range(order)])
    size = np.abs(past).max(axis=1)
    taken = size > 1e-5 * size.max()
    given = np.linalg.lstsq((past / size[:, None])[taken], (rows[order:] / size)[taken], rcond=None)
    roots = np.log(np.roots([1.0, *-given[0][::-1]]).astype(complex)) / period
    said = first_roots(linear)
    folded = complex(said.real, abs(math.remainder(said.imag, 2.0 * math.pi / period)))
    assert min(abs(roots - folded)) == pytest.approx(0.0, abs=1e-4 * abs(said))
    return True


CASES = {
    "incommensurate": ({"ts": 0.007}, {}, 5, 0.035),
    "offset": ({"t0": 0.005}, {}, 5, 0.02),
    "offset between": ({"t0": 0.007}, {}, 5, 0.02),
    "begins later": ({"t0": 0.103}, {}, 5, 0.02),
    "with a state": ({}, {"output": "late"}, 5, 0.02),
    "in a step": ({"ts": 0.01}, {}, 40, 0.04),
    "delay": ({}, {"delay": "12 ms"}, 5, 0.02),
}


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("case", CASES)
def test_growth_is_that_of_a_run(built, case, algorithm):
    values, lines, step, period = CASES[case]
    system = loop(built["Sampled"], **lines, **{"kp": 60.0, "ki": 100.0, "r": 0.0, **values})
    options = {"step": f"{step} ms", "algorithm": algorithm}
    linear = linear_system(system, **options)
    assert linear.models["o"].phases == max(1, round(1e3 * period / step))
    assert grows(system, linear, options["step"], period, 6, algorithm=algorithm)


def test_a_unit_that_cannot_go_back_is_started_anew(built, tmp_path):
    path = without(built["Sampled"], tmp_path, EXCHANGE, STATES)
    linear = linear_system(loop(path, kp=400.0, ts=0.02, r=0.0), step="10 ms")
    assert first_roots(linear) == pytest.approx(closed_form(400.0, 0.0, 0.02)[0], rel=1e-8)


def test_instants_that_only_time_tells_are_found(built):
    system = loop(built["Next"], kp=60.0)
    linear = linear_system(system, step="5 ms")
    assert linear.models["o"].phases == 6  # 10 ms and 20 ms in turn
    assert grows(system, linear, "5 ms", 0.03)


@pytest.mark.parametrize("hidden", [False, True])
def test_two_clocks_in_one_unit_have_a_common_period(built, tmp_path, hidden):
    """Its time events are 10 ms apart, and every third of them does more."""
    path = without(built["Clocks"], tmp_path, EXCHANGE) if hidden else built["Clocks"]
    linear = linear_system(loop(path), step="5 ms")
    assert linear.models["o"].phases == 6
    assert grows(loop(path), linear, "5 ms", 0.03, 5)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_step_of_no_whole_nanoseconds_has_an_exact_period(built, tmp_path, hidden):
    path = without(built["Sampled"], tmp_path, EXCHANGE) if hidden else built["Sampled"]
    linear = linear_system(loop(path, kp=60.0, ts=0.05, r=0.0), step="1/60 s")
    assert linear.models["o"].phases == 3
    assert first_roots(linear) == pytest.approx(closed_form(60.0, 0.0, 0.05)[0], rel=1e-6)


def test_two_units_with_different_periods_have_a_common_one(built):
    system = (
        System("loop")
        .add("m", block(Mass))
        .add("fast", fmu(built["Sampled"]), kp=0.6, ts=0.01, r=0.0)
        .add("o", fmu(built["Sampled"]), kp=60.0, ts=0.015, r=0.0)
        .connect("m.v", "fast.y")
        .connect("fast.u", "o.r")
        .connect("o.u", "m.f")
        .set("o.y", 0.0)
    )
    linear = linear_system(system, step="5 ms")
    assert (linear.models["fast"].phases, linear.models["o"].phases) == (2, 3)
    assert linear.period_map().period == pytest.approx(0.03)
    assert grows(system, linear, "5 ms", 0.03)


def test_an_event_a_rounding_error_before_a_communication_point_is_passed(built):
    """At 0.165 s one unit in the last place was left of the step, and the next one began there."""
    system = loop(built["Sampled"], kp=9.0, ts=0.015, r=0.0).with_options("o", interface="me")
    ends = {
        interface: simulate(
            system.with_options("o", interface=interface), step="5 ms", stop="0.5 s", record=["*"]
        )["o.late"][-1]
        for interface in ("me", "cs")
    }
    assert ends["me"] == pytest.approx(ends["cs"], rel=1e-4)


def test_time_events_that_sample_nothing_leave_the_model_as_it_is(built):
    linear = linear_system(loop(built["Timed"]), step="5 ms")
    model = linear.models["o"]
    assert (model.method, model.phases) == ("model exchange", 1)
    assert model.continuous.d == pytest.approx(np.array([[-9.0]]))
    assert model.remarks == ()


def test_a_gain_that_changes_between_time_events_is_refused_as_what_it_is(built, wording):
    """It was called a unit that samples every 2 s."""
    with wording.raises(DescriptionError):
        linear_system(loop(built["Ramped"]), step="5 ms")
    held = linear_system(loop(built["Ramped"], swing=0.0), step="5 ms")
    assert held.models["o"].continuous.d == pytest.approx(np.array([[-9.0]]))


def test_margins_are_those_of_python_control(built):
    kp, ki, ts = 9.0, 12.0, 0.02
    linear = linear_system(loop(built["Sampled"], kp=kp, ki=ki, ts=ts, r=0.0), step="5 ms")
    plant = control.sample_system(control.ss(A, B[:, None], [[0.0, 1.0]], [[0.0]]), ts, "zoh")
    integral = control.tf([ts, 0.0], [1.0, -1.0], ts)
    opened = plant * (kp + ki * integral)
    _, phase, *_ = control.stability_margins(opened)
    for line in ("m.v -> o.y", "o.u -> m.f"):
        margins = linear.margins(line)
        assert margins.is_sampled
        assert margins.is_stable
        assert margins.gain.value == pytest.approx(-1.0 / opened(-1.0).real, rel=1e-6)
        if line.startswith("m.v"):  # read once in a period, as python-control has it
            assert math.degrees(margins.phase.value) == pytest.approx(phase, rel=1e-6)


@pytest.mark.parametrize("at", [None, "0.1 s", "0.105 s"])
def test_an_input_that_jumped_at_the_point_is_an_event_that_happens_first(built, plants, at):
    """A plain body beside it was blamed: its FMU was in event mode."""
    system = (
        System("loop")
        .add("m", fmu(plants / "Chaser.fmu"), m=3.0, v0=0.2, thrust=0.0, virtual_force=0.0)
        .add("o", fmu(built["Sampled"]), kp=9.0, ts=0.02, r=0.0)
        .connect("m.velocity", "o.y", suppress_unit_conversion=True)
        .connect("o.u", "m.force", suppress_unit_conversion=True)
    )
    linear = linear_system(system, step="5 ms", at=at)
    assert first_roots(linear) == pytest.approx(math.log(1.0 - 9.0 * 0.02 / 3.0) / 0.02, rel=1e-8)


def test_other_masters_step_it_in_its_phases(built):
    """As libcosim's own recording of such a loop of FMUs shows: -2.2570 1/s."""
    linear = linear_system(loop(built["Sampled"], kp=9.0, ki=12.0, r=0.0), step="5 ms")
    for name in ("libcosim", "fmpy"):
        (account,) = RuledSystem.of(linear, MASTERS[name]).loop_accounts()
        assert account.modes[0].growth == pytest.approx(-2.25704, abs=1e-5)


def test_a_certificate_has_the_loop_of_a_unit_that_samples(built):
    system = loop(built["Sampled"], kp=9.0, ki=12.0, r=0.0)
    found = certify(system, ["libcosim"], step="5 ms")
    own, libcosim = found.masters
    ((account,), (other,)) = (own.loops, libcosim.loops)
    assert account.modes[0].sampled == pytest.approx(closed_form(9.0, 12.0, 0.02)[0], rel=1e-8)
    assert other.modes[0].growth == pytest.approx(-2.25704, abs=1e-5)
    assert any("'o' has no model in continuous time" in text for text in found.limits)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ({"ts": 0.5}, "1 ms"),
        ({"ts": 0.01 * math.sqrt(2.0)}, "5 ms"),
    ],
)
def test_a_period_that_is_too_long_is_refused_by_name(built, values, step, wording):
    with wording.raises(DescriptionError):
        linear_system(loop(built["Sampled"], kp=9.0, r=0.0, **values), step=step)


def test_event_mode_is_refused_by_name(built, wording):
    with wording.raises(DescriptionError):
        linear_system(loop(built["Sampled3"], kp=9.0, r=0.0), step="5 ms")
    system = loop(built["Sampled3"], kp=400.0, r=0.0).with_options("o", interface="me")
    linear = linear_system(system, step="5 ms")
    assert first_roots(linear) == pytest.approx(closed_form(400.0, 0.0, 0.02)[0], rel=1e-8)


def test_a_unit_that_answers_nothing_is_said_to(built, tmp_path):
    path = without(built["Sampled"], tmp_path, EXCHANGE)
    linear = linear_system(loop(path, kp=9.0, ts=1e4, t0=1e4, r=0.0), step="5 ms")
    (told,) = (text for text in linear.models["o"].remarks if "answered" in text)
    assert told.startswith(
        "no output of component 'o' answered to its inputs within 10.24 s: if it"
    )
