"""Blocks that are factorised at run time: their solutions, derivatives and messages."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Slave

from orchestrator.export import Solver, build_model

SIZE = 8

# Full matrices, diagonally dominant; `other` replaces one element of the diagonal.
_LINEAR = """model Full
  input Real u(start=1); parameter Real k = {size}; parameter Real w = 1;
  output Real x(start=0.5, fixed=true);
{unknowns}
equation
{rows}
  der(x) = a1 - x;
end Full;"""


def linear(diagonal: str) -> str:
    """Row i: diagonal * a[i] + the sum of (i + 2 j) / 20 a[j] = i u + x."""
    rows = [
        f"  {diagonal}*a{i} + "
        + " + ".join(f"{(i + 2 * j) / 20}*a{j}" for j in range(1, SIZE + 1) if j != i)
        + f" = {i}*u + x;"
        for i in range(1, SIZE + 1)
    ]
    unknowns = "\n".join(f"  Real a{i};" for i in range(1, SIZE + 1))
    return _LINEAR.format(size=SIZE, unknowns=unknowns, rows="\n".join(rows))


def solution(diagonal: float, u: float, x: float) -> np.ndarray:
    i = np.arange(1, SIZE + 1)
    matrix = (i[:, None] + 2 * i[None, :]) / 20
    np.fill_diagonal(matrix, diagonal)
    return np.asarray(np.linalg.solve(matrix, i * u + x))


NAMES = [f"a{i}" for i in range(1, SIZE + 1)]

DIAGONALS: dict[str, tuple[str, Callable[[float, float, float], float]]] = {
    "constant": ("8", lambda k, w, x: 8),
    "of parameters": ("(k + w)", lambda k, w, x: k + w),
    "of a state": ("(k + w*x)", lambda k, w, x: k + w * x),
    "of time": ("(k + w*cos(time))", lambda k, w, x: k + w),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", DIAGONALS)
def test_linear_block(
    case: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    text, diagonal = DIAGONALS[case]
    unit = open_fmu(build_text("Full", linear(text)))
    unit.initialize()
    for u, k, w in ((1.0, 8.0, 1.0), (-3.0, 8.0, 1.0), (-3.0, 12.0, 2.0)):
        unit.step(1e-9)
        unit.set(u=u)
        if w > 1.0 and case != "constant":
            unit.set(k=k, w=w)
        (x,) = unit.get("x")
        expected = solution(diagonal(k, w, x), u, x)
        assert unit.get(*NAMES) == pytest.approx(expected.tolist(), rel=1e-12)


@pytest.mark.slow
def test_a_restored_state_has_its_own_factors(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    unit = open_fmu(build_text("Full", linear("(k + w)"), method="dopri5")).initialize()
    unit.step(0.1, 2)
    before, time = unit.get("x", *NAMES), unit.time
    state = unit.fmu.getFMUState()
    unit.step(0.1, 3)
    later = unit.get("x", *NAMES)
    unit.set(k=20.0)
    unit.step(0.1)
    unit.fmu.setFMUState(state)
    unit.time = time
    assert unit.get("x", *NAMES) == before
    unit.step(0.1, 3)
    assert unit.get("x", *NAMES) == later
    unit.fmu.freeFMUState(state)


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["w", "x"])
def test_a_singular_matrix_names_unknowns_and_equations(
    weight: str, build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    """The identity plus a matrix of equal elements w: singular at 1 + 8 w = 0."""
    total = " + ".join(NAMES)
    rows = "\n".join(f"  {name} + {weight}*({total}) = u;" for name in NAMES)
    unknowns = "\n".join(f"  Real {name};" for name in NAMES)
    text = _LINEAR.format(size=SIZE, unknowns=unknowns, rows=rows)
    unit = open_fmu(build_text("Full", text)).initialize(**{weight: 0.125})
    assert unit.get(*NAMES) == pytest.approx([0.5] * SIZE, rel=1e-14)
    unit.fmu.reset()
    with pytest.raises(FMICallException):
        unit.initialize(**{weight: -0.125})
    message = unit.messages[-1]
    assert "the linear equations for a" in message
    assert message.endswith("are singular or not finite")
    assert all(f"{name}" in message for name in NAMES)
    assert "Full.mo:" in message


MIXED = """model Mixed
  input Real u(start=1); input Real v(start=-0.4); parameter Real k = 3;
  output Real x(start=0.3, fixed=true); output Real y(start=0.7, fixed=true);
  Real a(start=0.5); Real b; Real c; Real d;
  Real f1; Real f2; Real f3; Real f4; Real f5; Real f6; Real f7;
equation
  a^3 + a*b = u + x; b + sin(a) = y*v;
  f1*k + f2*x + f7 = a; f2*k + f3*y + f1 = b; f3*k + f4 + f2*x = u; f4*k + f5*a + f3 = v;
  f5*k + f6 + f4 = x; f6*k + f7*b + f5 = y; f7*k + f1 + 0.5*f6 = time;
  c + exp(0.3*d) = f3 + a; d + 0.2*c^2 = f7*x;
  der(x) = c - f1*x; der(y) = d + b*f2 - y;
end Mixed;"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("mixed")
    (root / "Mixed.mo").write_text(MIXED, encoding="utf-8")
    return dict(build_model("Mixed", root, root / "b", fmi=("2.0", "3.0")).files)


_LADDER = """model Ladder
  input Real u(start=1); parameter Real r = 1; parameter Real g = 0.5;
  output Real x(start=0, fixed=true);
  Real e[{n}]; Real i[{n}]; Real j[{n}]; Real d[{n}];
equation
  d[1] = u - e[1];
  for k in 2:{n} loop d[k] = e[k-1] - e[k]; end for;
  for k in 1:{n} loop d[k] = r*i[k]; j[k] = {shunt}; end for;
  for k in 1:{n}-1 loop i[k] = j[k] + i[k+1]; end for;
  i[{n}] = j[{n}] + e[{n}] - x;
  der(x) = e[{n}] - x;
end Ladder;"""


def test_a_long_ladder_stays_exact(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    """Solved from one end to the other, its recurrence grows by 2 at each of the 60 sections."""
    n, g = 60, 0.5
    matrix = np.diag(np.full(n, 2 + g)) - np.eye(n, k=1) - np.eye(n, k=-1)
    exact = np.linalg.solve(matrix, np.eye(n)[0] * 3.0)
    text = _LADDER.format(n=n, shunt="g*e[k]")
    unit = open_fmu(build_text("Ladder", text)).initialize(u=3.0)
    ends = [f"e[{k}]" for k in range(1, n + 1)]
    assert unit.get(*ends) == pytest.approx(exact.tolist(), rel=1e-11)


@pytest.mark.slow
def test_a_ladder_of_diodes(build_text: Callable[..., Path], open_fmu: Callable[..., Any]) -> None:
    """All equations hold, with ten unknowns for Newton's method instead of forty."""
    n, g = 10, 1e-6
    fmu = build_text("Ladder", _LADDER.format(n=n, shunt="1e-6*(exp(e[k]/0.03) - 1)"))
    with zipfile.ZipFile(fmu) as archive:
        assert "#define N_Z 10\n" in archive.read("sources/model.h").decode()
    unit = open_fmu(fmu).initialize()
    for u in (1.0, 3.0, -5.0, 0.0):
        unit.set(u=u)
        e, i, j = (np.array(unit.get(*(f"{name}[{k}]" for k in range(1, n + 1)))) for name in "eij")
        before = np.append(u, e[:-1])
        np.testing.assert_allclose(i, before - e, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(j, g * np.expm1(e / 0.03), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(i, j + np.append(i[1:], e[-1]), rtol=1e-9, atol=1e-12)


KNOWNS = ("u", "v", "x", "y")
UNKNOWNS = ("der(x)", "der(y)", "a", "b", "c", "d", "f1", "f4", "f7", "x")


def test_directional_and_adjoint_derivatives(mixed: dict[str, Path], tmp_path: Path) -> None:
    """Against central differences, and against each other, through three blocks in a row."""
    description = read_model_description(str(mixed["3.0"]))
    unit = FMU3Slave(
        guid=description.guid,
        unzipDirectory=extract(str(mixed["3.0"]), str(tmp_path)),
        modelIdentifier="Mixed",
        instanceName="unit",
    )
    reference = {v.name: v.valueReference for v in description.modelVariables}
    unknowns, knowns = [reference[n] for n in UNKNOWNS], [reference[n] for n in KNOWNS]
    unit.instantiate()
    unit.enterInitializationMode()
    point = np.array(unit.getFloat64(knowns))
    columns = []
    for seed in np.eye(4):
        values = []
        for sign in (1, -1):
            unit.setFloat64(knowns, (point + sign * 1e-6 * seed).tolist())
            values.append(np.array(unit.getFloat64(unknowns)))
        columns.append((values[0] - values[1]) / 2e-6)
    unit.setFloat64(knowns, point.tolist())
    unit.exitInitializationMode()
    forward = np.array(
        [unit.getDirectionalDerivative(unknowns, knowns, seed.tolist()) for seed in np.eye(4)]
    ).T
    np.testing.assert_allclose(forward, np.array(columns).T, rtol=1e-7, atol=1e-8)
    backward = np.array(
        [unit.getAdjointDerivative(unknowns, knowns, s.tolist(), 4) for s in np.eye(len(UNKNOWNS))]
    )
    np.testing.assert_allclose(backward, forward, rtol=1e-12, atol=1e-14)
    unit.freeInstance()


@pytest.mark.slow
@pytest.mark.usefixtures("sundials")
def test_implicit_solver_uses_the_same_derivatives(
    mixed: dict[str, Path], tmp_path: Path, open_fmu: Callable[..., Any]
) -> None:
    root = mixed["2.0"].parents[1]
    cvode = build_model("Mixed", root, tmp_path, solver=Solver("cvode", tolerance=1e-10)).path
    stiff, other = open_fmu(cvode).initialize(), open_fmu(mixed["2.0"]).initialize()
    for unit in (stiff, other):
        unit.step(0.05, 20)
    assert stiff.get("x", "y") == pytest.approx(other.get("x", "y"), rel=1e-7)
