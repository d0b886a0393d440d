"""Devices that a run steps: an adapter that computes when it is told to."""

import pytest

from orchestrator import Block, Execution, Input, Output, Parameter, RealTime, System, block
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, StepError
from orchestrator.core.system import Causality, Connector, DataType
from orchestrator.rig.arming.extension import commanded
from orchestrator.rig.devices import (
    Device,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    SteppedConnectors,
    SteppedDevice,
)
from orchestrator.rig.identification.identified_device import devices_of
from orchestrator.study.prepare.prepare import swap_component

SAID = []


class Doubler(SteppedDevice):
    """y = 2 u at the end of a step, and at the start of u's."""

    def __init__(self, fails_after):
        self.fails_after, self.held, self.steps = fails_after, {"u": 0.0}, 0

    def connectors(self):
        u = Connector("u", Causality.INPUT, unit="m", start=0.0)
        y = Connector("y", Causality.OUTPUT, unit="m")
        count = Connector("count", Causality.OUTPUT, DataType.INTEGER)
        name = Connector("name", Causality.OUTPUT, DataType.STRING)
        return SteppedConnectors((u, y, count, name), {"y": ("u",), "count": (), "name": ()}, 0.01)

    def open(self):
        SAID.append("open")

    def set(self, name, value):
        self.held[name] = value

    def get(self, name):
        return {"y": 2.0 * self.held["u"], "count": self.steps, "name": "doubler"}[name]

    def begin(self):
        SAID.append("begin")

    def step(self, time, step):
        if self.steps == self.fails_after:
            raise DeviceError("the doubler is tired")
        self.steps += 1
        SAID.append((round(time, 9), round(step, 9)))

    def close(self):
        SAID.append("close")

    def account(self):
        return f"a doubler, stepped {self.steps} times"


class Settings(DeviceSettings):
    """It may fail."""

    fails_after: int = -1


class Stepped(Device):
    """The adapter of a doubler."""

    Settings = Settings

    @classmethod
    def connectors(cls, settings):
        return DeviceConnectors((), (), 1.0)

    @classmethod
    def stepped(cls, settings):
        return Doubler(settings.fails_after)

    def open(self):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError

    def receive(self, timeout_s):
        raise NotImplementedError

    def send(self, values):
        raise NotImplementedError


class Place(Block):
    """What a doubler replaces."""

    u: float = Input(unit="m")
    y: float = Output(unit="m")

    def step(self, t, h):
        self.y = self.u


class Ramp(Block):
    """u = t at the end of a step."""

    u: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.u = t + h


def system(query=""):
    plain = System("s").add("ramp", block(Ramp)).add("place", block(Place))
    plain = plain.connect("ramp.u", "place.u")
    return swap_component(plain, "place", f"device:{__name__}:Stepped{query}")


class Gain(Block):
    u: float = Input(unit="m")
    y: float = Output(unit="m")
    k: float = Parameter(start=1.0, minimum=0.0, maximum=9.0, tunable=True)
    d: float = Parameter(start=1.0, tunable=True)
    m: float = Parameter(start=1.0, minimum=0.0, tunable=True)
    n: float = Parameter(start=1.0, maximum=9.0, tunable=True)
    o: float = Parameter(start=1.0, minimum=-1e60, maximum=1.7976931348623157e308, tunable=True)

    def step(self, t, h):
        self.y = self.k * self.d * self.u


@pytest.fixture(autouse=True)
def _nothing_was_said():
    SAID.clear()


def test_it_is_stepped_with_the_inputs_of_the_step():
    with Execution(system(), step=0.01, algorithm="jacobi") as run:
        run.step(3)
        assert run.get("place.y") == pytest.approx(0.04)  # of u = 0.02, held over the third step
        assert run.get("place.count") == 3.0
        notes = [note for unit in run.units for note in unit.notes]
    assert SAID[:5] == ["open", "begin", (0.0, 0.01), (0.01, 0.01), (0.02, 0.01)]
    assert "close" in SAID
    assert "component 'place' was a doubler, stepped 3 times" in notes


def test_an_input_that_nothing_feeds_keeps_its_value_until_it_is_set():
    alone = System("s").add("place", block(Place), u=3.0)
    alone = swap_component(alone, "place", f"device:{__name__}:Stepped")
    with Execution(alone, step=0.01) as run:
        assert run.get("place.y") == 6.0
        run.set("place.u", 4.0)
        run.step()
        assert run.get("place.y") == 8.0


def test_nothing_is_tuned_beside_a_device_but_with_limits_and_consent():
    gain = System("s").add("gain", block(Gain), u=1.0).add("place", block(Place))
    gain = swap_component(gain.connect("gain.y", "place.u"), "place", f"device:{__name__}:Stepped")
    with Execution(gain, step=0.01) as run:
        for name, value, more, why in (
            (
                "gain.k",
                2.0,
                {},
                r"devices are in the run \(place\), and devices are tuned only through",
            ),
            (
                "gain.d",
                2.0,
                {"granted": "all"},
                r"it has no limits, .* a table \[tuning.\"gain.d\"\]",
            ),
            ("gain.m", 1e9, {"granted": "all"}, r"it has one limit only \(>= 0\), and devices are"),
            ("gain.n", -1e9, {"granted": "all"}, r"it has one limit only \(<= 9\)"),
            ("gain.o", 1e9, {"granted": "all"}, "it has one limit only"),
            ("gain.u", 2.0, {"by": "me", "granted": "all"}, "it has no limits"),
        ):
            with pytest.raises(CapabilityError, match=f"cannot set '{name}': {why}"):
                run.set(name, value, **more)
        run.set("gain.u", 1.0)  # what a script feeds is a signal
        run.set("gain.k", 2.0, by="me", granted="granted with 5 ms")
        assert run.tuned[0].by == "me, granted with 5 ms"
        with pytest.raises(
            CapabilityError,
            match="recorded tuning can only be replayed without devices, found place",
        ):
            run.replay(run.tuned)
    alone = System("s").add("place", block(Place), u=3.0)
    alone = swap_component(alone, "place", f"device:{__name__}:Stepped")
    told = pytest.raises(CapabilityError, match="it belongs to a device, which only the")
    with Execution(alone, step=0.01) as run, told:
        run.set("place.u", 4.0, ramp=0.1, granted="all")


def test_with_a_device_only_what_has_limits_is_offered_and_taken():
    gain = System("s").add("gain", block(Gain), u=1.0).add("place", block(Place))
    gain = gain.connect("gain.y", "place.u", delay="20 ms")
    line = "gain.y -> place.u"
    with Execution(gain, step=0.01) as run:
        assert {tunable.name for tunable in run.tunables} == {
            f"gain.{tunable}" for tunable in "udkmno"
        } | {line}
    gain = swap_component(gain, "place", f"device:{__name__}:Stepped")
    with Execution(gain, step=0.01) as run:
        assert [tunable.name for tunable in run.tunables] == ["gain.k"]
        with pytest.raises(CapabilityError, match="it has no limits"):
            run.set(line, "20 ms", granted="all")
    limits = {"gain.m": (0.0, 5.0), "gain.d": (0.5, 5.0), line: (0.0, 0.03)}
    with Execution(gain, step=0.01, limits=limits) as run:
        assert [tunable.name for tunable in run.tunables] == ["gain.k", "gain.d", "gain.m", line]
        run.set("gain.m", 5.0, granted="all")
        with pytest.raises(DescriptionError, match="beyond its limits"):
            run.set("gain.m", 5.1, granted="all")
        run.set(line, "30 ms", ramp="10 ms", granted="all")


@pytest.mark.parametrize(
    ("name", "limits", "value", "refused"),
    [
        ("gain.d", (0.0, None), 1e9, r"one limit only \(>= 0\)"),
        ("gain.d", (None, 5.0), -1e9, r"one limit only \(<= 5\)"),
        ("gain.d", (-1e60, 1e60), 1e9, "one limit only"),
        ("gain.m", (0.5, None), 1e9, r"one limit only \(>= 0\.5\)"),
        ("gain.m", (None, 5.0), 4.0, None),
        ("gain.n", (0.0, None), 4.0, None),
        ("gain.y -> place.u", ("10 ms", None), "1000 s", "one limit only"),
        ("gain.y -> place.u", (None, "30 ms"), "30 ms", None),
    ],
)
def test_a_table_with_one_end_bounds_a_device_only_together_with_its_variable(
    name, limits, value, refused
):
    gain = System("s").add("gain", block(Gain), u=1.0).add("place", block(Place))
    gain = gain.connect("gain.y", "place.u", delay="20 ms")
    gain = swap_component(gain, "place", f"device:{__name__}:Stepped")
    for given in ({"limits": {name: limits}}, {}):
        tuned = gain if given else gain.with_experiment(tuning={name: limits})
        with Execution(tuned, step=0.01, **given) as run:
            offered = [each.name for each in run.tunables]
            assert (name in offered) is (refused is None)
            run.step()
            if refused is None:
                run.set(name, value, "10 ms", granted="all")
                continue
            with pytest.raises(CapabilityError, match=f"it has {refused}"):
                run.set(name, value, "1000 s", granted="all")


def test_its_error_ends_the_run_in_its_step_and_it_is_closed():
    told = pytest.raises(StepError, match=r"from t = 0\.02 s.*the doubler is tired")
    with Execution(system("?fails_after=2"), step=0.01) as run, told:
        run.step(3)
    assert SAID[-1] == "close"


def test_it_has_no_clock_no_delay_and_moves_nothing():
    stepped = system()
    told = pytest.raises(DescriptionError, match=r"realtime\.clock: expected a device")
    with told, Execution(stepped, step=0.01, realtime=RealTime(clock="place")):
        pass
    assert commanded(stepped) == []
    with pytest.raises(
        DescriptionError, match="which the run steps, so it has no delay of its own"
    ):
        devices_of(stepped, ("place",))
    with pytest.raises(DescriptionError, match="has no device"):
        devices_of(stepped)
    assert SAID == []  # nothing was opened for any of it


def test_a_step_that_it_does_not_take_is_refused_before_it_is_opened():
    with pytest.raises(DescriptionError, match=r"takes whole multiples of 0\.01 s"):
        Execution(system(), step=0.015)
    assert "open" not in SAID
