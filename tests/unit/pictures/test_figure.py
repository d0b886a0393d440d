import numpy as np
import pytest
from live_pages import recording

from orchestrator.core.coupling import Mark
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.pictures import draw_plot, picture, save
from orchestrator.pictures.panels import decimate, spans_of
from orchestrator.study.content import PALETTE, Curve, Panel, Plot, Reference, Span


def plot_signals(panels, title="", spans=(), columns=1):
    return draw_plot(Plot("time", panels, title, spans=spans, columns=columns))


def plot_path(curve):
    return draw_plot(Plot("path", [Panel("y [m]", [curve])], "t", "x [m]"))


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]


def test_times_are_shaded_in_all_panels_and_named_once():
    time = np.linspace(0.0, 10.0, 11)
    panels = [Panel(unit, [Curve("x", time, time)]) for unit in ("[m]", "[N]")]
    spans = [Span("long", 2.0, 9.0), Span("short", 2.5, 2.51), Span("open", 9.5), Span("off", 11.0)]
    figure = plot_signals(panels, spans=spans)
    for axes in figure.axes:
        shaded = [patch.get_bbox().intervalx.tolist() for patch in axes.patches]
        assert shaded == [[2.0, 9.0], [2.5, 2.51], [9.5, 10.0]]
        assert axes.get_xlim() == (0.0, 10.0)
    first, second = figure.axes
    assert [text.get_text() for text in first.texts] == ["long", "short", "open"]
    assert not second.texts
    heights = [text.xyann[1] for text in first.texts]
    assert heights[0] < heights[1]  # they would lie on each other
    assert heights[2] == heights[0]


def test_decimation_keeps_extremes_ends_and_order():
    time = np.linspace(0.0, 60.0, 100_003)
    values = np.sin(time)
    values[[777, 50_001, 100_001]] = [9.0, -9.0, 8.0]  # spikes of a single sample
    x, y = decimate(time, values, buckets=500)
    assert len(x) <= 5 * 500
    assert {9.0, -9.0, 8.0} <= set(y)
    assert (x[0], x[-1]) == (time[0], time[-1])
    assert np.all(np.diff(x) > 0)
    assert np.isin(x, time).all()


def test_decimation_leaves_a_short_series_alone():
    time = np.arange(100.0)
    x, y = decimate(time, time**2, buckets=25)
    assert x is time
    np.testing.assert_array_equal(y, time**2)


def test_decimation_keeps_gaps():
    values = np.ones(10_000)
    values[1234] = np.nan
    values[5000:6000] = np.nan
    x, y = decimate(np.arange(10_000.0), values, buckets=100)
    assert 1234.0 in x
    assert np.isnan(y).sum() >= 11
    assert np.nanmax(y) == 1.0


def test_signals_share_time_and_have_units():
    time = np.linspace(0.0, 1.0, 20)
    curves = [Curve("exact", time, time), Curve("plain", time, time)]
    figure = plot_signals(
        [Panel("Position [m]", curves), Panel("Force [N]", [Curve("only", time, -time)])], "Capture"
    )
    upper, lower = figure.axes
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("Position [m]", "Force [N]")
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("", "Time [s]")
    assert upper.get_shared_x_axes().joined(upper, lower)
    assert [text.get_text() for text in upper.get_legend().get_texts()] == ["exact", "plain"]
    assert lower.get_legend() is None


def test_coincident_curves_differ_in_colour_and_dash():
    time = np.linspace(0.0, 1.0, 20)
    figure = plot_signals([Panel("x", [Curve(str(i), time, time) for i in range(len(PALETTE))])])
    lines = figure.axes[0].lines
    assert len({line.get_color() for line in lines}) == len(PALETTE)
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(PALETTE)


def test_own_dash_and_colour_win():
    figure = plot_signals([Panel("x", [Curve("a", [0, 1], [0, 1], dash=":", colour="red")])])
    (line,) = figure.axes[0].lines
    assert (line.get_linestyle(), line.get_color()) == (":", "red")


def test_sweep_has_markers_references_and_logarithms():
    curves = [
        Curve("found", [1, 2, 4], [1, 2, 4], band=([1, 1, 3], [1, 3, 5])),
        Curve("theory", [1, 4], [1, 4], is_expected=True),
    ]
    lines = [Reference(3.0, "limit"), Reference(2.0, "rig", axis="x")]
    panel = Panel("error [1/s]", curves, lines)
    figure = draw_plot(Plot("points", [panel], xlabel="H [ms]", log="xy"))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert texts(figure) == ["theory", "found", "limit", "rig"]
    theory, found = axes.lines[:2]
    assert theory.get_marker() in {"None", ""}
    assert found.get_marker() == "o"
    assert len(axes.collections) == 1  # the band


def test_places_of_points_may_have_names():
    panel = Panel("y", [Curve("a", [0, 1], [2, 3])], limits=(0, 5))
    (axes,) = draw_plot(Plot("points", [panel], ticks=([0, 1], ["slow", "$fast"]))).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["slow", "\\$fast"]
    assert axes.get_ylim() == (0, 5)


def test_panels_of_points_have_axes_of_their_own():
    curve = Curve("a", [0, 1], [2, 3], is_expected=True)
    panels = [Panel("y", [curve], xlabel=label) for label in ("b", "h")]
    axes = draw_plot(Plot("points", panels, xlabel="none", columns=2)).axes
    assert [axis.get_xlabel() for axis in axes] == ["b", "h"]


def test_labels_are_shown_as_they_are():
    hostile = ["$\\frac$", "_hidden", "a\nb"]
    curves = [Curve(text, [0, 1], [0, 1]) for text in hostile]
    figure = draw_plot(Plot("points", [Panel("$\\undefined{$", curves)], "$\\bad$", "$x"))
    assert len(texts(figure)) == 3
    assert picture(figure, "png").startswith(b"\x89PNG")


def test_wrong_plots_are_refused(wording):
    with wording.raises(DescriptionError):
        plot_signals([])
    with wording.raises(DescriptionError):
        plot_signals([Panel("x", [Curve("a", [0, 1], [0, 1, 2])])])
    figure = plot_signals([Panel("x", [])])
    with wording.raises(DescriptionError):
        save(figure, "picture.pdf")


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures_are_reproducible(tmp_path, kind):
    def draw():
        return plot_signals([Panel("x", [Curve("a", [0, 1], [0, 1]), Curve("b", [0, 1], [1, 0])])])

    save(draw(), tmp_path / f"one.{kind}")
    content = (tmp_path / f"one.{kind}").read_bytes()
    assert content == picture(draw(), kind)
    assert b"date" not in content.lower()


def test_a_failed_picture_keeps_the_earlier_one(kept, monkeypatch):
    path = kept("plot.png")
    figure = plot_signals([Panel("x", [])])
    monkeypatch.setattr(figure, "savefig", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(figure, path)
    assert path.read_bytes() == b"earlier"


def test_what_lasts_all_the_time_is_named_and_not_shaded():
    time = np.linspace(0.0, 10.0, 11)
    (axes,) = plot_signals([Panel("x [m]", [Curve("x", time, time)])], spans=[Span("n", 0.0)]).axes
    assert not axes.patches
    assert [text.get_text() for text in axes.texts] == ["n"]


def test_panels_in_columns_share_one_legend():
    time = np.linspace(0.0, 1.0, 11)
    curves = [Curve("found", time, time), Curve("wanted", time, -time)]
    panels = [Panel(f"{name} [m]", curves) for name in "xyz"]
    figure = plot_signals(panels, "Title", columns=2)
    assert [axes.get_ylabel() for axes in figure.axes] == ["x [m]", "y [m]", "z [m]"]
    assert all(axes.get_legend() is None for axes in figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["found", "wanted"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "Time [s]", "Time [s]"]
    left, right = (axes.get_subplotspec().colspan.start for axes in figure.axes[:2])
    assert (left, right) == (0, 1)


def test_limits_and_lines_of_a_panel():
    time = np.linspace(0.0, 1.0, 11)
    panel = Panel("k [N/m]", [Curve("found", time, 99 * time)], [Reference(5.0, "true")], (0, 10))
    figure = plot_signals([panel])
    (axes,) = figure.axes
    assert axes.get_ylim() == (0, 10)
    assert texts(figure) == ["found", "true"]
    assert list(axes.lines[1].get_ydata()) == [5.0, 5.0]


def test_a_path_keeps_its_order_and_its_gaps_with_fewer_points():
    turn = np.linspace(0.0, 4.0 * np.pi, 200_001)  # twice around
    x, y = np.cos(turn), np.sin(turn)
    y[100_000] = np.nan
    axes = plot_path(Curve("loop", x, y)).axes[0]
    drawn_x, drawn_y = axes.lines[0].get_data()
    assert len(drawn_x) < 20_000
    assert np.isnan(drawn_y).sum() == 1
    assert (drawn_x[0], drawn_x[-1]) == (x[0], x[-1])
    angle = np.unwrap(np.arctan2(drawn_y, drawn_x)[np.isfinite(drawn_y)])
    assert np.all(np.diff(angle) > 0)
    assert np.diff(angle).max() < 2 * np.sqrt(2) * 2 / 2000 + 1e-4  # no wider than two cells
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")


def test_a_path_that_stands_still_is_drawn():
    axes = plot_path(Curve("", np.ones(9), np.ones(9))).axes[0]
    assert len(axes.lines[0].get_xdata()) == 2  # the first and the last


def test_marks_of_a_run_are_lines_with_their_text():
    marked = recording(9, marks=(Mark(2, 2_000_000, "touched", "me"),))
    spans = spans_of([marked, recording(9)])
    assert spans == [Span("touched (sway)", 0.002, 0.002)]
    time = np.linspace(0.0, 0.01, 5)
    (axes,) = plot_signals([Panel("x [m]", [Curve("x", time, time)])], spans=spans).axes
    assert [text.get_text() for text in axes.texts] == ["touched (sway)"]
