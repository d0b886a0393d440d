import inspect
import re
import sys
from time import process_time

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError, StepError, UnknownNameError
from orchestrator.core.simunits import Block, BlockUnit, Input, Output, Parameter, State
from orchestrator.core.simunits.blocks.block_unit import describe_block
from orchestrator.core.system import Causality, DataType


class Sample(Block):
    """Every kind of declaration."""

    a: float = Input(unit="m", description="first")
    n: int = Input(start=3)
    flag: bool = Input(start=True)
    v: np.ndarray = Input(shape=(2,), start=1.5)
    y: float = Output(unit="N", depends_on=("a",))
    z: float = Output()
    w: np.ndarray = Output(shape=(2, 2))
    k: float = Parameter(start=1)
    past: list = State(start=[])

    def step(self, t, h):
        self.past.append(self.a)
        self.y = self.a + h
        self.z = sum(self.past)
        self.w[...] = self.v


def unit(block, inputs=("a", "n", "flag", "v"), outputs=("y", "z", "w")):
    made = BlockUnit("sample", describe_block("sample", type(block)), block)
    made.bind(inputs, outputs)
    made.setup(0, None)
    made.initialise_outputs(0)
    made.exit_initialisation()
    return made


def test_declarations():
    connectors = Sample.connectors
    assert list(connectors) == ["a", "n", "flag", "v", "y", "z", "w", "k"]
    assert [c.type for c in connectors.values()] == [
        DataType.REAL, DataType.INTEGER, DataType.BOOLEAN, DataType.REAL,
        DataType.REAL, DataType.REAL, DataType.REAL, DataType.REAL,
    ]  # fmt: skip
    assert connectors["a"].unit == "m"
    assert connectors["a"].description == "first"
    assert connectors["v"].start == (1.5, 1.5)
    assert (connectors["w"].shape, connectors["w"].size) == ((2, 2), 4)
    assert connectors["k"].causality is Causality.PARAMETER
    assert type(connectors["k"].start) is float
    assert Sample.feedthrough == {"y": ("a",)}  # z and w are not said: all inputs
    assert Sample.states == {"past": []}


def test_instances_share_nothing():
    sample, two = Sample(), Sample()
    sample.past.append(1)
    sample.v[:] = 7
    assert two.past == []
    assert two.v.tolist() == [1.5, 1.5]
    assert not hasattr(Sample, "a")


def test_values(wording):
    sample = Sample(k=2, v=(1, 2))
    assert sample.k == 2.0
    assert type(sample.k) is float
    assert sample.v.tolist() == [1.0, 2.0]
    with wording.raises(UnknownNameError):
        Sample(y=1.0)
    with wording.raises(DescriptionError):
        Sample(v=(1.0,))
    with wording.raises(DescriptionError):
        Sample(n=1.5)


def test_inheritance():
    class More(Sample):
        extra: float = Input()
        z: float = Output(depends_on=())
        y: float = Output()  # declared anew: all inputs again, not those of the base
        k: int = Parameter(start=4)

    assert list(More.connectors) == [*Sample.connectors, "extra"]
    assert More.feedthrough == {"z": ()}
    assert More.connectors["k"].type is DataType.INTEGER
    assert Sample.connectors["k"].type is DataType.REAL
    assert Sample.feedthrough == {"y": ("a",)}


def test_a_state_in_the_place_of_a_parameter():
    class Other(Sample):
        k = State(start=9.0)

    assert "k" not in Other.connectors
    assert Other().k == 9.0


def test_wrong_annotation(wording):
    with wording.raises(DescriptionError):

        class Wrong(Block):
            a: complex = Input()


@pytest.mark.parametrize("names", [("b",), "ab", ("y",)])
def test_dependency_on_what_is_no_input(names, wording):
    """A wrong name would hide an algebraic loop."""
    with wording.raises(DescriptionError):

        class Wrong(Block):
            a: float = Input()
            y: float = Output(depends_on=names)


def test_no_step(wording):
    class Lazy(Block):
        y: float = Output()

    with wording.raises(StepError):
        unit(Lazy(), (), ("y",))


def test_signals_are_in_order_of_type():
    made = unit(Sample())
    assert [c.name for c in made.inputs] == ["a", "v", "n", "flag"]
    made.set(np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    block = made.block
    assert (block.a, block.v.tolist(), block.n, block.flag) == (1.0, [2.0, 3.0], 4, False)
    made.do_step(0, 10**9)
    out = np.empty(6)
    made.get(out)
    assert out.tolist() == [2.0, 1.0, 2.0, 3.0, 2.0, 3.0]


def test_integers_are_rounded_not_cut(wording):
    made = unit(Sample(), ("n",))
    made.set(np.array([0.1 * 30 - 1e-9]))
    assert made.block.n == 3
    made.set(np.array([-(2.0**53)]))
    assert made.block.n == -(2**53)
    for wrong in (np.nan, np.inf):
        with wording.raises(StepError):
            made.set(np.array([wrong]))


def test_save_and_restore():
    made = unit(Sample())
    signals, out = np.array([1.0, 2.0, 3.0, 4.0, 1.0]), np.empty(6)
    made.set(signals)
    made.do_step(0, 10**9)
    saved = made.get_state()
    memory = made.block.w.ctypes.data

    def go_on():
        made.do_step(10**9, 10**9)
        made.get(out)
        return out.tolist()

    first = go_on()
    assert go_on() != first  # the block counts: it has a state
    made.set_state(saved)
    assert go_on() == first
    made.set_state(saved)  # the saved state was not changed by going on
    assert go_on() == first
    assert made.block.w.ctypes.data == memory
    with pytest.raises(TypeError, match="expected a state of this block"):
        made.set_state("text")


def test_arrays_must_stay_where_they_are(wording):
    class Rebinds(Sample):
        def initialise(self, t):
            """Nothing yet."""

        def step(self, t, h):
            self.w = np.ones((2, 2))

    made = unit(Rebinds())
    made.do_step(0, 1)
    with wording.raises(StepError) as caught:
        made.get(np.empty(6))
    assert isinstance(caught.value.__cause__, TypeError)


def test_an_array_replaced_before_the_run(wording):
    class Early(Sample):
        def __init__(self):
            super().__init__()
            self.v = np.zeros((4,))[::2]

    with wording.raises(DescriptionError):
        unit(Early())


def test_phases(wording):
    made = BlockUnit("sample", describe_block("sample", Sample), Sample())
    with wording.raises(StepError):
        made.do_step(0, 1)
    made.bind(("a",), ("y",))
    made.setup(0, None)
    with wording.raises(StepError):
        made.bind(("a",), ("y",))
    made.exit_initialisation()
    with wording.raises(StepError):
        made.set_values({"k": 1.0})
    made.terminate()
    made.terminate()
    with wording.raises(StepError):
        made.get(np.empty(1))


def test_buffers_are_never_copied():
    """An array that the engine would have to convert is refused: results would land in the copy."""
    made = unit(Sample(), ("a",), ("y",))
    for wrong in (np.zeros(1, dtype=int), np.zeros((1, 1)), [0.0]):
        with pytest.raises(TypeError):
            made.get(wrong)
    made = unit(Sample(), ("a",), ("y", "z"))
    with pytest.raises(TypeError):
        made.get(np.zeros(4)[::2])
    with pytest.raises(ValueError, match="outputs: expected 2 values, found 3"):
        made.get(np.zeros(3))
    with pytest.raises(ValueError, match="inputs: expected 1 values, found 2"):
        made.set(np.zeros(2))


class Leaves(Block):
    """Calls for the end of the program."""

    y: float = Output()

    def step(self, t, h):
        sys.exit(3)


class Still(Block):
    """Has no step."""

    y: float = Output()


@pytest.mark.parametrize("kind", [Leaves, Still])
def test_a_failure_names_the_file_of_the_block(kind, wording):
    begin = inspect.getsourcelines(kind)[1]
    end = begin + len(inspect.getsource(kind).splitlines())
    with wording.raises(StepError) as caught:
        unit(kind(), (), ("y",))
    location = re.search(r"\(([^()]*), line (\d+)\)$", str(caught.value))
    assert location[1] == __file__
    assert begin <= int(location[2]) < end


class Short(Block):
    y: float = Output()

    def step(self, t):
        self.y = t


class Many(Block):
    y: float = Output()

    def step(self, *arguments):
        self.y = arguments[0]

    def initialise(self, t, scale=2.0):
        self.y = scale * t


class SetsGain(Block):
    u: float = Input()
    gain: float = Parameter(start=1.0)
    y: float = Output()

    def step(self, t, h):
        self.gain = self.y = self.u
        self.u = 0.0


def test_a_step_of_other_arguments_is_refused(wording):
    with wording.raises(DescriptionError):
        Short()
    Many().step(1.0, 0.1)


def test_inputs_and_parameters_are_not_assigned():
    with pytest.raises(DescriptionError) as caught:
        SetsGain()
    gain, command = caught.value.problems
    assert "'gain' is a parameter and is assigned in step (test_block.py, line " in gain
    assert command.startswith("block SetsGain: 'u' is an input and is assigned in step (")


def test_the_time_to_save_a_block_is_linear_in_its_connectors():
    def wide(count):
        names = {f"u{i}": Input() for i in range(count)}
        return type("Wide", (Block,), {**names, "step": lambda self, t, h: None})()

    def seconds(one):
        begun = process_time()
        for _ in range(2):
            one.get_state()
        return process_time() - begun

    few, many = wide(500), wide(8000)
    ratio = min(seconds(many) for _ in range(4)) / min(seconds(few) for _ in range(9))
    assert ratio < 100.0  # 16 if it is linear, about 256 if each name is searched in a list
