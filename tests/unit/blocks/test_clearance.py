"""Clearance of capsules from a box, against closed forms."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from python_blocks.kinematics.clearance import Box, box_clearance

BOX = Box(np.array([0.0, 0.0, -0.5]), np.array([2.0, 1.0, 1.0]))  # its top is the plane z = 0


@pytest.mark.parametrize(
    ("start", "end", "distance", "share", "normal"),
    [
        # beside a face: the end that is nearer, and a normal of that face
        ((0.3, 0.1, 0.7), (0.1, 0.2, 0.4), 0.4, 1.0, (0.0, 0.0, 1.0)),
        # an edge along y at (1, ., 0) and an axis along y: the distance in the x-z plane
        ((1.3, -3.0, 0.4), (1.3, 0.1, 0.4), 0.5, None, (0.6, 0.0, 0.8)),
        # a corner at (1, 0.5, 0)
        ((3.0, 2.5, 1.0), (2.0, 1.5, 1.0), sqrt(3.0), 1.0, (1 / sqrt(3), 1 / sqrt(3), 1 / sqrt(3))),
        # across an edge, at 45 degrees to both faces: its middle is nearest
        ((2.0, 0.0, 0.0), (1.0, 0.0, 1.0), 0.5 * sqrt(2.0), 0.5, (sqrt(0.5), 0.0, sqrt(0.5))),
        # through the box: no deeper than the nearest face allows, half an edge of 1 m
        ((0.0, 0.0, 5.0), (0.0, 0.0, -5.0), -0.5, None, None),
        # its end 0.2 m below the top
        ((0.0, 0.0, 0.6), (0.0, 0.0, -0.2), -0.2, 1.0, (0.0, 0.0, 1.0)),
    ],
)
def test_a_capsule_is_as_far_from_a_box_as_its_geometry_says(start, end, distance, share, normal):
    clearance = box_clearance(BOX, np.array(start), np.array(end), 0.1)
    assert clearance.distance == pytest.approx(distance - 0.1, abs=1e-12)
    if share is not None:
        assert clearance.share == pytest.approx(share, abs=1e-7)
    if normal is not None:
        assert clearance.normal == pytest.approx(normal, abs=1e-6)


def test_no_point_of_the_axis_is_nearer_than_the_one_that_is_found() -> None:
    draws = np.random.default_rng(1)
    start, end = draws.uniform(-2.0, 2.0, (2, 50, 3))
    clearance = box_clearance(BOX, start, end, 0.0)
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    points = start + share * (end - start)
    beyond = np.abs(points - BOX.centre) - 0.5 * BOX.edges
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=2)
    sampled = (outside + np.minimum(beyond.max(axis=2), 0.0)).min(axis=0)
    step = np.linalg.norm(end - start, axis=1) / 2000
    assert np.all(clearance.distance <= sampled + 1e-12)
    assert np.all(sampled <= clearance.distance + step)


def test_the_slope_is_the_difference_of_two_clearances() -> None:
    start, end = np.array([2.0, 0.2, 0.1]), np.array([1.1, -0.1, 1.2])
    way = np.array([0.3, -0.2, 0.5]), np.array([-0.4, 0.1, 0.2])
    there, back = (
        box_clearance(BOX, start + h * way[0], end + h * way[1], 0.1).distance
        for h in (1e-5, -1e-5)
    )
    slope = box_clearance(BOX, start, end, 0.1).slope(*way)
    assert slope == pytest.approx((there - back) / 2e-5, rel=1e-6)


def test_a_box_without_extent_is_refused() -> None:
    with pytest.raises(ValueError, match=r"edges > 0 m, found \[1.0, 0.0, 1.0\]"):
        Box(np.zeros(3), np.array([1.0, 0.0, 1.0]))
