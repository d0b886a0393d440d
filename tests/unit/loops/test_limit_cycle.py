"""Limit cycles: describing functions, closed forms of the energy of a period, and runs."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from typer.testing import CliRunner

from orchestrator import (
    Block,
    DefaultExperiment,
    Input,
    Output,
    System,
    block,
    fmu,
    simulate,
    write_ssd,
)
from orchestrator.cli.main import app
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
from orchestrator.core.simunits import resolve
from orchestrator.loops import linear_system
from orchestrator.loops.contact import ContactLoop
from orchestrator.loops.limit_cycle import DescribingFunction, limit_cycles

M, B, TAU, GAP = 750.0, 60.0, 16e-3, 1e-3
LIMIT = ContactLoop(M, 1.0, B, TAU).stiffness_limit_exact  # N/m


def dead_zone(r):
    """Of a width of r amplitudes."""
    return 1.0 - saturation(r)


def saturation(r):
    return 2.0 / math.pi * (math.asin(r) + r * math.sqrt(1.0 - r**2))


def backlash(r):
    """Of half a gap of r amplitudes (Gelb, Vander Velde 1968)."""
    c = 1.0 - 2.0 * r
    real = 0.5 + (math.asin(c) + c * math.sqrt(1.0 - c**2)) / math.pi
    return complex(real, -4.0 * r * (1.0 - r) / math.pi)


@pytest.fixture
def docking(plants):
    """A chaser at a sheet, 16 ms late, and what lies between both."""

    def make(kind, k, speed=0.0):
        spring = fmu(plants / "Play.fmu")
        system = (
            System("docking")
            .add("chaser", fmu(plants / "Chaser.fmu"), m=M, v0=speed, thrust=0.0)
            .add("damper", block("virtual_damper"), b=B)
            .add("spring", spring, k=k, play=GAP if kind == "spring" else 0.0)
            .connect("chaser.velocity", "damper.velocity", delay="16 ms")
            .connect("damper.force", "chaser.virtual_force")
        )
        if kind == "lash":
            return (
                system.add("lash", block("backlash"), gap=GAP)
                .connect("chaser.position", "lash.driving", delay="16 ms")
                .connect("lash.driven", "spring.position")
                .connect("spring.force", "chaser.force")
            )
        system = system.connect("chaser.position", "spring.position", delay="16 ms")
        if kind == "spring":
            return system.connect("spring.force", "chaser.force")
        law = {"limit": "saturation", "zone": "dead_zone"}[kind]
        inner, size = {"limit": ("wanted", "limit"), "zone": ("measured", "width")}[kind]
        return (
            system.add(kind, block(law), **{size: k * GAP})
            .connect("spring.force", f"{kind}.{inner}")
            .connect(f"{kind}.force", "chaser.force")
        )

    return make


def cycle_of(system, component, low, high):
    cycles = limit_cycles(
        linear_system(system, step="1 ms"), component, np.geomspace(low, high, 20)
    )
    assert len(cycles) == 1
    return cycles[0]


@pytest.mark.parametrize(
    ("kind", "size", "expected"),
    [("limit", 1.0, saturation), ("zone", 1.0, dead_zone), ("lash", 0.5, backlash)],
)
def test_describing_functions_are_those_of_the_book(docking, kind, size, expected):
    system = resolve(docking(kind, 1.0 / GAP)).flat()
    if kind == "lash":
        system = system.set("lash.gap", 1.0)
    (into,) = (line for line in system.connections if line.target.component == kind)
    output = f"{kind}.{'driven' if kind == 'lash' else 'force'}"
    with DescribingFunction(system, into, output) as function:
        for amplitude in (1.1 * size, 2.0 * size, 10.0 * size):
            # 256 samples of a period: their spacing squared, where the law has a corner
            assert function(amplitude) == pytest.approx(expected(size / amplitude), abs=4e-4)


@pytest.mark.parametrize(
    ("kind", "law", "is_stable"), [("limit", saturation, True), ("zone", dead_zone, False)]
)
def test_a_cycle_is_where_the_describing_function_brings_the_loop_to_its_limit(
    docking, kind, law, is_stable
):
    """N(A) K is the stiffness limit of the contact loop, at the frequency of that."""
    k = 2.0 * LIMIT
    found = cycle_of(docking(kind, k), kind, 1.02 * k * GAP, 100.0 * k * GAP)
    r = brentq(lambda r: law(r) - 0.5, 0.01, 0.99)
    assert found.amplitude == pytest.approx(k * GAP / r, rel=1e-3)
    crossing = abs(ContactLoop(M, LIMIT, B, TAU).rightmost_root.imag)
    assert found.frequency == pytest.approx(crossing / (2.0 * math.pi), rel=1e-4)
    assert found.is_stable is is_stable
    # What is stiffer or softer by a share grows by so much: the root of the loop moves along.
    softer = [ContactLoop(M, LIMIT * (1 + e), B, TAU).growth_rate for e in (-1e-3, 1e-3)]
    slope = (softer[1] - softer[0]) / 2e-3
    by_a = (law(r * (1 - 1e-4)) - law(r * (1 + 1e-4))) / 2e-4 / 0.5
    assert found.return_rate == pytest.approx(-slope * by_a, rel=1e-2)
    assert found.third == pytest.approx(1.0 / 9.0, rel=1e-2)  # of a free body


def seen(system, until=14.0):
    """Growth in 1/s, mean amplitude in m and frequency in Hz of the chaser's swings."""
    result = simulate(system, step="2 ms", stop=f"{until} s", delay="mean")
    x, t = result["chaser.position"], result.time
    mid = np.flatnonzero((np.diff(np.abs(x[:-1])) >= 0) & (np.diff(np.abs(x[1:])) < 0)) + 1
    mid = mid[np.abs(x[mid]) > 0.3 * np.abs(x[mid]).max()][2:]
    bend = x[mid - 1] - 2.0 * x[mid] + x[mid + 1]
    off = 0.5 * (x[mid - 1] - x[mid + 1]) / bend
    peaks = np.abs(x[mid] - 0.25 * (x[mid - 1] - x[mid + 1]) * off)
    times = t[mid] + 2e-3 * off
    growth = np.polyfit(times, np.log(peaks), 1)[0]
    return growth, np.exp(np.log(peaks).mean()), 0.5 / np.diff(times).mean()


def neutral(make, slow, fast):
    """Return amplitude and frequency between runs that grow and runs that die down."""
    speed = brentq(lambda v: seen(make(v))[0], slow, fast, rtol=2e-4)
    _, amplitude, frequency = seen(make(speed))
    return amplitude, frequency


def play_of_a_period(k):
    """Amplitude and frequency where the delay feeds in a period what the damper takes.

    To first order in the delay it feeds K tau v^2 where the spring holds, and the limit of the
    linear loop says how much that is of the damping: a share LIMIT/K of the time, weighed by v^2.
    """
    over = 4.0 / math.pi / (k / LIMIT - 1.0)
    omega = math.sqrt(k / M)
    return GAP * (1.0 + over), omega / (4.0 * (1.0 / over + math.pi / 2.0))


def limited_of_a_period(k):
    omega = math.sqrt(k / M)

    def parts(out):  # speed beyond the limit by the one at which the limit is reached at rest
        begin = out * omega * GAP
        top = math.hypot(begin, omega * GAP)
        phase = math.asin(omega * GAP / top)
        inside = 2.0 * top**2 / omega * (phase + 0.5 * math.sin(2.0 * phase))
        outside = 4.0 * begin**3 / (3.0 * omega**2 * GAP)
        time = 4.0 * phase / omega + 4.0 * begin / (omega**2 * GAP)
        return inside / (inside + outside), GAP * (1.0 + 0.5 * out**2), 1.0 / time

    out = brentq(lambda out: parts(out)[0] - LIMIT / k, 1e-3, 100.0)
    return parts(out)[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "closed", "beyond", "off"),
    [
        ("spring", play_of_a_period, 1.2, 0.08),
        ("spring", play_of_a_period, 2.0, 0.09),
        ("limit", limited_of_a_period, 1.2, 0.08),
        ("limit", limited_of_a_period, 2.0, 0.08),
    ],
)
def test_runs_are_neutral_where_the_energy_of_a_period_says(docking, kind, closed, beyond, off):
    """The describing function is off by what a third harmonic does, which comes back by 1/9."""
    k = beyond * LIMIT
    amplitude, frequency = closed(k)
    speed = amplitude * 2.0 * math.pi * frequency
    found = neutral(lambda v: docking(kind, k, v), 0.6 * speed, 1.5 * speed)
    assert found == pytest.approx((amplitude, frequency), rel=5e-3)  # higher orders of the delay
    unit = 1.0 if kind == "spring" else k
    predicted = cycle_of(docking(kind, k), kind, 1.02 * GAP * unit, 100.0 * GAP * unit)
    assert predicted.is_stable is (kind == "limit")
    if kind == "spring":  # the limit has a force as its input
        assert predicted.amplitude == pytest.approx(found[0], rel=off)
    assert predicted.frequency == pytest.approx(found[1], rel=off)


@pytest.mark.slow
def test_backlash_keeps_a_stable_loop_swinging(docking):
    """Half the stiffness limit, and still it does not come to rest: 24.6 mm of a play of 1 mm."""
    k = 0.5 * LIMIT
    predicted = cycle_of(docking("lash", k), "lash", 0.51 * GAP, 100.0 * GAP)
    assert predicted.is_stable
    speed = 2.0 * math.pi * predicted.frequency * predicted.amplitude
    found = neutral(lambda v: docking("lash", k, v), 0.8 * speed, 1.25 * speed)
    assert found == pytest.approx((predicted.amplitude, predicted.frequency), rel=5e-3)
    for share in (1.1, 0.9):
        growth, amplitude, _ = seen(docking("lash", k, share * speed))
        off = math.log(amplitude / predicted.amplitude)
        assert growth == pytest.approx(-predicted.return_rate * off, rel=0.1)


class Pushing(Block):
    """A contact that only pushes."""

    x: float = Input(unit="m")
    f: float = Output(unit="N")

    def step(self, t, h):
        self.f = -max(self.x, 0.0)


class Lag(Block):
    """Has dynamics of its own."""

    x: float = Input(unit="m")
    f: float = Output(unit="N", depends_on=())

    def step(self, t, h):
        self.f -= 0.1 * (self.f + self.x)


@pytest.mark.parametrize("law", [Pushing, Lag])
def test_what_has_no_describing_function_of_the_amplitude_is_refused(plants, law, wording):
    system = (
        System("s")
        .add("chaser", fmu(plants / "Chaser.fmu"), thrust=0.0, virtual_force=0.0)
        .add("law", block(law))
        .connect("chaser.position", "law.x", delay="16 ms")
        .connect("law.f", "chaser.force")
    )
    with wording.raises(CapabilityError):
        limit_cycles(linear_system(system, step="1 ms"), "law", [0.1, 1.0])


def test_wrong_questions_are_refused(docking, wording):
    linear = linear_system(docking("limit", 1000.0), step="1 ms")
    with wording.raises(UnknownNameError):
        limit_cycles(linear, "limt", [0.1, 1.0])
    with wording.raises(DescriptionError):
        limit_cycles(linear, "chaser", [0.1, 1.0])
    with wording.raises(DescriptionError):
        limit_cycles(linear, "limit", [1.0, 0.1])


def test_the_command_tells_limit_cycles(docking, tmp_path):
    k = 2.0 * LIMIT
    run = DefaultExperiment(stop_ns=1_000_000_000, step_ns=1_000_000)
    system = replace(docking("limit", k), experiment=run)
    write_ssd(system, tmp_path / "docking.ssd")
    asked = ["analyze", "loop", str(tmp_path / "docking.ssd")]
    which = f"limit={1.02 * k * GAP}:{100 * k * GAP}:20"
    done = CliRunner().invoke(app, [*asked, "--limit-cycle", which, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["limit_cycles"]
    assert told["component"] == "limit"
    (cycle,) = told["cycles"]
    assert cycle["stable"] is True
    done = CliRunner().invoke(app, [*asked, "--limit-cycle", which])
    assert "come to it" in done.stdout
    done = CliRunner().invoke(app, [*asked, "--limit-cycle", "limit=1:2"])
    assert "expected NAME=FROM:TO:COUNT" in done.output
