"""A mass that hits the rope across the plane of its arc, against MuJoCo.

MuJoCo's chain is of rigid links with three hinges at each node, whose springs bend and twist; its
package has no cable of its own. The masses sit at the nodes, as they do in the plant.
"""

import numpy as np
import pytest
from oracle.rope_arc import CURVATURE, EI, GJ, J_SPIN, MASS, NODE, NODES, PLACES, S, arc

from orchestrator import Block, Input, Output, State, block, simulate

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: nothing to compare with")

K, HITS, SPEED = 3e3, 0.05, 0.5  # N/m, kg, m/s
STOP, STEP = 0.02, 1e-5  # s


class Striker(Block):
    """A mass that moves along z and presses on what is at ``place``."""

    place: float = Input(unit="m")
    force: float = Output(unit="N", depends_on=("place",))
    z: float = State(start=0.0)
    speed: float = State(start=SPEED)

    def initialise(self, t):
        self._press()

    def step(self, t, h):
        gain = -self.force / HITS * h
        self.z += (self.speed + 0.5 * gain) * h
        self.speed += gain
        self._press()

    def _press(self):
        self.force = K * max(0.0, self.z - self.place)


def hinges(share, torsion):
    springs = (("1 0 0", torsion), ("0 1 0", EI), ("0 0 1", EI))
    return "".join(
        f'<joint type="hinge" axis="{axis}" stiffness="{share * k / S}"/>' for axis, k in springs
    )


def chain(torsion):
    """The arc as a chain from clamp a to a holder that is welded to the world."""
    m, j, half = MASS / (NODES - 1), J_SPIN / (NODES - 1), 0.5 * CURVATURE * S
    body = (
        f'<body name="holder" pos="{S} 0 0">{hinges(2, torsion)}'
        '<inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/></body>'
    )
    for i in reversed(range(1, NODES)):
        at = "0 0 0" if i == 1 else f"{S} 0 0"
        turn = "1 0 0 0" if i == 1 else f"{np.cos(half)} 0 0 {np.sin(half)}"
        mass = m if i < NODES - 1 else 1e-7  # the last node is held
        body = (
            f'<body name="segment_{i}" pos="{at}" quat="{turn}">'
            f"{hinges(2 if i == 1 else 1, torsion)}"
            f'<inertial pos="{S} 0 0" mass="{mass}" diaginertia="{j} {j / 2} {j / 2}"/>'
            f"{body}</body>"
        )
    return (
        f'<mujoco><option timestep="{STEP}" gravity="0 0 0" integrator="RK4"/><worldbody>{body}'
        '<body><joint name="z" type="slide" axis="0 0 1"/>'
        f'<inertial pos="0 0 0" mass="{HITS}" diaginertia="1 1 1"/></body></worldbody><equality>'
        '<weld body1="holder" solref="2e-5 1" solimp="0.9999 0.9999 1e-6"/></equality></mujoco>'
    )


def hit_in_mujoco(torsion):
    """Return times, places of the node and the force on it: shapes (n,), (n, 3), (n,)."""
    model = mujoco.MjModel.from_xml_string(chain(torsion))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    data.joint("z").qvel[0] = SPEED
    dof, node = model.joint("z").dofadr[0], model.body(f"segment_{NODE}").id
    rows = []
    for _ in range(round(STOP / STEP)):
        place = data.xpos[node].copy()
        force = K * max(0.0, data.joint("z").qpos[0] - place[2])
        rows.append((data.time, *place, force))
        data.qfrc_applied[:] = 0.0
        across, none = np.array([0.0, 0.0, force]), np.zeros(3)
        mujoco.mj_applyFT(model, data, across, none, place, node, data.qfrc_applied)
        data.qfrc_applied[dof] = -force
        mujoco.mj_step(model, data)
    table = np.array(rows)
    return table[:, 0], table[:, 1:4], table[:, 4]


@pytest.mark.slow
def test_a_mass_that_hits_it_meets_the_rope_of_mujoco(plants):
    system = (
        arc(plants)
        .add("striker", block(Striker))
        .connect("striker.force", "rope.force[3]")
        .connect("rope.position[3]", "striker.place")
    )
    run = simulate(system, step="5 us", stop="20 ms", algorithm="gauss-seidel")
    time, place, force = hit_in_mujoco(GJ)
    mine = np.array([np.interp(time, run.time, run[f"rope.position[{j}]"]) for j in (1, 2, 3)]).T
    felt = np.interp(time, run.time, run["striker.force"])
    way = np.abs(place - PLACES[NODE - 1]).max()
    assert 5e-3 < way < 8e-3  # m
    # 6.9 um of 6.8 mm, 0.11 % of 1.61 N and 0.15 % of 14.7 mN.s.
    assert np.abs(mine - place).max() < 1.5e-3 * way
    assert felt.max() == pytest.approx(force.max(), rel=3e-3)
    assert felt.sum() == pytest.approx(force.sum(), rel=3e-3)
    # A rope that is three times stiffer in torsion is told from it.
    other = hit_in_mujoco(3 * GJ)[1]
    assert np.abs(mine - other).max() > 5e-3 * way
