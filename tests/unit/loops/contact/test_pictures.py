import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import (
    ContactLoop,
    growth_over_delay,
    plot_growth_over_delay,
    plot_stability_plane,
    stability_plane,
)


def test_plane_holds_the_limits_of_the_loops():
    plane = stability_plane(750.0, [20.0, 60.0], [0.016, 0.024, 0.032])
    assert plane.shape == (2, 3)
    assert plane[1, 2] == ContactLoop(750.0, 0.0, 60.0, 0.032).stiffness_limit_exact
    pade = stability_plane(750.0, [20.0, 60.0], [0.016, 0.024, 0.032], exact=False)
    assert np.all(pade > plane)  # first-order Pade promises more than the loop holds
    np.testing.assert_allclose(pade, plane, rtol=1e-3)


def test_plane_refuses_a_negative_delay(wording):
    with wording.raises(DescriptionError):
        stability_plane(750.0, 20.0, -0.016)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
def test_plane_is_drawn_with_units(tmp_path, exact):
    figure = plot_stability_plane(
        damping=np.linspace(10.0, 200.0, 6), delay=np.linspace(0.016, 0.032, 5), exact=exact
    )
    labels = {axes.get_xlabel() for axes in figure.axes} - {""}
    assert labels == {"damping b [N s/m]", "loop delay h [ms]"}
    figure.savefig(tmp_path / "plane.png")
    assert (tmp_path / "plane.png").stat().st_size > 10_000


@pytest.mark.slow
def test_growth_over_delay_is_drawn_with_margins(tmp_path):
    figure = plot_growth_over_delay(delay=np.linspace(0.0, 0.032, 5))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "margin 7.968 ms" in texts
    assert "margin 23.889 ms" in texts
    figure.savefig(tmp_path / "locus.png")


def test_growth_changes_sign_at_the_margin():
    loop = ContactLoop(750.0, 2510.0, 20.0, 0.016)
    margin = loop.delay_margin.delay
    below, at, above = growth_over_delay(loop, [margin - 1e-6, margin, margin + 1e-6])
    assert below < 0.0 < above
    assert abs(at) < 1e-12
