"""Words of messages: articles, plurals, the root cause first, and nothing that merely follows."""

import re

import pytest

from orchestrator import (
    Block,
    DescriptionError,
    Execution,
    Input,
    Output,
    StepError,
    System,
    UnknownNameError,
    block,
    fmu,
    simulate,
)
from orchestrator.core.diagnostics import FmuError, choices_for, counted, with_article
from orchestrator.core.diagnostics.errors import Diagnostic, Severity

HERE = re.escape(__file__)


class Pair(Block):
    first: float = Input()
    second: float = Input()
    ratio: float = Output(depends_on=())

    def step(self, t, h):
        self.ratio = 1.0 / self.first


BROKEN = Pair.step.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    ("noun", "text"),
    [
        ("Integer", "an Integer"),
        ("Real", "a Real"),
        ("output", "an output"),
        ("UInt8", "a UInt8"),
        ("unit", "a unit"),
        ("FMU", "an FMU"),
        ("MAT file", "a MAT file"),
        ("'input'", "an 'input'"),
        ("calculatedParameter", "a calculatedParameter"),
    ],
)
def test_the_article_follows_the_sound(noun, text):
    assert with_article(noun) == text


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no case 'onee'; there is no case"),
        (["zwei"], "no case 'onee'; the only case is zwei"),
        (["zwei", "drei"], "no case 'onee'; the cases are zwei and drei"),
        (["one"], "no case 'onee'. Did you mean 'one'? The only case is one"),
        (["one", "x y", "b"], "no case 'onee'. Did you mean 'one'? The cases are one, 'x y' and b"),
    ],
)
def test_an_unknown_name_is_followed_by_the_nearest_and_by_all(names, message):
    assert f"no case 'onee'{choices_for('onee', names, 'case')}" == message


def test_of_many_names_a_message_has_the_nearest():
    names = [f"joint{number}" for number in range(1, 201)]
    text = choices_for("joint77x", names, "parameter or input", "its")
    assert text.startswith(
        ". Did you mean 'joint77'? Its nearest of 200 parameters and inputs are joint77, "
    )
    assert text.count(",") == 6
    assert choices_for("?", names, "block") == (
        "; there are 200 blocks, such as joint1, joint2 and joint3"
    )


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (2, "delay", "2 delays"),
        (2, "query", "2 queries"),
        (2, "bus", "2 buses"),
        (2, "axis", "2 axes"),
        (3, "point of a design", "3 points of a design"),
    ],
)
def test_a_number_agrees_with_its_noun(number, noun, text):
    assert counted(number, noun) == text


def _pairs(*lines):
    system = System("s").add("a", block(Pair), first=1.0, second=1.0).add("b", block(Pair))
    system = system.set("b.second", 1.0)
    for line in lines:
        system = system.connect(*line)
    return system


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("a.ratio", "b.frist"), "no input connector 'frist'. Did you mean 'first'?"),
        (("a.ration", "b.first"), "no output connector 'ration'. Did you mean 'ratio'?"),
        (("c.ratio", "b.first"), "no component 'c'"),
    ],
)
def test_a_typo_is_one_problem(line, message):
    with pytest.raises(UnknownNameError) as caught:
        _pairs(line).check()
    assert len(caught.value.diagnostics) == 1
    assert message in str(caught.value)


def test_an_input_that_is_connected_twice_to_one_output(wording):
    line = ("a.ratio", "b.first")
    with wording.raises(DescriptionError, code="CON108", key="b.first"):
        _pairs(line, line).check()


def test_the_direction_of_an_end_is_not_judged_while_the_other_is_missing():
    with pytest.raises(DescriptionError) as caught:
        _pairs(("a.none", "b.ratio"), ("a.ratio", "b.first")).check()
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["CON102"]


@pytest.mark.parametrize("first", [0.0, None])
def test_an_error_in_a_block_names_the_line_of_the_block(first):
    system = System("s").add("pair", block(Pair), first=1.0, second=1.0)
    if first is not None:  # fails while it is initialised
        system = system.set("pair.first", first)
        with pytest.raises(StepError, match=rf"ZeroDivisionError.*\({HERE}, line {BROKEN}\)"):
            simulate(system, step="1 ms", stop="2 ms")
        return
    with Execution(system, step="1 ms") as execution:
        execution.set("pair.first", 0.0)
        with pytest.raises(StepError, match=rf"ZeroDivisionError.*\({HERE}, line {BROKEN}\)"):
            execution.step()


def test_a_missing_fmu_in_the_working_directory_is_named(wording):
    with wording.raises(FmuError):
        fmu("none.fmu")


def test_a_misspelt_option_suggests_the_nearest(wording):
    with wording.raises(UnknownNameError):
        simulate(_pairs(("a.ratio", "b.first")), algoritm="jacobi")


def test_a_delay_in_quotes_needs_a_unit(wording):
    with wording.raises(DescriptionError):
        _pairs().connect("a.ratio", "b.first", delay="4")


@pytest.mark.parametrize(
    ("count", "cases"),
    [(1, "case '0'"), (2, "cases '0', '1'"), (5, "cases '0', '1', '2' and 2 more")],
)
def test_a_problem_of_several_cases_is_told_once(count, cases):
    diagnostic = Diagnostic("X", Severity.ERROR, "no such FMU")
    problems = [DescriptionError(diagnostic.within(f"case '{number}'")) for number in range(count)]
    assert str(DescriptionError.collect(problems)) == f"{cases}: no such FMU"


class Wordy(Block):
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = "one" if t > 0.0 else 0.0


def test_an_output_of_a_wrong_type_names_the_class_of_the_block():
    location = rf"\(.*test_wording\.py, line {Wordy.step.__code__.co_firstlineno - 3}\)"
    with pytest.raises(StepError, match=rf"output 'y': .*{location}; results"):
        simulate(System("s").add("b", block(Wordy)), step="1 ms", stop="5 ms")


@pytest.mark.parametrize(
    ("step", "stop"),
    [
        ("-1 ms", "1 s"),
        ("1 ms", "-1 s"),
    ],
)
def test_of_step_and_stop_the_wrong_one_is_named(step, stop, wording):
    with wording.raises(DescriptionError):
        simulate(System("s").add("b", block(Wordy)), step=step, stop=stop)


def test_a_class_in_place_of_a_block_is_refused_with_the_call(wording):
    with wording.raises(DescriptionError):
        System("s").add("b", Wordy)
