"""The life of an exported block: start values, tunable parameters, saved states, long steps."""

import pytest
from fixtures.blockfmu.playing import begin, draws, get_outputs, set_values, slave, steps
from fmpy import read_model_description

from orchestrator import Block, Input, Output, State, build_block, fmu
from orchestrator.core.simunits import read_fmu


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_the_description_says_what_the_block_says(fmi, samples, built):
    described = read_fmu(built(samples.Counter, fmi)).description
    assert described.feedthrough["level"] == ("push",)
    assert set(described.feedthrough["count"]) == {"enabled", "order"}
    assert described.feedthrough["delayed"] == ()  # the newest tap is two steps old
    assert described.connectors["offset"].start == 4
    lag = read_fmu(built(samples.LowPass, fmi)).description
    assert lag.feedthrough["measured"] == ()  # the block says so
    assert lag.connectors["force"].unit == "N"
    assert lag.connectors["lag"].description == "Time constant"


def test_parameters_that_form_no_state_are_tunable(samples, built):
    variables = read_model_description(str(built(samples.Counter, "2.0"))).modelVariables
    kinds = {v.name: v.variability for v in variables if v.causality == "parameter"}
    assert kinds == {"limit": "fixed", "active": "tunable", "offset": "tunable"}


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_arrays(fmi, samples, built):
    connectors = fmu(built(samples.Filter, fmi)).connectors
    if fmi == "2.0":
        assert [name for name in connectors if name.startswith("gain")][:2] == [
            "gain[1,1]",
            "gain[1,2]",
        ]
    else:
        assert connectors["gain"].shape == (3, 3)


def test_a_parameter_is_set_between_two_steps(samples, built):
    with slave(built(samples.Counter, "2.0")) as one:
        begin(one, {"push": 5.0, "enabled": True, "order": 1}, 0.0)
        one.exitInitializationMode()
        one.doStep(0.0, 0.1)
        before = get_outputs(one)[0]
        set_values(one, {"offset": 40})
        one.doStep(0.1, 0.1)
        assert get_outputs(one)[0] == before + 36 + 1


@pytest.mark.parametrize(("fmi", "python"), [("2.0", False), ("3.0", False), ("2.0", True)])
def test_a_saved_state_brings_all_of_it_back(fmi, python, samples, built):
    inputs, lengths = draws(samples.Counter, 20, 5), steps(20, 5)
    with slave(built(samples.Counter, fmi, python=python)) as one:
        begin(one, inputs[0], 0.0)
        one.exitInitializationMode()

        def run():
            time, found = 0.0, []
            for given, length in zip(inputs, lengths, strict=True):
                set_values(one, given)
                one.doStep(time, length)
                found.append(get_outputs(one))
                time += length
            return found

        saved = one.getFMUState() if fmi == "3.0" else one.getFMUstate()
        first = run()
        (one.setFMUState if fmi == "3.0" else one.setFMUstate)(saved)
        assert run() == first


@pytest.mark.parametrize(("fmi", "python"), [("2.0", False), ("3.0", False), ("2.0", True)])
def test_a_step_that_is_too_long_is_refused(fmi, python, samples, built):
    with slave(built(samples.Impatient, fmi, python=python)) as one:
        begin(one, {"x": 1.0}, 0.0)
        one.exitInitializationMode()
        with pytest.raises(Exception, match="failed with status"):
            one.doStep(0.0, 0.003)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("name", ["LateFailure", "EarlyFailure"])
def test_an_exception_fails_the_call_and_not_the_process(name, fmi, samples, built):
    file = built(getattr(samples, name), fmi, python=True)

    def step(one):
        begin(one, {"x": 1.0}, 0.0)
        one.exitInitializationMode()
        one.doStep(0.0, 0.01)

    for _ in range(3):
        with slave(file) as one, pytest.raises(Exception, match="failed with status"):
            step(one)


class Start(Block):
    """Begins with a state that may not be repeated."""

    x: float = Input(start=2.0)
    y: float = Output()
    sum: float = State(start=1.0)

    def step(self, t: float, h: float) -> None:
        self.sum = self.sum + self.x
        self.y = self.sum


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_initialisation_happens_once_however_often_outputs_are_read(fmi, tmp_path):
    built = build_block(Start, tmp_path, fmi=(fmi,), values={"x": 3.0}, python=False)
    with slave(built.path) as one:
        begin(one, {}, 0.0)
        assert get_outputs(one) == [4.0]
        assert get_outputs(one) == [4.0]
        set_values(one, {"x": 5.0})
        assert get_outputs(one) == [6.0]
        one.exitInitializationMode()
        one.doStep(0.0, 0.1)
        assert get_outputs(one) == [11.0]


def test_equal_blocks_are_not_built_twice(tmp_path):
    assert not build_block(Start, tmp_path).cached
    assert build_block(Start, tmp_path).cached
    assert not build_block(Start, tmp_path, values={"x": 3.0}).cached
