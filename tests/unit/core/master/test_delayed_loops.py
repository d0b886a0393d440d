"""Jacobi through an algebraic loop, if it is asked for: what the delay gives, and what is said."""

import re
import zipfile

import pytest

from orchestrator.core.diagnostics import AlgebraicLoopError, DescriptionError
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import System
from orchestrator.study import simulate

pytestmark = pytest.mark.usefixtures("sample_blocks")

DELAY = {"algebraic_loops": "delay"}


def loop(gain: float, *, delay: str | None = None) -> System:
    """y = 1 + gain y."""
    return (
        System("loop")
        .add("sum", block("sum"), u1=1.0)
        .add("gain", block("gain"), k=gain)
        .connect("sum.y", "gain.u", delay=delay)
        .connect("gain.y", "sum.u2")
    )


def by_hand(gain: float, steps: int) -> list[float]:
    """Both units take what the other had before the step.

    At the start they give what they have by their own start values, and two passes are made.
    """
    y, z = 0.0, 0.0
    found = []
    for _ in range(steps + 3):
        y, z = 1.0 + z, gain * y
        found.append(y)
    return found[2:]


@pytest.mark.parametrize("mode", ["mean", "plain"])
def test_every_unit_adds_a_step(mode):
    result = simulate(
        loop(-0.5), step="1 ms", stop="20 ms", algorithm="jacobi", algorithm_options=DELAY,
        delay=mode,
    )  # fmt: skip
    assert result["sum.y"].tolist() == by_hand(-0.5, 20)
    assert result["sum.y"][-1] == pytest.approx(1 / 1.5, rel=1e-3)
    (note,) = result.notes
    assert "the algebraic loop gain -> sum -> gain is not solved" in note
    assert "delays its signals by 2 ms around the loop" in note


def by_hand_in_turn(gain: float, steps: int) -> list[float]:
    """The sum comes first and takes what the gain had before the step."""
    y, z = 0.0, 0.0
    found = []
    for _ in range(steps + 3):
        y = 1.0 + z
        z = gain * y
        found.append(y)
    return found


def test_the_default_algorithm_adds_a_step_for_each_line_that_leads_back():
    result = simulate(loop(-0.5), step="1 ms", stop="20 ms", algorithm_options=DELAY, delay="plain")
    rows = result["sum.y"].tolist()
    whole = by_hand_in_turn(-0.5, 24)
    begin = whole.index(rows[0])
    assert rows == whole[begin : begin + len(rows)]
    assert result.algorithm == "gauss-seidel"
    (note,) = (text for text in result.notes if "not solved" in text)
    assert "delays its signals by 1 ms around the loop" in note


EXCHANGE = re.compile(r' dependencies="[^"]*"( dependenciesKind="[^"]*")?')


@pytest.fixture
def silent_sheet(plants, tmp_path):
    """A spring and damper whose description lists no dependencies."""
    path = tmp_path / "SpringDashpot.fmu"
    with (
        zipfile.ZipFile(plants / "SpringDashpot.fmu") as zip_file,
        zipfile.ZipFile(path, "w") as less,
    ):
        for name in zip_file.namelist():
            data = zip_file.read(name)
            if name == "modelDescription.xml":
                text, count = EXCHANGE.subn("", data.decode())
                assert count
                data = text.encode()
            less.writestr(name, data)
    return path


class Yields(Block):
    """Gives way to a force at once."""

    u: float = Input()
    y: float = Output(depends_on=("u",))

    def step(self, t, h):
        self.y = -1e-3 * self.u


def pressed(path):
    still = {"velocity_a": 0.0, "velocity_b": 0.0, "position_b": 0.0}
    return (
        System("loop")
        .add("a", fmu(path), k=1.0, d=0.0, **still)
        .add("b", block(Yields))
        .connect("a.force_a", "b.u", suppress_unit_conversion=True)
        .connect("b.y", "a.position_a", suppress_unit_conversion=True)
    )


def test_a_loop_of_units_that_list_no_dependencies_is_said_to_be_a_guess(
    plants, silent_sheet, wording
):
    system = pressed(silent_sheet)
    with wording.raises(AlgebraicLoopError):
        simulate(system, step="1 ms", stop="2 ms")
    with pytest.raises(AlgebraicLoopError) as error:
        simulate(pressed(plants / "SpringDashpot.fmu"), step="1 ms", stop="2 ms")
    assert "guess" not in str(error.value)  # both say what acts on what
    assert simulate(system, step="1 ms", stop="2 ms", algorithm_options=DELAY)["a.force_a"].size


def test_it_is_refused_unless_asked_for(wording):
    for algorithm in ("jacobi", "gauss-seidel"):
        with wording.raises(AlgebraicLoopError, code="LOO102", key="gain"):
            simulate(loop(-0.5), step="1 ms", stop="2 ms", algorithm=algorithm)
    with wording.raises(DescriptionError):
        simulate(
            loop(-0.5), step="1 ms", stop="2 ms", algorithm="jacobi",
            algorithm_options={"algebraic_loops": "yes"},
        )  # fmt: skip


def test_without_an_algebraic_loop_nothing_is_said_and_nothing_changes():
    system = loop(-0.5, delay="4 ms")
    asked, plain = (
        simulate(system, step="1 ms", stop="20 ms", algorithm="jacobi", algorithm_options=options)
        for options in (DELAY, {})
    )
    assert asked.notes == plain.notes == ()
    assert asked["sum.y"].tolist() == plain["sum.y"].tolist()
