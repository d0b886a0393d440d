"""Laws of normal contact against closed forms, each other, and their Modelica twins."""

from __future__ import annotations

from math import exp, inf, isclose, log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from scipy.integrate import solve_ivp

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits.registry import block_class
from orchestrator.export import build_model
from orchestrator.export.blocks.build_block import trace
from python_blocks.contact.damping_numbers import (
    DAMPING_NUMBERS,
    exact,
    restitution_of,
)
from python_blocks.contact.hertz_stiffness import RoundedBody, hertz_stiffness
from python_blocks.contact.normal_impact import NormalImpact, samples

ROOT = Path(__file__).parents[3]
M, V0, K = 38.4 * 21.85 / (38.4 + 21.85), 0.09483, 1.2e7
#: Block, Modelica class, parameters beside k.
LAWS = {
    "hertz_contact": ("Hertz", {}),
    "hunt_crossley": ("HuntCrossley", {}),
    "lankarani_nikravesh": ("LankaraniNikravesh", {}),
    "flores": ("Flores", {}),
    "gonthier": ("Gonthier", {}),
    "zhiying_qishao": ("ZhiyingQishao", {}),
    "zhiying_qishao_table": ("ZhiyingQishaoTable", {}),
    "kelvin_voigt": ("KelvinVoigt", {"mass": M}),
    "kelvin_voigt_adhesive": ("KelvinVoigtAdhesive", {"mass": M}),
    "volumetric_contact": ("Volumetric", {"radius": 0.018}),
}
STIFFNESS = {"kelvin_voigt": 3e5, "kelvin_voigt_adhesive": 3e5, "volumetric_contact": 5e8}


def contact(name, **values):
    return block_class(name)(k=STIFFNESS.get(name, K), **LAWS[name][1], **values)


def fly(block, h=2e-5, seconds=0.05):
    """A body of the reduced mass against a wall, leap-frog; depth, speed and force over time."""
    rows, x, v = [], -1e-9, V0
    for i in range(round(seconds / h)):
        block.position_a, block.velocity_a = x, v
        block.step(i * h, h)
        rows.append((x, v, block.force_b, block.energy, block.dissipation, block.impulse))
        v -= h * block.force_b / M
        x += h * v
    return np.array(rows).T


@pytest.mark.parametrize("name", LAWS)
def test_impact_in_small_steps(name):
    """Restitution, peak and impulse of a run are those of closed form and quadrature."""
    x, v, force, _, _, impulse = fly(contact(name))
    assert impulse[-1] == pytest.approx(M * (V0 - v[-1]), rel=1e-12)  # momentum
    assert force.min() >= 0.0 or name == "kelvin_voigt_adhesive"
    if name.startswith("kelvin_voigt"):
        # The wanted restitution is that of the law; first order in h: the force begins with a jump.
        assert -v[-1] / V0 == pytest.approx(0.55, abs=2e-3)
        assert (force.min() < -1.0) == (name == "kelvin_voigt_adhesive")
        return
    law = name.removesuffix("_contact")
    volume = {"n": 2.0, "radius": 0.018} if law == "volumetric" else {}
    number = DAMPING_NUMBERS["gonthier" if volume else law](0.55)
    impact = NormalImpact(M, V0, STIFFNESS.get(name, K), number, **volume)
    assert -v[-1] / V0 == pytest.approx(impact.restitution, abs=1e-3)  # measured 5e-4: damping held
    assert force.max() == pytest.approx(impact.peak_force, rel=1e-3)
    assert np.ptp(np.flatnonzero(x > 0.0)) * 2e-5 == pytest.approx(impact.contact_time, abs=1e-4)


@pytest.mark.parametrize("name", LAWS)
def test_energy_of_the_impact(name):
    """What is stored and taken is what the motion lost: first order in the step."""
    _, v, _, energy, dissipation, _ = fly(contact(name))
    lost = 0.5 * M * (V0**2 - v**2) - energy - np.cumsum(dissipation) * 2e-5
    assert np.abs(lost).max() < 0.01 * 0.5 * M * V0**2


@pytest.mark.parametrize("name", LAWS)
def test_every_law_can_be_exported_as_c_code(name):
    trace(block_class(name), {})


@pytest.mark.parametrize("law", sorted(set(DAMPING_NUMBERS) - {"hertz"}))
def test_damping_number_against_integration(law):
    """Any elastic force gives the same restitution; here a quadratic one, by SciPy."""
    number = DAMPING_NUMBERS[law](0.55)
    left = solve_ivp(
        lambda t, y: [y[1], -(max(y[0], 0.0) ** 2) * (1.0 + number * y[1])],
        (0.0, 50.0),
        [0.0, 1.0],
        rtol=1e-10,
        atol=1e-12,
    ).y[1, -1]
    assert -left == pytest.approx(restitution_of(number), abs=1e-7)


def test_small_damping_numbers_and_the_exact_one():
    below, above = restitution_of(0.99999e-4), restitution_of(1.00001e-4)
    assert below - above == pytest.approx(2.0 / 3.0 * 2e-9, rel=0.05)
    for wanted in (0.05, 0.3, 0.55, 0.9, 0.999, 1.0):
        assert restitution_of(exact(wanted)) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("speed", "leaving", "force"),
    # Figures of Table 1 as they follow from D = 0.75 and k = 1.2e7: half a unit of the last digit.
    [(94.83, 62.87, 201.5), (124.5, 82.54, 279.4), (81.2, 53.83, 167.3)],
)
def test_rows_of_table_1(speed, leaving, force):
    impact = NormalImpact(M, speed / 1e3, K, DAMPING_NUMBERS["zhiying_qishao_table"](0.55))
    assert 1e3 * impact.restitution * impact.speed == pytest.approx(leaving, abs=0.006)
    assert impact.peak_force == pytest.approx(force, abs=0.06)


def test_printed_damping_gives_another_row_1():
    number = DAMPING_NUMBERS["zhiying_qishao"](0.55)
    assert number == pytest.approx(1.28668, abs=5e-6)
    assert 94.83 * restitution_of(number) == pytest.approx(50.12, abs=0.006)


@pytest.mark.parametrize("deformation", [0.0, 2e-4])
@pytest.mark.parametrize(("n", "radius"), [(1.5, inf), (2.0, 0.018)])
def test_figures_of_an_impact_against_integration(n, radius, deformation):
    impact = NormalImpact(M, V0, K, 0.75, n=n, radius=radius, deformation=deformation)

    def rate(t, y):
        elastic = K * max(y[0], 0.0) ** n * (1.0 - y[0] / (3.0 * radius))
        return [y[1], -elastic * (1.0 + 0.75 * y[1] / V0) / M]

    def apart(t, y):
        return y[0]

    apart.terminal, apart.direction = True, -1
    run = solve_ivp(rate, (0, 1), [deformation, V0], rtol=1e-10, atol=1e-13, events=apart)
    assert run.t[-1] == pytest.approx(impact.contact_time, rel=1e-6)
    assert -run.y[1, -1] / V0 == pytest.approx(impact.restitution, rel=1e-7)
    depth, _, force = samples(impact)
    assert depth.max() == pytest.approx(impact.largest_depth, rel=1e-3)
    assert force.max() <= impact.peak_force * (1 + 1e-9)
    kinetic = 0.5 * M * V0**2
    before = impact.energy(deformation)
    left = before + kinetic * (1.0 - impact.restitution**2)
    assert impact.dissipated == pytest.approx(left, rel=1e-12)


@pytest.mark.parametrize(
    ("what", "value"),
    [("deformation", -1e-6), ("speed", 0.0), ("damping_number", -0.1), ("k", inf), ("radius", 0)],
)
def test_impacts_that_cannot_be(what, value, wording):
    values = {"reduced_mass": M, "speed": V0, "k": K, "damping_number": 0.75} | {what: value}
    with wording.raises(DescriptionError):
        NormalImpact(**values)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_restitution_is_a_share(name, value, wording):
    with wording.raises(DescriptionError):
        contact(name, restitution=value)


def test_sides_that_begin_pressed_together_are_told():
    block = contact("gonthier", position_a=1e-4)
    block.initialise(0.0)
    assert block.force_b == pytest.approx(K * 1e-6)
    (notice,) = block.notices()
    assert notice.time_ns == 0
    assert not contact("gonthier", position_a=1e-4, velocity_a=0.1).notices()


def test_kelvin_voigt_damping_in_closed_form():
    for wanted in (0.14, 0.3, 0.55, 0.9, 0.999):
        zeta = contact("kelvin_voigt", restitution=wanted).damping_ratio()
        angle = np.arccos(zeta) / sqrt(1.0 - zeta**2)
        assert exp(-2.0 * zeta * angle) == pytest.approx(wanted, rel=1e-12)
        zeta = contact("kelvin_voigt_adhesive", restitution=wanted).damping_ratio()
        assert isclose(log(wanted), -pi * zeta / sqrt(1.0 - zeta**2), rel_tol=1e-12)


def test_stiffness_of_hertz(wording):
    """Two equal steel balls: E* = E/(2 (1 - nu^2)), R* = R/2, k = 4/3 E* sqrt(R*)."""
    ball = RoundedBody(0.018, 210e9, 0.3)
    by_hand = 4.0 / 3.0 * 210e9 / (2.0 * 0.91) * sqrt(0.009)
    assert hertz_stiffness(ball, ball) == pytest.approx(by_hand, rel=1e-12)
    plane = RoundedBody(inf, 210e9, 0.3)
    assert hertz_stiffness(ball, plane) == pytest.approx(by_hand * sqrt(2.0), rel=1e-12)
    with wording.raises(DescriptionError):
        hertz_stiffness(plane, plane)
    with wording.raises(DescriptionError):
        RoundedBody(0.018, 210e9, 0.7)


@pytest.mark.slow
def test_modelica_laws_are_the_same(tmp_path):
    """One FMU with all of them, pressed in and let go by a half sine."""
    parts = [
        f"  SpaceDocking.NormalContacts.{kind} {name}(k={STIFFNESS.get(name, K)}"
        + "".join(f", {key}={value}" for key, value in values.items())
        + ");"
        for name, (kind, values) in LAWS.items()
    ]
    ends = [
        f"  {name}.position_a = x; {name}.velocity_a = v; {name}.position_b = 0;"
        f" {name}.velocity_b = 0;"
        for name in LAWS
    ]
    text = "\n".join(
        [
            "within ;",
            "model All",
            *parts,
            '  Real x(unit="m"); Real v(unit="m/s");',
            "equation",
            "  x = 5e-4*sin(100*time) - 1e-4; v = 0.05*cos(100*time);",
            *ends,
            "end All;",
        ]
    )
    (tmp_path / "All.mo").write_text(text)
    fmu = build_model(None, [tmp_path / "All.mo", ROOT / "modelica"], tmp_path)
    names = [f"{name}.{what}" for name in LAWS for what in ("force_b", "energy", "dissipation")]
    found = simulate_fmu(str(fmu.path), stop_time=0.05, output_interval=1e-4, output=names)
    first = np.arcsin(0.2) / 100.0
    times = np.sort(np.append(found["time"], first))  # with the very moment of the first touch
    for name in LAWS:
        block, rows = contact(name), []
        for t in times:
            block.position_a = 5e-4 * np.sin(100.0 * t) - 1e-4 + (1e-15 if t == first else 0.0)
            block.velocity_a = 0.05 * np.cos(100.0 * t)
            block.step(t, 0.0)
            if t != first:
                rows.append((block.force_b, block.energy, block.dissipation))
        for what, ours in zip(("force_b", "energy", "dissipation"), np.array(rows).T, strict=True):
            theirs = found[f"{name}.{what}"]
            close = 1e-9 * np.abs(ours).max() + 1e-15  # the moment is known to 1e-14 s
            np.testing.assert_allclose(theirs, ours, rtol=0, atol=close, err_msg=f"{name}.{what}")
