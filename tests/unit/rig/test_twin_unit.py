"""A twin in the place of a component: late, lagging, noisy and rounded as the device was."""

import numpy as np
import pytest
from robot_twin import PAIR, TWIN, about

from hw_adapters.emulation.tracking import Tracking
from orchestrator import Block, DescriptionError, Input, LoadError, Output, System, block, simulate
from orchestrator.core.simunits.instantiation import make_unit
from orchestrator.rig.hardware.twin_file import read_twin, twin_text
from orchestrator.study.prepare.prepare import swap_component

STEP = 0.004


class Plan(Block):
    """Moves up and down."""

    u: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.u = 1e-3 * np.sin(20.0 * (t + h)) if t > 0.02 else 0.0


class Follow(Block):
    """Follows at once."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m")
    other: float = Output(unit="m")

    def step(self, t, h):
        self.x = self.dx
        self.other = 2.0 * self.dx


class Millimetres(Follow):
    """The same, in another unit."""

    x: float = Output(unit="mm")

    def step(self, t, h):
        self.x = 1e3 * self.dx


class Watch(Block):
    """Reads it."""

    x: float = Input(unit="m")
    y: float = Output(unit="m")

    def step(self, t, h):
        self.y = self.x


@pytest.fixture
def twin(tmp_path):
    """Write the file of a twin, in which some is other, and return its source."""

    def write(name="robot", **changes):
        changed = PAIR.model_copy(update={"noise": about(0.0), "quantisation": 0.0} | changes)
        path = tmp_path / f"{name}.twin.toml"
        path.write_text(twin_text(TWIN.model_copy(update={"pair": (changed,)})))
        assert read_twin(path).pair == (changed,)
        return f"twin:{path}"

    return write


def rig(inside=Follow):
    system = System("rig").add("plan", block(Plan)).add("robot", block(inside))
    system = system.add("watch", block(Watch))
    return system.connect("plan.u", "robot.dx").connect("robot.x", "watch.x")


def run(system, **options):
    return simulate(system, step=STEP, stop=0.4, algorithm="gauss-seidel", **options)


def expected(commands, delay, dynamics, gain=1.0):
    """Return what an arm does that is told one command after the other, computed by itself."""
    lag = None if dynamics.frequency is None else dynamics.frequency.value
    damping = None if dynamics.damping is None else dynamics.damping.value
    arm = Tracking(1, round(delay * 1e9), lag, damping)
    found = []
    for row, command in enumerate(commands):
        now = round(row * STEP * 1e9)
        arm.command(now, np.array([command]))
        arm.advance(now)
        found.append(gain * arm.position[0])
    return np.array(found)


LAGS = (
    type(PAIR.dynamics)(order=0),
    type(PAIR.dynamics)(order=1, frequency=about(12.0)),
    PAIR.dynamics,
    type(PAIR.dynamics)(order=2, frequency=about(12.0), damping=about(1.0)),
    type(PAIR.dynamics)(order=2, frequency=about(12.0), damping=about(1.8)),
)


@pytest.mark.parametrize("dynamics", LAGS, ids=["none", "first", "under", "critical", "over"])
def test_a_twin_does_what_the_device_did(twin, dynamics):
    source = twin(dynamics=dynamics, gain=about(0.98), delay=about(0.0163))
    result = run(swap_component(rig(), "robot", source))
    wanted = expected(result["plan.u"], 0.0203, dynamics, 0.98)
    np.testing.assert_allclose(result["robot.x"], wanted, atol=2e-12)
    np.testing.assert_array_equal(result["robot.other"], 2.0 * result["plan.u"])
    assert any("was a twin (robot (kuka_rsi)" in note for note in result.notes)


def test_noise_is_that_of_the_seed_and_rounding_that_of_the_device(twin):
    plain = run(swap_component(rig(), "robot", twin("plain")))["robot.x"]
    source = twin(noise=about(2e-5), quantisation=1e-6)
    one, again, other = (
        run(swap_component(rig(), "robot", f"{source}?inner=block:{__file__}:Follow{more}"))
        for more in ("", "", "&seed=7")
    )
    np.testing.assert_array_equal(one["robot.x"], again["robot.x"])
    assert np.std(one["robot.x"] - plain) == pytest.approx(2e-5, rel=0.25)
    assert np.std(other["robot.x"] - one["robot.x"]) > 1e-5
    steps = one["robot.x"][1:] / 1e-6
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)


def test_figures_are_in_the_unit_of_the_connector(twin):
    metres = run(swap_component(rig(), "robot", twin(noise=about(2e-5))))
    system = rig(Millimetres)
    millimetres = run(swap_component(system, "robot", twin(noise=about(2e-5))))
    np.testing.assert_allclose(millimetres["robot.x"], 1e3 * metres["robot.x"], atol=1e-9)


def test_a_twin_goes_back(twin):
    """Steps that are done again give the same, noise included; so do others that end there."""
    system = swap_component(rig(), "robot", twin(noise=about(2e-5)))
    unit = make_unit(system.component("robot"))
    unit.bind(["dx"], ["x", "other"])
    unit.setup(0, None)
    unit.initialise_outputs(0)
    unit.exit_initialisation()
    outputs = np.zeros((3, 2))

    def steps(row, count):
        for number in range(count):
            unit.set(np.array([1e-3]))
            assert not unit.do_step(number * 80_000_000 // count, 80_000_000 // count).failed
        unit.get(outputs[row])

    assert unit.native.save(0) == 0
    steps(0, 20)
    for row, count in ((1, 20), (2, 40)):
        assert unit.native.restore(0) == 0
        steps(row, count)
    np.testing.assert_array_equal(outputs[0], outputs[1])
    np.testing.assert_allclose(outputs[0], outputs[2], atol=5e-5)  # stairs begin 2 ms earlier
    assert outputs[0, 0] > 5e-4
    unit.terminate()


def test_late_outputs_depend_on_nothing_at_once(twin):
    robot = swap_component(rig(), "robot", twin()).component("robot")
    assert robot.direct_inputs("x") == ()
    assert robot.direct_inputs("other") == ("dx",)
    assert robot.source.inner is not None
    assert robot.source.inner.location.endswith("Follow")


def test_a_twin_of_a_twin_is_around_the_same(twin):
    once = swap_component(rig(), "robot", twin("one"))
    again = swap_component(once, "robot", twin("two"))
    assert again.component("robot").source.inner == once.component("robot").source.inner


@pytest.mark.parametrize(
    "source",
    [
        "twin:{file}?inner=device:udp",
        "twin:{file}?iner=a.fmu",
        "twin:{file}?seed=-1",
    ],
)
def test_what_a_source_does_not_say_rightly_is_told(twin, source, wording):
    path = twin().removeprefix("twin:")
    with wording.raises(DescriptionError):
        swap_component(rig(), "robot", source.format(file=path))


def test_a_file_that_is_missing_or_of_another_device_is_told(twin, tmp_path, wording):
    with wording.raises(LoadError):
        swap_component(rig(), "robot", f"twin:{tmp_path}/none.toml")
    with wording.raises(DescriptionError):
        swap_component(rig(), "robot", twin(response="fz"))


def test_where_nothing_stood_a_twin_must_say_what_it_is_around(twin, wording):
    device = swap_component(rig(), "robot", 'device:kuka_rsi?axes=["x"]')
    with wording.raises(DescriptionError):
        swap_component(device, "robot", twin())
    inside = f"{twin()}?inner=block:{__file__}:Follow"
    assert swap_component(device, "robot", inside).component("robot").source.inner is not None
