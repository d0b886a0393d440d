import pytest
from pydantic import ValidationError

from orchestrator.animation import loose_ends, too_many, wrong_signals

from .conftest import TABLE, turning

BALL = {"shape": "sphere", "radius": 1.0}


def frames(**more):
    return {"frame": TABLE["frame"] | more}


def parts(**more):
    return {"part": {**more}}


def test_a_good_table_has_no_loose_ends(table):
    assert list(loose_ends("a", table())) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (frames(x={"in": "nowhere"}), "'animation.a.frame.x.in': no frame 'nowhere'; known: world"),
        (frames(world={}), "'animation.a.frame.world': the world is there already"),
        (frames(x={"in": "y"}, y={"in": "x"}), "'animation.a.frame.x.in': the frame stands in its"),
        (frames(x={"attitude": [0, 0, 0, 0]}), "'animation.a.frame.x.attitude': expected a quat"),
        (parts(b=BALL | {"in": "x"}), "'animation.a.part.b.in': no frame 'x'; known: world, bench"),
        (parts(b=BALL | {"ghost": "x"}), "'animation.a.part.b.ghost': no frame 'x'"),
        (parts(b=BALL | {"attitude": [0, 0, 0, 0]}), "'animation.a.part.b.attitude': expected a"),
        (
            parts(b={"shape": "ring", "radius": 1, "wire": 0.1, "axis": [0, 0, 0]}),
            "'animation.a.part.b.axis': expected a direction that is not zero",
        ),
        (
            parts(
                b={"shape": "line", "radius": 1, "from": {"at": [[0, 0, 0], [1, 0, 0]]}, "to": {}}
            ),
            "'animation.a.part.b': expected as many points in 'from' as in 'to', found 2 and 1",
        ),
    ],
)
def test_loose_ends_are_named(table, changes, expected):
    assert [text for text in loose_ends("a", table(**changes)) if text.startswith(expected)]


@pytest.mark.parametrize(
    "part",
    [
        {"shape": "box"},
        {"shape": "sphere", "radius": 0},
        {"shape": "blob"},
        {"shape": "cylinder", "radius": 1, "length": 1, "colour": "red"},
        {"shape": "sphere", "radius": 1, "attitude": [1, 0, 0]},
        {"shape": "sphere", "radius": 1, "opacity": 0},
    ],
)
def test_parts_without_their_sizes_are_refused(table, part):
    with pytest.raises(ValidationError, match=r"part\.b"):
        table(part={"b": part})


def recorded(**changes):
    result = turning()
    return {"run": {name: result.units.get(name) for name in result.names} | changes}


def test_signals_that_are_recorded_are_fine(table):
    assert list(wrong_signals("a", table(), recorded())) == []


def test_a_signal_that_is_not_recorded_is_named_with_what_is_close(table):
    made = table(**frames(body={"in": "bench", "position": "bdy.r"}))
    (text,) = wrong_signals("a", made, recorded())
    assert text.startswith(
        "animation 'a', frame.body.position: case 'run' records no 'bdy.r[0]' (expected 3"
        " elements); close to it: body.r[0]"
    )


def test_a_vector_of_another_size_is_named(table):
    made = table(**frames(body={"attitude": "body.r"}))
    (text,) = wrong_signals("a", made, recorded())
    assert "frame.body.attitude: case 'run' records no 'body.r[3]' (expected 4 elements)" in text


def test_positions_are_in_metres(table):
    (text,) = wrong_signals("a", table(), recorded(**{"rail.x": "mm"}))
    assert (
        text == "animation 'a', frame.slide.position: case 'run' has 'rail.x' in 'mm'; expected 'm'"
    )


def test_arrows_and_charts_are_looked_at(table):
    chart = [{"ylabel": "y", "curves": [{"signal": "no.y", "label": "l", "case": "run"}]}]
    part = {"p": TABLE["part"]["pull"] | {"vector": "body.pull"}}
    first, second = wrong_signals("a", table(part=part, chart=chart), recorded())
    assert "part.p.vector: case 'run' records no 'body.pull[0]'" in first
    assert "chart 1, 'l': case 'run' records no 'no.y'" in second


def test_cases_that_are_not_run_are_left_out(table):
    assert list(wrong_signals("a", table(cases=["other"]), recorded())) == []


def test_too_many_pictures_are_refused_before_the_run(table):
    assert list(too_many("a", table(fps=100), 199_990_000_000)) == []  # 20000
    (text,) = too_many("a", table(fps=100), 200_000_000_000)
    assert "are 20001 pictures; expected at most 20000" in text
