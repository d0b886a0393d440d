import pytest
from pydantic import ValidationError

from orchestrator.pictures.animation import too_many, wrong_signals

from .conftest import TABLE, turning

BALL = {"shape": "sphere", "radius": 1.0}


def frames(**more):
    return {"frame": TABLE["frame"] | more}


def parts(**more):
    return {"part": {**more}}


def test_a_good_table_has_no_loose_ends(table):
    assert list(table().loose_ends("a")) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            frames(x={"in": "nowhere"}),
            "'animation.a.frame.x.in': no frame 'nowhere'; the frames",
        ),
        (frames(world={}), "'animation.a.frame.world': the world is there already"),
        (frames(x={"in": "y"}, y={"in": "x"}), "'animation.a.frame.x.in': the frame stands in its"),
        (
            parts(b=BALL | {"in": "x"}),
            "'animation.a.part.b.in': no frame 'x'; the frames are world",
        ),
        (parts(b=BALL | {"ghost": "x"}), "'animation.a.part.b.ghost': no frame 'x'"),
        (
            parts(
                b={"shape": "line", "radius": 1, "from": {"at": [[0, 0, 0], [1, 0, 0]]}, "to": {}}
            ),
            "'animation.a.part.b': expected as many points in 'from' as in 'to', found 2 and 1",
        ),
        (
            {"reference": ["run", "run", "run"]},
            "'animation.a.reference': expected one case, or one for each of the 1 cases, found 3",
        ),
        (
            frames(x={"reference": True}),
            "'animation.a.frame.x.reference': the animation names no 'reference'",
        ),
        (
            frames(x={"reference": True, "case": "run"}) | {"reference": ["run"]},
            "'animation.a.frame.x': expected 'case' or 'reference', found both",
        ),
    ],
)
def test_loose_ends_are_named(table, changes, expected):
    found = [f"'{key}': {text}" for key, text in table(**changes).loose_ends("a")]
    assert [text for text in found if text.startswith(expected)]


BAR = {"shape": "line", "radius": 1, "to": {}}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"shape": "box"}, r"size\n *Field required"),
        (BALL | {"radius": 0}, "radius.*greater than 0"),
        (BALL | {"radius": float("inf")}, "radius.*finite"),
        ({"shape": "blob"}, "'box', 'cylinder', 'sphere', 'ring', 'triad', 'line'"),
        (BALL | {"colour": "red"}, "colour.*expected a colour such as '#1f4e79'"),
        (BALL | {"at": [0, 0]}, r"at.*expected \[x, y, z\], or a list of these"),
        (BALL | {"at": [[0, 0, 0], [0, 0]]}, r"at.*expected \[x, y, z\], or a list of these"),
        (BALL | {"at": [0, 0, float("nan")]}, r"at.*expected \[x, y, z\], or a list of these"),
        (BALL | {"at": []}, r"at.*expected \[x, y, z\], or a list of these"),
        (BALL | {"attitude": [1, 0, 0]}, "attitude.*expected four numbers, scalar first"),
        (BALL | {"attitude": [0, 0, 0, 0]}, "attitude.*that are not all zero"),
        (BALL | {"opacity": 0}, "opacity.*greater than 0"),
        (BAR, r"from\n *Field required"),
        (BAR | {"from": {}, "span": [0, 2]}, "span.*less than or equal to 1"),
        ({"shape": "ring", "radius": 1, "wire": 1, "axis": [0, 0, 0]}, "axis.*direction"),
        ({"shape": "arrow", "vector": ["a.b", 0], "scale": 1}, "vector.*three numbers or outputs"),
    ],
)
def test_parts_that_cannot_be_drawn_are_refused(table, part, expected):
    with pytest.raises(ValidationError, match=f"(?s)part\\.b.*{expected}"):
        table(part={"b": part})


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"position": 3}, "position.*an output with three elements, or a list of three"),
        ({"position": ["a.b", 0, True]}, "position.*an output with three elements"),
        ({"attitude": [1, 0, 0]}, "attitude.*an output with four elements, or four numbers"),
        ({"attitude": ["a.b", 0, 0, True]}, "attitude.*four numbers or outputs"),
        ({"rest": "a.b"}, "rest.*three numbers"),
    ],
)
def test_frames_that_cannot_move_are_refused(table, frame, expected):
    with pytest.raises(ValidationError, match=f"(?s)frame\\.f.*{expected}"):
        table(frame={"f": frame})


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
    assert "chart.0.curves.0.signal: case 'run' records no 'no.y'" in second


def test_cases_that_are_not_run_are_left_out(table):
    assert list(wrong_signals("a", table(cases=["other"]), recorded())) == []


def test_too_many_pictures_are_refused_before_the_run(table):
    assert list(too_many("a", table(fps=100), 199_990_000_000)) == []  # 20000
    (text,) = too_many("a", table(fps=100), 200_000_000_000)
    assert "are 20001 pictures; expected at most 20000" in text
