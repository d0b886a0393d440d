"""What a page shows, against closed forms; float32 holds 1e-7 of a value."""

import numpy as np
import pytest

from orchestrator.pictures.animation import render_animation
from orchestrator.pictures.animation.tracks import interpolated

from .conftest import RATE, TABLE, Decoded, turning

TITLES = {"run": "run", "other": "other"}


def decoded(table, **results):
    return Decoded(render_animation(table, {"run": turning(), **results}, TITLES))


def times(page):
    return page.data["begin"] + page.data["step"] * np.arange(page.data["count"])


def test_a_frame_is_where_its_signals_say(table):
    page = decoded(table())
    t = times(page)
    np.testing.assert_allclose(t, np.arange(21) * 0.1, atol=1e-12)
    pose = page.frame("body")
    expected = [np.cos(RATE * t), np.sin(RATE * t), 3.0 + 0.5 * t]
    np.testing.assert_allclose(pose[:, :3].T, expected, atol=1e-6)
    angle = RATE * t / 2
    np.testing.assert_allclose(pose[:, [3, 6]].T, [np.cos(angle), np.sin(angle)], atol=1e-6)
    np.testing.assert_array_equal(page.frame("bench"), [[0, 0, 3, 1, 0, 0, 0]])


def test_a_frame_may_be_described_before_the_one_that_it_stands_in(table):
    frames = TABLE["frame"]
    inner_first = {name: frames[name] for name in ("body", "slide", "bench")}
    here, there = decoded(table(frame=inner_first)), decoded(table())
    for name in frames:
        np.testing.assert_array_equal(here.frame(name), there.frame(name))


def test_an_attitude_may_be_four_signals(table):
    body = TABLE["frame"]["body"]
    four = [f"body.q[{i}]" for i in range(4)]
    made = table(frame=TABLE["frame"] | {"body": body | {"attitude": four}})
    np.testing.assert_array_equal(decoded(made).frame("body"), decoded(table()).frame("body"))


def test_pictures_between_samples_lie_on_the_circle_of_the_attitude(table):
    # Samples every 0.4 s are 0.8 rad apart: along a great circle the angle stays exact, along
    # the chord of the position it is off by its sagitta of 1 - cos(0.4 rad) m.
    coarse = turning(step=0.4)
    page = Decoded(render_animation(table(), {"run": coarse}, TITLES))
    t = times(page)
    pose = page.frame("body")
    np.testing.assert_allclose(2 * np.arctan2(pose[:, 6], pose[:, 3]), RATE * t, atol=1e-6)
    radius = np.hypot(pose[:, 0], pose[:, 1])
    assert radius.min() == pytest.approx(np.cos(0.4), abs=1e-6)


def test_a_line_ends_where_a_point_of_a_body_is(table):
    page = decoded(table())
    t = times(page)
    bar, _ = page.segments()
    np.testing.assert_allclose(bar[:, :3], np.tile([0, 0, 3.0], (21, 1)), atol=1e-6)
    expected = [1.5 * np.cos(RATE * t), 1.5 * np.sin(RATE * t), 3 + 0.5 * t]
    np.testing.assert_allclose(bar[:, 3:].T, expected, atol=1e-6)


def test_an_arrow_points_along_the_axes_of_its_frame_with_its_scale(table):
    page = decoded(table())
    t = times(page)
    _, pull = page.segments()
    way = pull[:, 3:] - pull[:, :3]  # 100 N at 0.01 m/N, in the turning frame
    np.testing.assert_allclose(way.T, [np.cos(RATE * t), np.sin(RATE * t), 0 * t], atol=1e-6)


def test_displacement_and_rotation_from_the_start_are_exaggerated(table):
    page = decoded(table(exaggerate=3))
    t = times(page)
    pose = page.frame("body")
    np.testing.assert_allclose(pose[:, 0], 1 + 3 * (np.cos(RATE * t) - 1), atol=1e-6)
    np.testing.assert_allclose(pose[:, 2], 3 + 1.5 * t, atol=1e-6)
    half = np.unwrap(np.arctan2(pose[:, 6], pose[:, 3]), period=np.pi)  # q and -q are the same
    np.testing.assert_allclose(2 * half[t < 1.5], 3 * RATE * t[t < 1.5], atol=1e-5)


def test_displacement_is_counted_from_a_rest_that_is_given(table):
    frames = {"slide": {"position": ["rail.x", 0, 1], "rest": [-0.5, 0, 1]}}
    part = {"ball": {"shape": "sphere", "in": "slide", "radius": 0.1}}
    page = decoded(table(exaggerate=10, frame=frames, part=part))
    expected = -0.5 + 10 * (0.5 + 0.01 * np.sin(RATE * times(page)))
    # The recorded sine is linear between samples 0.01 s apart, and pictures fall on samples.
    np.testing.assert_allclose(page.frame("slide")[:, 0], expected, atol=1e-6)


def test_slow_motion_makes_more_pictures(table):
    page = decoded(table(speed=0.25))
    assert page.data["count"] == 81
    assert page.data["step"] == 0.025


def test_a_part_of_the_run(table):
    page = decoded(table(**{"from": "0.5 s", "until": "1 s"}))
    assert (page.data["begin"], page.data["count"]) == (0.5, 6)
    np.testing.assert_allclose(page.frame("body")[0, 2], 3.25, atol=1e-6)


def test_an_arm_has_links_of_its_lengths_and_bends_to_its_side(table):
    arm = {
        "shape": "arm",
        "from": {},
        "to": {"in": "body"},
        "links": [2.5, 1.5],
        "towards": [0, 0, 1],
        "radius": 0.05,
    }
    page = decoded(table(part={"arm": arm}, until=1.5))  # it reaches 4 m
    lower, upper = page.segments()
    np.testing.assert_allclose(np.linalg.norm(lower[:, 3:] - lower[:, :3], axis=1), 2.5, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(upper[:, 3:] - upper[:, :3], axis=1), 1.5, atol=1e-5)
    chord = lower[:, :3] + 0.5 * (upper[:, 3:] - lower[:, :3])
    assert (lower[:, 5] > chord[:, 2]).all()


def test_an_arm_that_cannot_reach_lies_on_the_straight_line(table):
    arm = {
        "shape": "arm",
        "from": {},
        "to": {"at": [5, 0, 0]},
        "links": [1, 1],
        "towards": [0, 0, 1],
        "radius": 0.05,
    }
    lower, upper = decoded(table(part={"arm": arm})).segments()
    np.testing.assert_allclose(lower, [[0, 0, 0, 1, 0, 0]], atol=1e-7)
    np.testing.assert_allclose(upper, [[1, 0, 0, 5, 0, 0]], atol=1e-7)


def test_lists_of_points_make_several_lines_of_which_a_share_is_drawn(table):
    line = {
        "shape": "line",
        "from": {"at": [[0, 0, 0], [1, 0, 0]]},
        "to": {"at": [[0, 0, 4], [1, 0, 8]]},
        "span": [0.25, 0.5],
        "radius": 0.1,
    }
    page = decoded(table(part={"legs": line}))
    values = np.vstack(page.segments())
    np.testing.assert_allclose(values, [[0, 0, 1, 0, 0, 2], [1, 0, 2, 1, 0, 4]])


def test_frames_of_another_case_move_with_that_case(table):
    frames = TABLE["frame"] | {"ghost": {"position": "body.r", "case": "other"}}
    other = turning("other")
    other.values[:, 2] = 7.0
    page = decoded(table(frame=frames), other=other)
    np.testing.assert_allclose(page.frame("ghost")[:, 2], 7.0)
    np.testing.assert_allclose(page.frame("body")[0, 2], 3.0)


def test_each_case_has_its_reference(table):
    frames = {"ghost": {"position": "body.r", "reference": True}}
    ball = {"ball": {"shape": "sphere", "in": "ghost", "radius": 0.1}}
    made = table(cases=["run", "other"], reference=["a", "b"], frame=frames, part=ball)
    assert made.needed() == {"run", "other", "a", "b"}
    results = {name: turning(name) for name in ("run", "other", "a", "b")}
    results["a"].values[:, 2] = 5.0
    results["b"].values[:, 2] = 6.0
    page = Decoded(render_animation(made, results, {name: name for name in results}))
    assert [page.frame("ghost", i)[0, 2] for i in (0, 1)] == [5.0, 6.0]


def test_a_run_that_ends_early_keeps_its_last_pose_and_its_curves_end(table):
    chart = [{"ylabel": "z", "curves": [{"signal": "body.r[2]", "label": "z", "factor": 1e3}]}]
    both = table(cases=["run", "other"], chart=chart)
    page = decoded(both, other=turning("other", stop=1.0))
    assert [case["ends"] for case in page.data["cases"]] == [2.0, 1.0]
    np.testing.assert_allclose(page.frame("body", 1)[10:, 2], 3.5, atol=1e-6)
    curve = page.tracks(1)[-1][:, 0]
    np.testing.assert_allclose(curve[:11], 500 * times(page)[:11], atol=1e-3)
    assert np.isnan(curve[11:]).all()


def test_values_that_are_no_numbers_are_said_and_drawn_where_they_were(table):
    broken = turning()
    broken.values[broken.time > 1.0, 0] = np.nan
    text = render_animation(table(), {"run": broken}, TITLES)
    assert "body.r[0], body.r[1], body.r[2] is no number, or beyond 1e+06, first at 1.01 s" in text
    pose = Decoded(text).frame("body")
    np.testing.assert_allclose(pose[11:, :3], np.tile(pose[10, :3], (10, 1)), atol=1e-6)


def test_opposite_quaternions_are_the_same_attitude():
    q = np.array([[1.0, 0, 0, 0], [-np.cos(0.4), 0, 0, -np.sin(0.4)]])
    middle = interpolated(np.array([0.5]), np.array([0.0, 1.0]), q)
    np.testing.assert_allclose(np.abs(middle), [[np.cos(0.2), 0, 0, np.sin(0.2)]], atol=1e-12)
