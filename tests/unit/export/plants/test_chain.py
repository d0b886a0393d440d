"""Functions of chains with joints that stick: against Pinocchio, and by trying all patterns."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten
from python_blocks.kinematics.clearance import Box, box_clearance
from python_blocks.kinematics.manipulator_chain import ManipulatorChain

MODELICA = Path(__file__).parents[4] / "modelica"
FREE, RAIL, PLANE = np.ones(6), np.array([0, 0, 0, 0, 0, 1.0]), np.array([0, 1, 0, 1, 0, 1.0])
# Functions of the library by their equations: no FMU has to be compiled.
DYNAMICS = """model Probe
  input Real axis[3, 3], offset[3, 3], m[4], center[4, 3], J[4, 3, 3], rotor[3];
  input Real phi[3], rate[3], w[3];
  input Real torque[3], moves[3], base_moves[6], base_torque[3], base_force[3];
  input Real tip[3], tip_torque[3], tip_force[3], v[3];
  output Real acceleration[3], load[3], turning[3], a[3], guide_torque[3], guide_force[3];
  output Real com[3], p[3], L[3], energy;
equation
  (acceleration, load, turning, a, guide_torque, guide_force) =
    SpaceDocking.Chains.forwardDynamics(axis, offset, m, center, J, rotor, phi, rate, w, torque,
    moves, base_moves, base_torque, base_force, tip, tip_torque, tip_force);
  (com, p, L, energy) = SpaceDocking.Chains.momenta(axis, offset, m, center, J, phi, rate, v, w);
end Probe;
"""
DEPTH = """model Probe
  input Real a[3], b[3], radius, edges[3];
  output Real depth;
equation
  depth = SpaceDocking.Chains.boxDepth(a, b, radius, edges);
end Probe;
"""
SETTLING = """model Probe
  input Integer mode[4], changes;
  input Boolean overloaded[4], reversed[4];
  input Real rate[4], acceleration[4], load[4], static[4], coulomb[4];
  output Real next[4];
equation
  next = SpaceDocking.Chains.settle(mode, overloaded, reversed, rate, acceleration, load, static,
    coulomb, changes);
end Probe;
"""


class Probe:
    """The outputs of a small model as a function of its inputs."""

    def __init__(self, source, folder):
        (folder / "Probe.mo").write_text(source)
        dae = read(flatten("Probe", folder, MODELICA))
        self.inputs = [v for v in dae.variables if v.kind.name == "INPUT"]
        self.outputs = [v for v in dae.variables if v.kind.name == "OUTPUT"]
        unknown = ca.vertcat(*(v.symbol for v in self.outputs))
        residual = ca.vertcat(*(r.expression for r in dae.residuals))
        values = ca.substitute(unknown - residual, unknown, ca.SX.zeros(len(self.outputs)))
        self.function = ca.Function("f", [ca.vertcat(*(v.symbol for v in self.inputs))], [values])

    def __call__(self, **given):
        places = {v.name: i for i, v in enumerate(self.inputs)}
        column = np.zeros(len(places))
        for name, value in given.items():
            for index, number in np.ndenumerate(np.asarray(value, dtype=float)):
                subscript = f"[{','.join(str(i + 1) for i in index)}]" if index else ""
                column[places.pop(f"{name}{subscript}")] = number
        assert not places, "not given"
        result = {}
        for variable, value in zip(self.outputs, self.function(column).full().ravel(), strict=True):
            result.setdefault(variable.name.partition("[")[0], []).append(value)
        return {name: np.array(values) for name, values in result.items()}


@pytest.fixture(scope="module")
def dynamics(tmp_path_factory):
    return Probe(DYNAMICS, tmp_path_factory.mktemp("dynamics"))


@pytest.fixture(scope="module")
def settle(tmp_path_factory):
    return Probe(SETTLING, tmp_path_factory.mktemp("settling"))


def random_chain(random, joints=3):
    axis = random.normal(size=(joints, 3))
    root = random.normal(size=(joints + 1, 3, 3))
    return ManipulatorChain(
        axis / np.linalg.norm(axis, axis=1)[:, None],
        random.normal(size=(joints, 3)),
        random.uniform(1.0, 20.0, joints + 1),
        random.normal(size=(joints + 1, 3)),
        root @ root.transpose(0, 2, 1) + 0.1 * np.eye(3),
    )


def random_state(random, joints=3):
    state = {name: random.normal(size=joints) for name in ("phi", "rate", "torque")}
    vectors = ("w", "v", "base_torque", "base_force", "tip", "tip_torque", "tip_force")
    return state | {name: random.normal(size=3) for name in vectors}


def given(chain, state, moves=(1, 1, 1), base_moves=FREE, rotor=(0.0, 0.0, 0.0)):
    structure = {"axis": chain.axis, "offset": chain.offset, "m": chain.mass}
    masses = {"center": chain.center, "J": chain.inertia, "rotor": rotor}
    return structure | masses | state | {"moves": moves, "base_moves": base_moves}


def in_pinocchio(chain):
    model = pin.Model()
    model.gravity.linear[:] = 0.0
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    links = zip(chain.mass, chain.center, chain.inertia, strict=True)
    model.appendBodyToJoint(joint, pin.Inertia(*next(links)), pin.SE3.Identity())
    for number, (axis, offset) in enumerate(zip(chain.axis, chain.offset, strict=True)):
        kind, place = pin.JointModelRevoluteUnaligned(axis), pin.SE3(np.eye(3), offset)
        joint = model.addJoint(joint, kind, place, f"joint {number}")
        model.appendBodyToJoint(joint, pin.Inertia(*next(links)), pin.SE3.Identity())
    return model


def at(state):
    return np.r_[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, state["phi"]]


def generalised_force(chain, state):
    """Torques and wrenches as one column, from the places of the Python chain."""
    frames = chain.frames(state["phi"])
    end = frames.origin[-1] + frames.rotation[-1] @ state["tip"]
    torque = state["base_torque"] + state["tip_torque"] + np.cross(end, state["tip_force"])
    joints = [
        frames.rotation[i + 1]
        @ axis
        @ (state["tip_torque"] + np.cross(end - frames.origin[i + 1], state["tip_force"]))
        for i, axis in enumerate(chain.axis)
    ]
    return np.r_[state["base_force"] + state["tip_force"], torque, state["torque"] + joints]


def test_depth_in_a_box_is_that_of_the_clearance(tmp_path, random):
    depth = Probe(DEPTH, tmp_path)
    edges = np.array([1.2, 0.8, 1.0])
    box = Box(np.array([0.0, 0.0, -0.5]), edges)
    for a, b in random.uniform(-1.5, 1.5, (20, 2, 3)):
        found = depth(a=a, b=b, radius=0.1, edges=edges)["depth"]
        assert found == pytest.approx(-box_clearance(box, a, b, 0.1).distance, abs=3e-5)
    assert depth(a=-edges, b=-edges, radius=9.0, edges=[1.0, 0.0, 1.0])["depth"] == -1.0


@pytest.mark.parametrize("seed", range(5))
def test_inertia_matrix_and_bias_are_those_of_pinocchio(seed):
    random = np.random.default_rng(seed)
    chain, state = random_chain(random, seed + 3), random_state(random, seed + 3)
    model = in_pinocchio(chain)
    data = model.createData()
    upper = np.triu(pin.crba(model, data, at(state)))
    matrix = chain.inertia_matrix(state["phi"])
    scale = np.abs(matrix).max()
    np.testing.assert_allclose(matrix, upper + np.triu(upper, 1).T, rtol=0, atol=1e-12 * scale)
    velocity = np.r_[np.zeros(3), state["w"], state["rate"]]
    expected = pin.rnea(model, data, at(state), velocity, np.zeros(model.nv))
    bias = chain.bias(state["phi"], state["w"], state["rate"])
    np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(4))
def test_accelerations_are_those_of_pinocchio(dynamics, seed):
    random = np.random.default_rng(seed)
    chain, state = random_chain(random), random_state(random)
    rotor = random.uniform(0.0, 20.0, 3) if seed % 2 else np.zeros(3)
    found = dynamics(**given(chain, state, rotor=rotor))
    model = in_pinocchio(chain)
    model.armature[6:] = rotor
    force = generalised_force(chain, state)
    velocity = np.r_[np.zeros(3), state["w"], state["rate"]]  # at the origin's velocity of zero
    expected = pin.aba(model, model.createData(), at(state), velocity, force)
    ours = np.r_[found["a"], found["turning"], found["acceleration"]]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("base_moves", [FREE, RAIL, PLANE], ids=["free", "rail", "plane"])
@pytest.mark.parametrize("moves", [(1, 0, 1), (0, 1, 0)])
def test_what_stands_still_is_a_constraint(dynamics, random, moves, base_moves):
    """From the whole matrix, without the rows of what stands still."""
    chain, state = random_chain(random), random_state(random)
    state["rate"] = state["rate"] * moves
    found = dynamics(**given(chain, state, moves, base_moves))
    matrix = chain.inertia_matrix(state["phi"])
    bias = chain.bias(state["phi"], state["w"], state["rate"])
    free = np.flatnonzero(np.r_[base_moves[3:], base_moves[:3], moves])
    force = generalised_force(chain, state) - bias
    expected = np.zeros(9)
    expected[free] = np.linalg.solve(matrix[np.ix_(free, free)], force[free])
    ours = np.r_[found["a"], found["turning"], found["acceleration"]]
    np.testing.assert_allclose(ours, expected, atol=1e-10 * np.abs(expected).max())
    held = force - matrix @ expected  # what friction and guide take up
    still = np.flatnonzero(np.array(moves) == 0)
    np.testing.assert_allclose(found["load"][still], held[6:][still], rtol=1e-9)
    guide = np.r_[found["guide_force"], found["guide_torque"]]
    np.testing.assert_allclose(guide, -held[:6], atol=1e-9 * np.abs(held).max())


def test_momenta_are_those_of_pinocchio(dynamics, random):
    chain, state = random_chain(random), random_state(random)
    found = dynamics(**given(chain, state))
    model = in_pinocchio(chain)
    data = model.createData()
    velocity = np.r_[state["v"], state["w"], state["rate"]]
    momentum = pin.computeCentroidalMomentum(model, data, at(state), velocity)
    np.testing.assert_allclose(found["p"], momentum.linear, rtol=1e-12)
    np.testing.assert_allclose(found["L"], momentum.angular, rtol=1e-10)
    np.testing.assert_allclose(found["com"], data.com[0], rtol=1e-12)
    energy = pin.computeKineticEnergy(model, data, at(state), velocity)
    assert found["energy"][0] == pytest.approx(energy, rel=1e-12)


def consistent_patterns(matrix, force, coulomb):
    """All patterns of sticking and sliding at rest whose accelerations go with their friction."""
    for pattern in product((-1, 0, 1), repeat=len(force)):
        mode = np.array(pattern)
        acceleration, load = accelerations(matrix, force, coulomb, mode)
        if np.all(mode * acceleration >= 0) and np.all(np.abs(load) <= coulomb):
            yield pattern


def accelerations(matrix, force, coulomb, mode):
    free = np.flatnonzero(mode)
    acceleration = np.zeros(len(force))
    driving = (force - coulomb * mode)[free]
    acceleration[free] = np.linalg.solve(matrix[np.ix_(free, free)], driving)
    return acceleration, np.where(mode == 0, force - matrix @ acceleration, 0.0)


def settled(settle, matrix, force, static, coulomb):
    """What events at one instant make of joints that all stick; the number of changes as well."""
    mode = np.zeros(4, dtype=int)
    for changes in range(100):
        acceleration, load = accelerations(matrix, force, coulomb, mode)
        overloaded = (mode == 0) & (np.abs(load) > static)
        names = ("mode", "overloaded", "acceleration", "load", "static", "coulomb", "changes")
        values = (mode, overloaded, acceleration, load, static, coulomb, changes)
        call = dict(zip(names, values, strict=True))
        after = settle(**call, rate=np.zeros(4), reversed=np.zeros(4))["next"].astype(int)
        if np.array_equal(after, mode):
            return mode, changes
        assert np.count_nonzero(after != mode) == 1
        mode = after
    raise AssertionError("it goes on for ever")


def coupled(random):
    root = random.normal(size=(4, 4))
    scale = random.choice([1.0, 3.0, 10.0])
    matrix = root @ root.T + 10.0 ** random.uniform(-3, 0) * np.eye(4)
    return matrix, scale * random.normal(size=4), random.uniform(0.2, 3.0, 4)


def test_joints_that_break_away_together_end_in_the_only_pattern_that_fits(settle):
    """With static as large as Coulomb friction there is exactly one (a linear complementarity)."""
    random = np.random.default_rng(2023)
    several = 0
    for _ in range(80):
        matrix, force, coulomb = coupled(random)
        mode, changes = settled(settle, matrix, force, coulomb, coulomb)
        assert [tuple(mode)] == list(consistent_patterns(matrix, force, coulomb))
        several += changes > np.count_nonzero(mode)
    assert several > 3, "some joints had to take a change back"


def test_static_friction_holds_what_it_can(settle):
    random = np.random.default_rng(7)
    for _ in range(100):
        matrix, force, coulomb = coupled(random)
        static = coulomb * random.uniform(1.0, 3.0, 4)
        mode, _ = settled(settle, matrix, force, static, coulomb)
        acceleration, load = accelerations(matrix, force, coulomb, mode)
        assert np.all(np.abs(load) <= static)
        assert np.all((mode == 0) | (mode * acceleration > 0))


def test_after_many_changes_the_least_joint_goes_first(settle):
    """The rule that always ends: joints hold Coulomb friction only, and go by their number."""
    call = {"mode": np.zeros(4), "reversed": np.zeros(4), "rate": np.zeros(4)}
    call |= {"overloaded": [0, 1, 1, 0], "acceleration": np.zeros(4), "load": [1.5, 9, -30, 0]}
    call |= {"static": np.full(4, 2.0), "coulomb": np.ones(4)}
    assert settle(**call, changes=16)["next"].tolist() == [0, 0, -1, 0]  # the largest multiple
    assert settle(**call, changes=17)["next"].tolist() == [1, 0, 0, 0]
