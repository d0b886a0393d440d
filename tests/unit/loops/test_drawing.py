"""Pictures of loops: what stands at their axes, and that what is drawn is what was computed."""

import numpy as np
import pytest

from orchestrator import System, block
from orchestrator.loops import linear_system, open_loop, swept
from orchestrator.loops.drawing import draw_bode, draw_map, draw_nyquist, draw_sweep
from orchestrator.pictures import save

from .conftest import Factor, SecondOrder


@pytest.fixture(scope="module")
def linear():
    return linear_system(
        System("capture")
        .add("mass", block(SecondOrder), a=(0.0, 1.0, -4.0, -0.4), b=(0.0, 1.0), c=(1.0, 0.0))
        .add("spring", block(Factor), k=-5.0)
        .connect("mass.y", "spring.u", delay="16 ms")
        .connect("spring.y", "mass.u"),
        step="4 ms",
    )


@pytest.mark.slow
def test_bode_and_nyquist(linear, tmp_path):
    loop = open_loop(linear.system, linear.models, "spring.u")
    margins = loop.margins()
    bode, nyquist = draw_bode(loop, margins), draw_nyquist(loop, margins)
    size, phase = bode.axes
    assert (size.get_ylabel(), phase.get_ylabel()) == ("magnitude of L [-]", "phase of L [°]")
    assert phase.get_xlabel() == "frequency [Hz]"
    frequency, values = size.lines[0].get_data()
    assert values == pytest.approx(np.abs(loop.response(frequency)))
    assert "phase margin" in " ".join(text.get_text() for text in size.texts)
    circle = nyquist.axes[1].lines[3].get_xydata()
    assert np.hypot(circle[:, 0] + 1, circle[:, 1]) == pytest.approx(margins.distance.value)
    for name, figure in (("bode", bode), ("nyquist", nyquist)):
        save(figure, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("kind", ["delay", "gain", "step"])
def test_a_locus(linear, kind):
    values = {"delay": [0.0, 0.008, 0.1], "gain": [0.5, 1.0, 2.0], "step": [0.001, 0.002, 0.008]}
    points = swept(linear, kind, values[kind], line="spring.u")
    growth, plane = draw_sweep(points, kind, "a title").axes
    assert growth.lines[1].get_ydata() == pytest.approx([p.exact for p in points])
    assert growth.lines[2].get_ydata() == pytest.approx([p.sampled for p in points])
    assert growth.get_xlabel() in {"delay [ms]", "gain factor [-]", "step [ms]"}
    assert plane.get_ylabel() == "frequency [Hz]"
    if kind == "step":
        assert np.ptp([p.exact for p in points]) < 1e-9  # continuous time has no step
    else:
        assert points[-1].exact > points[0].exact  # later or stiffer, so less damped


def test_a_map_has_both_limits(linear):
    delays, gains = np.array([0.0, 0.1]), np.array([1.0, 2.0, 3.0])
    growth = np.array([[-1.0, 1.0], [-0.5, 2.0], [0.5, 3.0]])
    figure = draw_map(("delay", delays), ("gain", gains), growth, growth - 0.1, "a title")
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("delay [ms]", "gain factor [-]")
    assert {t.get_text() for t in axes.get_legend().get_texts()} == {
        "limit in continuous time",
        "limit as sampled",
    }
    assert len(axes.collections) >= 3  # the map and two limits
