import numpy as np
import pytest

from orchestrator.pictures import picture, plot_maps
from orchestrator.pictures.sweep_page import draw_sweep, write_page
from orchestrator.study import read_experiment
from orchestrator.study.content import MapAxis, MapLook, MapPanel
from orchestrator.study.sweep.jobs import JobRecord
from orchestrator.study.sweep.summary import missing, reduced

GRID = """
[sweep.c]
cases = ["slope", "flat"]
measures = ["end", "half"]
[sweep.c.over.slope]
label = "Slope"
set = ["a.u"]
values = [8.0, 1.0, 2.0, 4.0]
[sweep.c.over.steep]
label = "Steep"
set = ["a.at"]
values = [2e9, 1e9, 3e9]
[case.flat.measure]
end = { kind = "final", signal = "a.y", factor = 10 }
half = { kind = "final", signal = "a.y", until = "0.5 s" }
[case.slope.measure.half]
kind = "final"
signal = "a.y"
until = "0.5 s"
[figure.f]
kind = "map"
title = "All of it"
caption = "What came out."
sweep = "c"
measure = "end"
label = "End [m]"
x = "slope"
y = "steep"
colours = "log"
limit = 3.0
contour = "half"
levels = [1.0]
panels = [{ case = "slope", title = "Slow" }, { case = "flat" }]
[figure.l]
kind = "lines"
title = "Along"
sweep = "c"
measure = "end"
x = "slope"
limit = 3.0
curves = [{ case = "slope", at = { steep = 1e9 } }, { case = "flat", at = { steep = 1e9 } }]
"""


@pytest.fixture
def drawn(swept, folder):
    def draw(text=GRID, name="f"):
        outcomes = swept(text)
        figure = read_experiment(folder / "experiment.toml").figure[name]
        return draw_sweep(figure, outcomes["c"]).figure

    return draw


def colours(axes):
    """Values of the cells, from below."""
    (mesh,) = [c for c in axes.collections if type(c).__name__ == "QuadMesh"]
    return mesh.get_array()


def test_a_map_has_its_values_where_they_belong(drawn):
    figure = drawn()
    slow, flat = figure.axes[:2]
    # Columns by increasing slope, though the file has another order; rows do not matter here.
    np.testing.assert_allclose(colours(slow), np.tile([1, 2, 4, 8], (3, 1)), rtol=1e-12)
    np.testing.assert_allclose(colours(flat), 10 * colours(slow), rtol=1e-12)
    assert [slow.get_title(), flat.get_title()] == ["Slow", "flat"]
    assert [slow.get_xlabel(), slow.get_ylabel()] == ["Slope", "Steep"]
    assert slow.get_xscale() == "log"
    assert slow.get_yscale() == "linear"


def test_panels_share_one_scale(drawn):
    figure = drawn()
    one, other = (axes.collections[0].norm for axes in figure.axes[:2])
    assert (one.vmin, one.vmax) == (other.vmin, other.vmax)
    assert (one.vmin, one.vmax) == pytest.approx((1.0, 80.0), rel=1e-12)
    assert figure.axes[2].get_ylabel() == "End [m]"


def test_the_limit_lies_between_its_cells_on_a_logarithmic_scale(drawn):
    figure = drawn()
    lines = [c for c in figure.axes[0].collections if type(c).__name__ == "QuadContourSet"]
    at = lines[0].get_paths()[0].vertices[:, 0]
    # The values are the abscissa itself, and both scales are logarithmic: the limit is at 3.
    np.testing.assert_allclose(at, 3.0, rtol=1e-12)
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["limit 3 m", "half"]


def test_lines_have_a_curve_for_each_case(drawn):
    plot = drawn(name="l")
    (panel,) = plot.panels
    np.testing.assert_allclose(panel.curves[0].y, [1, 2, 4, 8], rtol=1e-12)
    np.testing.assert_allclose(panel.curves[1].y, [10, 20, 40, 80], rtol=1e-12)
    assert plot.xlabel == "Slope"
    assert panel.ylabel == "end"


def record(value=None, status="done"):
    from orchestrator.study.measure.outcome import Measured

    measured = {} if value is None else {"end": Measured(value, "m")}
    return JobRecord("k", "slope", {}, 1, status, measured=measured)


@pytest.fixture
def figure(write):
    def make(**changes):
        return read_experiment(write(GRID)).figure["f"].model_copy(update=changes)

    return make


@pytest.mark.parametrize(
    ("how", "limit", "values", "expected"),
    [
        ("median", 3.0, [1.0, 5.0, 2.0], 2.0),
        ("max", 3.0, [1.0, 5.0, 2.0], 5.0),
        ("max", 3.0, [1.0, np.inf, 2.0], np.nan),
        ("max", 3.0, [], np.nan),
        ("share above limit", 3.0, [1.0, 5.0, 2.0, None], 0.5),
        ("median", 3.0, [1.0, None, 3.0], 2.0),
        ("median", 3.0, [1.0, None, None, 3.0], np.nan),
        ("median", 3.0, [np.inf], np.nan),
        ("share above limit", 3.0, [], np.nan),
    ],
)
def test_seeds_become_one_figure(figure, how, limit, values, expected):
    found = reduced(figure(reduce=how, limit=limit), [record(v) for v in values])
    np.testing.assert_equal(found, expected)


def test_cells_without_a_figure_say_why(figure):
    cells = [[[record(1.0)], [record(None, "failed")]], [[record(None, "died")], []]]
    found = missing(figure(), cells)
    assert {label: mask.tolist() for label, mask in found.items()} == {
        "run ended by an error": [[False, True], [False, False]],
        "process died": [[False, False], [True, False]],
        "not run": [[False, False], [False, True]],
    }


def test_cells_in_a_safe_state_keep_their_colour():
    from orchestrator.study.sweep.summary import safe

    one, other = record(1.0), record(2.0, "safe state")
    (mask,) = safe([[[one], [other]], [[one, one, other], [one, other]]]).values()
    assert mask.tolist() == [[False, True], [False, True]]
    panel = MapPanel("p", np.array([[1.0, 2.0], [3.0, 4.0]]), marked={"safe": mask})
    drawing = plot_maps([panel], MapAxis("", (1, 2)), MapAxis("", (1, 2)), MapLook("Z"))
    (hatched,) = [c for c in drawing.axes[0].collections if type(c).__name__ == "PatchCollection"]
    assert len(hatched.get_paths()) == 2
    assert hatched.get_facecolor().size == 0 or not hatched.get_facecolor()[:, 3].any()


def test_hatched_cells_are_where_nothing_is():
    values = np.array([[1.0, np.nan], [2.0, 3.0]])
    panel = MapPanel("p", values, {"died": np.isnan(values)}, predicted=values)
    x, y = MapAxis("X", (1.0, 2.0)), MapAxis("Y", ("no", "yes"))
    drawing = plot_maps([panel], x, y, MapLook("Z [m]", "diverging", 2.5), "T")
    axes = drawing.axes[0]
    (hatched,) = [c for c in axes.collections if type(c).__name__ == "PatchCollection"]
    (path,) = hatched.get_paths()
    assert path.get_extents().bounds == (1.5, -0.5, 1.0, 1.0)
    assert hatched.get_hatch()
    assert [t.get_text() for t in axes.get_yticklabels()] == ["no", "yes"]
    norm = axes.collections[0].norm
    assert (norm.vmin, norm.vmax) == (1.0, 4.0)  # as far from 2.5 on both sides
    said = [t.get_text() for t in drawing.legends[0].get_texts()]
    assert said == ["died", "limit 2.5 m", "limit 2.5 m (predicted)"]
    assert picture(drawing, "png")[:4] == b"\x89PNG"


def test_the_lowest_panel_of_each_column_has_the_axis():
    panels = [MapPanel(name, np.array([[1.0, 2.0], [3.0, 4.0]])) for name in "abcd"]
    x, y = MapAxis("X [m]", (1.0, 2.0)), MapAxis("Y", (1.0, 2.0))
    drawing = plot_maps(panels, x, y, MapLook("Z"))
    picture(drawing, "png")  # lays it out
    maps = {axes.get_title(): axes for axes in drawing.axes if axes.get_title()}
    labelled = [name for name, axes in maps.items() if axes.get_xlabel() == "X [m]"]
    assert labelled == ["b", "c", "d"]
    ticks = [any(t.label1.get_visible() for t in maps[name].xaxis.majorTicks) for name in "abcd"]
    assert ticks == [False, True, True, True]


def test_edges_lie_half_way_on_the_scale_of_the_axis():
    np.testing.assert_allclose(MapAxis("", (1.0, 2.0, 4.0)).edges, [0.5, 1.5, 3.0, 5.0])
    expected = 2.0 ** np.array([-0.5, 0.5, 1.5, 2.5])
    np.testing.assert_allclose(MapAxis("", (1.0, 2.0, 4.0), log=True).edges, expected)
    np.testing.assert_allclose(MapAxis("", (7.0,)).edges, [6.5, 7.5])


@pytest.mark.slow
def test_the_page_has_figures_and_tables(swept, folder):
    outcomes = swept(GRID)
    experiment = read_experiment(folder / "experiment.toml")
    page, *pictures = write_page(experiment, outcomes, folder / "out")
    assert [p.name for p in pictures] == ["f.png", "f.svg", "l.png", "l.svg"]
    text = page.read_text()
    assert "What came out." in text
    assert text.count("<table>") == 2
    assert '<td class="value">10</td><td class="value">30</td><td class="value">80</td>' in text
