"""Compiled functions round as Python does, are kept, and say when they are made."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits.blocks import compiled as compile_watch
from orchestrator.core.simunits.blocks.compiled import compiled
from python_blocks.compensation import wrench
from python_blocks.identification import learning
from python_blocks.identification.kalman import MEMORY, KalmanSettings
from python_blocks.kinematics import stewart_motion
from python_blocks.kinematics.stewart import StewartGeometry

ROBOT = StewartGeometry()


def plain(module, monkeypatch):
    """The functions of a module as Python runs them."""
    for name, value in vars(module).items():
        if hasattr(value, "py_func"):
            monkeypatch.setitem(vars(module), name, value.py_func)
    return module


def poses(module, random):
    for _ in range(20):
        position = np.array([0.0, 0.0, 1.8]) + 0.1 * random.uniform(-1, 1, 3)
        q = np.array([1.0, 0.0, 0.0, 0.0]) + 0.05 * random.uniform(-1, 1, 4)
        length, rate, velocity, w = np.zeros(6), np.zeros(6), *random.normal(size=(2, 3))
        joints = ROBOT.base, ROBOT.platform
        given = module.follow(*joints, position, q, (velocity, w), (1.2, 2.8), length, rate)
        pose = np.array([0.0, 0.0, 1.8]), np.array([1.0, 0.0, 0.0, 0.0])
        twist = np.zeros(3), np.zeros(3)
        found = module.track(*joints, length, rate, pose, twist, 1e-10, 100.0)
        yield [*given, *length, *rate, *found, *pose[0], *pose[1], *twist[0], *twist[1]]


def test_kinematics_are_those_of_python_bit_by_bit(monkeypatch):
    ours = list(poses(stewart_motion, np.random.default_rng(3)))
    theirs = list(poses(plain(stewart_motion, monkeypatch), np.random.default_rng(3)))
    assert ours == theirs
    assert all(row[0] and row[15] for row in ours)  # poses that are found


def wrenches(module, random):
    for n in range(20):
        measured, last = random.normal(size=(2, 3)), np.zeros((2, 3))
        contact = random.normal(size=(3, 3))
        s, v, w, position, velocity, actual_w = random.normal(size=(6, 3))
        q, actual_q = random.normal(size=(2, 4))
        points, shown = random.normal(size=(3, 3)), np.zeros((4, 3))
        flags = module.compensate(
            5e-4, 0.5, float(n % 2), tuple(measured), tuple(last), tuple(contact), (s, q, v, w),
            (position, actual_q, velocity, actual_w), tuple(points), tuple(shown),
        )  # fmt: skip
        yield [*flags, *shown.ravel()]


def test_compensation_is_that_of_python_bit_by_bit(monkeypatch):
    ours = list(wrenches(wrench, np.random.default_rng(4)))
    theirs = list(wrenches(plain(wrench, monkeypatch), np.random.default_rng(4)))
    assert ours == theirs
    assert all(row[0] for row in ours)  # all of them corrected


def estimates(module, random):
    settings = KalmanSettings(noise=0.1).row()
    memory, shown = np.zeros(3, MEMORY), np.zeros((14, 3))
    module.begin(memory, settings)
    x, v = np.zeros(3), np.zeros(3)
    for n in range(3000):
        v = 0.02 * np.cos(0.01 * n * np.array([1.0, 1.1, 1.2]))
        x = x + 1e-3 * v
        force = 4e4 * x + 300.0 * v + 0.1 * random.normal(size=3)
        force[n % 3] += 1e4 * (n % 500 == 499)
        force[1] = np.nan if n == 1000 else force[1]
        module.learn(memory, settings, 1e-3, x, v, force, tuple(shown))
        yield shown.ravel().tolist()


@pytest.mark.slow
def test_estimates_are_those_of_python_bit_by_bit(monkeypatch):
    ours = list(estimates(learning, np.random.default_rng(5)))
    theirs = list(estimates(plain(learning, monkeypatch), np.random.default_rng(5)))
    assert ours == theirs
    assert ours[-1][0] == pytest.approx(4e4, rel=0.01)
    assert max(row[33] for row in ours) > 0.0  # outliers, too


@compiled
def twice(x: float) -> float:
    """Of this file."""
    return 2.0 * x


@compiled
def four_times(x: float) -> float:
    """Calls another of this file."""
    return twice(twice(x))


def test_compiled_functions_call_those_of_their_file():
    assert four_times(1.5) == 6.0
    assert four_times.py_func(1.5) == 6.0


def test_a_compiled_function_of_another_file_is_refused(tmp_path, wording):
    code = "from orchestrator.core.simunits.blocks.compiled import compiled\n"
    code += "def f(x):\n    return twice(x)\n"
    made = {"twice": twice}
    exec(compile(code, str(tmp_path / "other.py"), "exec"), made)  # noqa: S102 - the other file
    with wording.raises(DescriptionError):
        compiled(made["f"])


def test_where_nothing_can_be_kept_it_is_compiled_and_said(caplog):
    made = {}
    exec("def f(x):\n    return 3.0 * x\n", made)  # noqa: S102 - a function without a file
    with caplog.at_level(logging.WARNING):
        assert compiled(made["f"])(2.0) == 6.0
    (record,) = caplog.records
    assert "in every process: no folder can be written to keep it in" in record.message


@pytest.mark.slow
def test_machine_code_is_made_once_and_said(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from orchestrator.core.simunits.blocks.compiled import compiled\n\n\n"
        "@compiled\ndef thrice(x: float) -> float:\n    return 3.0 * x\n\n\n"
        "print(thrice(2.0))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def run(**more):
        return subprocess.run(  # noqa: S603 - Python itself
            [sys.executable, str(script)],
            env=environment | more, capture_output=True, text=True, check=True,
        )  # fmt: skip

    first, second = run(), run()
    assert first.stdout == second.stdout == "6.0\n"
    assert f"compiling {script} for this processor" in first.stderr
    assert second.stderr == ""
    script.write_text(script.read_text().replace("3.0 * x", "4.0 * x"))
    third = run()  # another function under the same name
    assert (third.stdout, "compiling" in third.stderr) == ("8.0\n", True)
    assert run(NUMBA_DISABLE_JIT="1").stdout == "8.0\n"


def test_who_watches_is_told_when_compiling_begins_and_ends(monkeypatch):
    from numba import njit

    told = []
    monkeypatch.setattr(compile_watch, "_watchers", [told.append])
    one = njit(lambda x: x + 1.0)
    two = njit(lambda x: one(x) * 2.0)  # one is compiled within it
    assert two(1.0) == two(1.0) == 4.0
    assert told == [True, False]
