"""What blocks may hand over, and what is made of it: states, outputs, parameters, exceptions."""

import re

import numpy as np
import pytest

from orchestrator import Execution, simulate
from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.simunits import Block, Input, Output, Parameter, State, block, fmu
from orchestrator.core.simunits.blocks.block_unit import BlockUnit, describe_block
from orchestrator.core.system import System

HERE = re.escape(__file__)


class Ramp(Block):
    y: np.ndarray = Output(depends_on=(), shape=(2,))

    def step(self, t, h):
        self.y[:] = (t + h, -t - h)


class UnitDelay(Block):
    """Remembers its input as it is: whoever keeps the array itself would see the engine's."""

    u: np.ndarray = Input(shape=(2,))
    y: np.ndarray = Output(depends_on=(), shape=(2,))
    z: np.ndarray = Output(depends_on=(), shape=(2,))
    last: np.ndarray = State(start=(0.0, 0.0))
    queue: tuple = State(start=((0.0, 0.0), (0.0, 0.0)))

    def initialise(self, t):
        pass

    def step(self, t, h):
        self.y[:] = self.last
        self.z[:] = self.queue[1]
        self.last = self.u
        self.queue = (self.u, self.queue[0])


def test_a_state_is_copied_when_it_is_assigned():
    system = System("delay").add("ramp", block(Ramp)).add("delay", block(UnitDelay))
    result = simulate(
        system.connect("ramp.y", "delay.u"), step="1 s", stop="4 s", algorithm="jacobi"
    )
    assert result["delay.y[0]"].tolist() == [0.0, 0.0, 0.0, 1.0, 2.0]
    assert result["delay.z[1]"].tolist() == [0.0, 0.0, 0.0, 0.0, -1.0]


def test_what_is_no_state_and_views_of_states_stay_what_they_are():
    delay = UnitDelay()
    mine = np.array([1.0, 2.0])
    delay.last = mine[:]
    delay._kept = mine
    mine[0] = 9.0
    assert delay.last.tolist() == [1.0, 2.0]
    assert delay._kept is mine


class Mixed(UnitDelay):
    speed: float = State(start=0.0)
    table: dict = State(start={})
    loose: np.ndarray = State(start=0.0)


def test_only_states_that_may_hold_arrays_are_looked_at():
    """All else is assigned as in any class: that costs what it costs in Python."""
    assert Block.__setattr__ is object.__setattr__
    looked_at = {name for name in dir(Mixed) if hasattr(getattr(Mixed, name), "__set__")}
    assert looked_at - {"__class__", "__dict__", "__weakref__"} == {
        "last",
        "queue",
        "table",
        "loose",
    }
    mixed, mine = Mixed(), np.array([1.0, 2.0])
    mixed.table = {"a": [mine]}
    mixed.loose = mine
    mine[:] = 9.0
    assert (mixed.table["a"][0].tolist(), mixed.loose.tolist()) == ([1.0, 2.0], [1.0, 2.0])


def sending(number, flag):
    class Sender(Block):
        n: int = Output(depends_on=())
        b: bool = Output(depends_on=())

        def step(self, t, h):
            self.n, self.b = number, flag

    return System("sends").add("s", block(Sender))


@pytest.mark.parametrize(
    ("number", "flag"),
    [(2, True), (2.0, 1), (np.int32(2), np.bool_(True)), (np.float64(2.0), 1.0), (True + 1, True)],
)
def test_outputs_that_are_of_their_type_are_taken(number, flag):
    result = simulate(sending(number, flag), step=0.1, stop=0.1)
    assert (result["s.n"].tolist(), result["s.b"].tolist()) == ([2.0, 2.0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("number", "flag"),
    [
        (2.7, True),
        (2**53 + 1, True),
        (2**70, True),
        (float("nan"), True),
        (2, 0.4),
        (2, 2),
    ],
)
def test_outputs_that_are_not_of_their_type_are_refused(number, flag, wording):
    with wording.raises(SoftdockError):
        simulate(sending(number, flag), step=0.1, stop=0.1)


class Given(Block):
    y: float = Output(depends_on=())
    n: int = Parameter(start=3)
    a: np.ndarray = Parameter(start=(1.0, 2.0), shape=(2,))
    m: np.ndarray = Parameter(start=0.0, shape=(2, 3))
    flag: bool = Parameter(start=False)

    def step(self, t, h):
        self.y = float(self.n) + self.a[1] + self.m[1, 0] + self.flag


GIVEN = [
    ({"n": np.int64(4)}, 6.0),
    ({"a": [3, 4]}, 7.0),
    ({"a": np.array([3.0, 4.0])}, 7.0),
    ({"a": (np.float32(3.0), np.float64(4.0))}, 7.0),
    ({"m": [[1, 2, 3], [4, 5, 6]]}, 9.0),
    ({"m": np.arange(6.0).reshape(2, 3)}, 8.0),
    ({"flag": np.bool_(True)}, 6.0),
]


@pytest.mark.parametrize(("values", "right"), GIVEN)
def test_parameters_as_numpy_and_lists(values, right):
    added = System("s").add("b", block(Given), **values)
    (name, value) = next(iter(values.items()))
    changed = System("s").add("b", block(Given)).set(f"b.{name}", value)
    for system in (added, changed):
        assert simulate(system, step=0.1, stop=0.1)["b.y"][-1] == right
    assert Given(**values).n == values.get("n", 3)


@pytest.mark.parametrize(
    "values",
    [{"m": np.zeros((3, 2))}, {"m": [[1, 2], [3]]}, {"a": [1.0]}, {"n": np.float64(1.5)}],
)
def test_parameters_of_another_shape_or_type_are_refused(values, wording):
    with wording.raises(DescriptionError, code="VAL103"):
        simulate(System("s").add("b", block(Given), **values), step=0.1, stop=0.1)


def test_items_of_an_enumeration_by_name(c_fmu, wording):
    component = fmu(c_fmu("every3"))
    system = System("s").add("e", component, color="blue")
    assert system.components["e"].values == {"color": 7}
    assert simulate(system, step=0.1, stop=0.1)["e.color_out"].tolist() == [7.0, 7.0]
    with wording.raises(DescriptionError):
        System("s").add("e", component).set("e.color", "green")


class Failing(Block):
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = self.law(h)

    def law(self, h):
        return 1.0 / h if h else np.linalg.inv(np.zeros((2, 2)))[0, 0]

    def initialise(self, t):
        if t > 0:
            self.law(0.0)


LAW = Failing.law.__code__.co_firstlineno + 1


def test_an_exception_names_file_and_line(wording):
    system = System("s").add("b", block(Failing))
    with wording.raises(SoftdockError):
        simulate(system, step="1 s", start="1 s", stop="2 s")
    unit = BlockUnit("b", describe_block("b", Failing), Failing())
    unit.bind((), ("y",))
    unit.setup(0, None)
    unit.initialise_outputs(0)
    unit.exit_initialisation()
    result = unit.do_step(0, 0)
    assert result.failed
    assert result.reason.endswith(f"Singular matrix ({__file__}, line {LAW})")


class Numbers(Block):
    u: float = Input()
    y: float = Output()
    k: float = Parameter(start=1.0, tunable=True)
    n: int = Parameter(start=1)

    def step(self, t, h):
        self.y = self.k * self.u


def _alone(**values):
    return System("s").add("a", block(Numbers), **{"u": 0.0, **values})


def _run(system=None, **options):
    return simulate(system or _alone(), **{"step": "1 ms", "stop": "2 ms", **options})


HUGE = 10**400
USES_OF_A_HUGE_NUMBER = {
    "tolerance": lambda: _alone().with_options("a", tolerance=HUGE),
    "parameter": lambda: _run(_alone(k=HUGE)),
    "whole": lambda: _run(_alone(n=HUGE)),
    "input": lambda: _run(_alone(u=HUGE)),
    "step": lambda: _run(step=HUGE),
    "stop": lambda: _run(step=1, stop=HUGE),
    "rate": lambda: _run(rates={"a": HUGE}),
    "every": lambda: _run(every=HUGE),
    "threads": lambda: _run(threads=HUGE),
    "delay": lambda: _alone().connect("a.y", "a.u", delay=HUGE),
    "factor": lambda: _alone().connect("a.y", "a.u", factor=HUGE),
    "start": lambda: type("B", (Block,), {"u": Input(start=HUGE)}),
    "steps": lambda: Execution(_alone(), step="1 ms").step(HUGE),
    "time": lambda: Execution(_alone(), step="1 ms").advance(HUGE),
    "set": lambda: Execution(_alone(), step="1 ms").set("a.k", HUGE),
    "ramp": lambda: Execution(_alone(), step="1 ms").set("a.k", 2.0, ramp=HUGE),
    "limit": lambda: Execution(_alone(), step="1 ms", limits={"a.k": (0, HUGE)}),
}


@pytest.mark.parametrize("use", USES_OF_A_HUGE_NUMBER)
def test_a_whole_number_beyond_all_floats_is_refused_in_a_sentence(use):
    with pytest.raises(DescriptionError):
        USES_OF_A_HUGE_NUMBER[use]()


@pytest.mark.parametrize("start", ["fast", None, [1.0]])
def test_a_start_value_of_another_kind_is_refused(start):
    with pytest.raises(DescriptionError, match=r"block Wrong\.u: start: expected a Real, found"):

        class Wrong(Block):
            u: float = Input(start=start)
