"""Figures that a page draws: their data, and in a browser what is seen of them."""

import base64
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from orchestrator.core.recording import ParameterRow, Result
from orchestrator.core.simunits import Block, Input, Output
from orchestrator.core.structs import replace
from orchestrator.pictures import plot_maps, report, write_report
from orchestrator.pictures.drawing import Facts, draw_system
from orchestrator.pictures.report import TEMPLATES, PlotData, packed
from orchestrator.study import read_experiment, run_experiment
from orchestrator.study.content import (
    CaseSection,
    Curve,
    FigureItem,
    MapAxis,
    MapLook,
    MapPanel,
    Panel,
    Plot,
    Reference,
    Report,
    Span,
)
from tests.browser import OVERLAPS, browser, needs_chromium
from tests.page_plots import plots_of, unpacked

TIME = np.arange(4001) * 1_000_000 / 1e9
WAVE = np.sin(3.0 * TIME) / 3.0
SPIKED = np.where(np.arange(TIME.size) == 1234, 17.5, WAVE)
HOSTILE = "</script><script>alert(1)</script>"
NODE = shutil.which("node")

ARRAYS = [
    TIME,
    WAVE,
    np.full(9, 0.1),
    np.array([np.nan, 1.0, np.inf, -np.inf]),
    np.full(3, np.inf),
    np.array([0.0, 1.0, 0.0, 1.0]),
    np.array([2.5]),
    np.array([]),
    np.array([1e300, -1e-300]),
    np.array([3e6, 3e6 + 0.25, 3e6 + 0.5]),
]


def page(folder, *plots, **more):
    path = folder / "report.html"
    items = tuple(FigureItem(plot, f"Caption of {plot.title}") for plot in plots)
    written = write_report(Report("Seen", figures=items, **more), path)
    assert written[0] == path
    return written


def two_panels(**more):
    curves = [Curve("wave", TIME, WAVE), Curve("spiked", TIME, SPIKED)]
    panels = [
        Panel("x [m]", curves, [Reference(0.2, "limit")]),
        Panel("force [N]", [Curve("force", TIME, 40.0 * WAVE)], limits=(-20.0, 20.0)),
    ]
    return Plot("time", panels, "Two", spans=[Span("late", 1.0, 2.0)], **more)


@pytest.mark.parametrize("array", ARRAYS, ids=range(len(ARRAYS)))
def test_arrays_are_packed_without_loss(array):
    stored = json.loads(json.dumps(packed(array), allow_nan=False))
    np.testing.assert_array_equal(unpacked(stored), array)


def test_times_and_constants_take_no_room():
    assert len(json.dumps(packed(TIME))) < 60
    assert len(json.dumps(packed(np.zeros(4001)))) < 60


def test_an_array_stands_there_once(tmp_path):
    data = PlotData([two_panels(), two_panels()]).as_json()
    assert len(data["arrays"]) == 4  # the time, and three signals


def test_a_page_gives_back_the_samples(tmp_path):
    page(tmp_path, two_panels())
    upper, lower = plots_of(tmp_path / "report.html")["Two"]["panels"]
    expected = (WAVE, SPIKED, 40.0 * WAVE)
    for curve, values in zip(upper["curves"] + lower["curves"], expected, strict=True):
        np.testing.assert_array_equal(curve["x"], TIME)
        np.testing.assert_array_equal(curve["y"], values)
    assert upper["lines"][0][:3] == ["limit", 0.2, "y"]
    assert lower["limits"] == [-20.0, 20.0]


def test_a_long_curve_keeps_its_peaks_and_says_how_long_it_was(monkeypatch, tmp_path):
    monkeypatch.setattr("orchestrator.pictures.report.LARGEST_CURVE", 500)
    monkeypatch.setattr("orchestrator.pictures.report._LEAST", 500)
    band = Curve("spiked", TIME, SPIKED, band=(SPIKED - 1.0, SPIKED + 1.0))
    path = Curve("ring", np.cos(TIME), SPIKED)
    page(
        tmp_path,
        Plot("time", [Panel("y", [band])], "long"),
        Plot("path", [Panel("y", [path])], "ring"),
    )
    plots = plots_of(tmp_path / "report.html")
    (curve,) = plots["long"]["panels"][0]["curves"]
    assert (curve["count"], len(curve["x"]) <= 500) == (TIME.size, True)
    assert curve["y"].max() == 17.5
    assert curve["x"][curve["y"].argmax()] == TIME[1234]
    np.testing.assert_array_equal(curve["band"][1], curve["y"] + 1.0)
    assert plots["ring"]["panels"][0]["curves"][0]["y"].max() == 17.5


def test_scripts_are_held_to_their_hashes_and_texts_are_text(tmp_path):
    hostile = Plot("time", [Panel(HOSTILE, [Curve(HOSTILE, TIME, WAVE)])], HOSTILE)
    page(tmp_path, hostile)
    text = (tmp_path / "report.html").read_text()
    assert len(re.findall(r"<script", text)) == 3  # the data, uPlot, and our own
    assert HOSTILE not in text
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src &#39;none&#39;" in policy.replace("'", "&#39;")
    assert policy.count("sha256-") == 2
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!data:)', text)


def test_many_samples_stand_beside_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "LARGEST_DATA", 1000)
    plot = two_panels()
    written = page(tmp_path, plot)
    assert [path.name for path in written] == ["report.html", "report.data.js"]
    assert 'src="./report.data.js"' in written[0].read_text()
    upper, _ = plots_of(written[0])["Two"]["panels"]
    np.testing.assert_array_equal(upper["curves"][1]["y"], SPIKED)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_script_unpacks_what_was_packed():
    stored = [packed(array) for array in ARRAYS]
    script = (TEMPLATES / "figure_data.js").read_text() + (
        f"const found = {json.dumps(stored)}.map(unpacked);"
        "const text = (value) => Number.isFinite(value) ? value : String(value);"
        "const view = [...within(found[0], 1.0005, 2.0005), nearest(found[0], 1.2344)];"
        "console.log(JSON.stringify([found.map((array) => [...array].map(text)), view,"
        " extremes(found[3], 0, 4, false), padded([0, 10], 0.05, false),"
        " [0, 0.1, 1234567, 2.5e-7, NaN].map((value) => written(value))]));"
    )
    done = subprocess.run(  # noqa: S603
        [NODE, "-e", script], capture_output=True, text=True, check=True
    )
    arrays, view, extremes, padded, written = json.loads(done.stdout)
    for found, array in zip(arrays, ARRAYS, strict=True):
        np.testing.assert_array_equal([float(value) for value in found], array)
    assert view == [1000, 2002, 1234]
    assert extremes == [1.0, 1.0]
    assert padded == [-0.5, 10.5]
    assert written == ["0", "0.1", "1234570", "2.5e-7", "–"]


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def lit(tab, place):
    """How many pixels of a canvas are not empty."""
    return tab.run(
        f"(() => {{ const c = document.querySelectorAll('canvas')[{place}];"
        " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
        ".filter((value, i) => i % 4 == 3 && value).length; })()"
    )


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_browser_draws_all_kinds_of_figures(tab, tmp_path, width, dark):
    points = [
        Curve("found", [1, 2, 4], [1, 2, 4], "none", band=([0.5, 1, 3], [2, 3, 5])),
        Curve("expected", [1, 4], [1, 4], is_expected=True),
    ]
    gap = np.where(np.abs(TIME - 2.0) < 0.5, np.nan, WAVE)
    plots = [
        two_panels(columns=2),
        Plot("path", [Panel("y", [Curve("", np.cos(TIME), SPIKED)])], "Path", "x [m]"),
        Plot("points", [Panel("e", points, [Reference(2.0, "r", "x")])], "P", "H [ms]", log="xy"),
        Plot("points", [Panel("y", points)], "Named", ticks=([1, 2, 4], ["a", "b", "c"])),
        Plot("time", [Panel("y", [Curve("gap", TIME, gap)])], "Gap"),
        Plot("time", [Panel("y", [Curve("none", [], [])])], "None"),
    ]
    tab.errors.clear()
    tab.requests.clear()
    page(tmp_path, *plots)
    tab.show(tmp_path / "report.html", width, 5000, dark=dark)
    assert tab.errors == []
    assert tab.requests == [(tmp_path / "report.html").as_uri()]
    assert tab.run("document.querySelectorAll('canvas').length") == 7
    assert all(lit(tab, place) > 1000 for place in range(6))
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run(OVERLAPS) == []


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_a_chart_is_drawn_in_a_cell_of_a_notebook(tab, tmp_path, width, dark):
    names = ("a.x", "b.f", "b.y")
    values = np.stack([WAVE, SPIKED, -WAVE], axis=1)
    time_ns = np.rint(TIME * 1e9).astype(np.int64)
    chart = Result("cell", time_ns, names, values, {"b.f": "N"}).chart()
    cell = f"<!DOCTYPE html><meta charset='utf-8'>{chart._repr_html_()}"
    for name, content in (("page", chart.html), ("cell", cell)):
        file = tmp_path / f"{name}.html"
        file.write_text(content)
        tab.errors.clear()
        tab.requests.clear()
        tab.show(file, width, 800, dark=dark)
        assert (tab.errors, tab.requests) == ([], [file.as_uri()])
        if name == "page":
            assert tab.run("document.querySelectorAll('canvas').length") == 2
            assert lit(tab, 0) > 1000
            assert tab.run(OVERLAPS) == []
            bottom = "document.querySelector('.chart').getBoundingClientRect().bottom"
            assert tab.run(bottom) <= chart.height
    assert tab.run("document.querySelector('iframe').clientHeight") == chart.height


HELD = """
[system]
name = "held"
[component.body]
source = "block:ramp"
[component."<b>"]
source = "block:ramp"
values = { u = 1.0 }
[connections]
"<b>.y -> body.u" = { delay = "3 ms" }
"""
TWO_CASES = """
title = "Two"
[defaults]
step = "1 ms"
stop = "5 ms"
[case.one]
system = "system.toml"
[case.two]
system = "system.toml"
set = { "<b>.u" = 2.0 }
"""


class Ramp(Block):
    """Goes up and comes down."""

    u: float = Input(unit="m")
    y: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.y = self.u * (3.0 - abs(t + h - 0.003) * 1e3)


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(1400, True), (390, False)])
def test_the_lines_of_a_diagram_have_values_of_each_case(tab, tmp_path, register, width, dark):
    register(ramp=Ramp)
    (tmp_path / "system.toml").write_text(HELD)
    (tmp_path / "experiment.toml").write_text(TWO_CASES)
    experiment = read_experiment(tmp_path / "experiment.toml")
    run_experiment(experiment, tmp_path, tmp_path / "out")
    bare = re.sub(
        r"<script>.*?</script>", "", (tmp_path / "out/report.html").read_text(), flags=re.DOTALL
    )
    assert ">3 ms 1<" in bare  # without a script, too
    tab.errors.clear()
    tab.show(tmp_path / "out/report.html", width, dark=dark)
    said = "[...document.querySelectorAll('.wire text')].at(-1).textContent"

    def chosen(place, value):
        tab.run(
            f"(() => {{ const one = document.querySelectorAll('.chosen select')[{place}];"
            f" one.value = {value!r}; one.dispatchEvent(new Event('change')); }})()"
        )
        return tab.run(said)

    assert tab.run(said) == "3 ms 1"
    assert chosen(1, "greatest") == "3 ms 3"
    assert chosen(0, "two") == "3 ms 6"
    assert chosen(1, "least") == "3 ms 0"
    title = "document.querySelector('.wire title').textContent"
    assert tab.run(title).splitlines() == ["<b>.y", "last 2", "least 0", "greatest 6"]
    assert tab.run(OVERLAPS) == []
    unreached = "[...document.querySelectorAll('body *')].filter((n) => n.tabIndex < 0"
    unreached += " && n.scrollWidth > n.clientWidth && getComputedStyle(n).overflowX == 'auto')"
    assert tab.run(f"{unreached}.map((n) => n.className)") == []  # keys scroll what has focus
    assert tab.errors == []


@needs_chromium
def test_the_lines_of_a_diagram_follow_the_slider(tab, tmp_path, register):
    register(ramp=Ramp)
    (tmp_path / "system.toml").write_text(HELD)
    (tmp_path / "experiment.toml").write_text(TWO_CASES)
    experiment = read_experiment(tmp_path / "experiment.toml")
    outcome = run_experiment(experiment, tmp_path, tmp_path / "out")
    values = outcome.cases["two"].result["<b>.y"].tolist()
    assert values == [0.0, 2.0, 4.0, 6.0, 4.0, 2.0]  # each ms
    tab.errors.clear()
    tab.show(tmp_path / "out/report.html", 1400)
    slider, case = ".at-time input", ".chosen select"

    def moved(element, value, event):
        tab.run(
            f"(() => {{ const one = document.querySelector('{element}'); one.value = {value!r};"
            f" one.dispatchEvent(new Event('{event}')); }})()"
        )
        return tab.run("[...document.querySelectorAll('.wire text')].at(-1).textContent")

    at_one = [moved(slider, 200 * i, "input") for i in range(6)]
    assert at_one == [f"3 ms {value / 2:g}" for value in values]
    assert moved(slider, 600, "input") == "3 ms 3"
    assert moved(case, "two", "change") == "3 ms 6"  # of the same time
    assert tab.run("document.querySelector('.chosen output').textContent") == "values at 0.003 s"
    assert tab.errors == []


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_a_slider_shows_one_time_in_all_figures(tab, tmp_path, width, dark):
    plot = Plot("time", [Panel("y [N]", [Curve("late", TIME[2000:], WAVE[2000:])])], "Late")
    path = Plot("path", [Panel("y", [Curve("", np.cos(TIME), WAVE)])], "Path", "x [m]")
    page(tmp_path, two_panels(), plot, path)
    tab.errors.clear()
    tab.show(tmp_path / "report.html", width, 200, dark=dark)
    slider = "document.querySelector('.at-time input')"

    def read():
        values = "[...document.querySelectorAll('.value')].map((one) => one.textContent)"
        return tab.run(values), tab.run("document.querySelector('.at-time output').textContent")

    def shown(share):
        tab.run(f"{slider}.value = {share}; {slider}.dispatchEvent(new Event('input'))")
        tab.frame()
        return read()

    seen, _ = shown(750)  # of 0 to 4 s
    metrics = {"width": width, "height": 5000, "deviceScaleFactor": 1, "mobile": width < 500}
    tab.call("Emulation.setDeviceMetricsOverride", **metrics)
    tab.until(f"document.querySelectorAll('.value').length > {len(seen)}")
    tab.frame()
    values, time = read()
    assert values[3]  # of a figure that came into view later
    near = [f"{float(WAVE[i]):.6g}" for i in range(2990, 3011)]  # a pixel is some samples
    assert time == "3 s"
    assert values[0].removesuffix(" m") in near
    assert values[3].removesuffix(" N") in near
    values, _ = shown(250)
    assert values[0]
    assert values[3] == ""  # it has not begun
    assert tab.run(OVERLAPS) == []
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.errors == []
    tab.picture(tmp_path / "seen.png")


@needs_chromium
def test_figures_show_values_and_zoom_and_curves_go_and_come(tab, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "LARGEST_DATA", 1000)  # the samples stand beside the page
    page(tmp_path, two_panels())
    tab.errors.clear()
    tab.show(tmp_path / "report.html")

    def key(name):
        tab.run("document.querySelector('.uplot').focus()")
        tab.call("Input.dispatchKeyEvent", type="keyDown", key=name)
        tab.frame()

    def shown(of):
        return tab.run(f"[...document.querySelectorAll('{of}')].map((one) => one.textContent)")

    key("Home")
    key("End")
    values = shown(".value")
    assert values[0] == f"{WAVE[-1]:.6g} m"
    assert values[2] == f"{40.0 * WAVE[-1]:.6g} N"  # panels show the same time
    assert shown(".readout") == ["Time 4 s"]
    begin = lit(tab, 0)
    key("+")
    assert lit(tab, 0) != begin
    key("0")
    assert lit(tab, 0) == begin
    tab.run("document.querySelectorAll('.entry')[1].click()")
    tab.frame()
    pressed = "document.querySelectorAll('.entry')[1].getAttribute('aria-pressed')"
    assert tab.run(pressed) == "false"
    assert tab.errors == []


@needs_chromium
@pytest.mark.parametrize("count", [1, 4])
def test_maps_fit_a_phone(tab, tmp_path, count):
    panels = [MapPanel(f"panel {i}", np.eye(3)) for i in range(count)]
    axis = MapAxis("X [m]", (1.0, 2.0, 3.0))
    wide = plot_maps(panels, axis, axis, MapLook("Z"), "Maps")
    narrow = wide if count == 1 else plot_maps(panels, axis, axis, MapLook("Z"), "Maps", 1)
    path = tmp_path / "report.html"
    write_report(Report("Maps", figures=(FigureItem(wide, "maps", narrow=narrow),)), path)
    seen = {}
    for width in (1366, 390):
        tab.show(path, width)
        one = "document.querySelector('.picture img')"
        tab.until(f"{one}.complete && {one}.naturalWidth > 0")
        size = tab.run(f"[{one}.naturalWidth, {one}.clientWidth, {one}.clientHeight]")
        seen[width] = size
        assert tab.run("document.querySelector('.picture').scrollWidth") <= width
    natural, shown, _ = seen[390]
    assert shown > 0.7 * natural  # its text keeps its size
    assert (seen[1366][0] > natural) == (count > 1)


#: Elements of a page whose figures are drawn for paper that reach beyond its width.
CUT = """[...document.querySelectorAll("main *")].filter((node) => node.checkVisibility()
  && node.getBoundingClientRect().right > innerWidth + 1).map((node) => node.outerHTML)"""


def printed(tab, width, height):
    """Print to PDF and return its number of pages; sizes are in inches."""
    answer = tab.call("Page.printToPDF", paperWidth=width, paperHeight=height)
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(answer["data"])))


@needs_chromium
@pytest.mark.parametrize(("width", "height"), [(8.5, 11), (8.27, 11.69)])
def test_a_report_is_printed_with_two_figures_in_a_row(tab, tmp_path, capture, width, height):
    row = ParameterRow("a", "m", tuple(1e-3 * i for i in range(500)), "kg", "Masses")
    wide = replace(draw_system(capture, Facts()), width=3000.0)
    cases = tuple(CaseSection(f"c{i}", parameters=(row,)) for i in range(12))
    more = {"cases": cases, "diagrams": (FigureItem(wide, "wide"),)}
    page(tmp_path, *[replace(two_panels(), title=f"Two {i}") for i in range(9)], **more)
    tab.errors.clear()
    tab.show(tmp_path / "report.html", 1366, 768)
    # head and first figure; eight in four rows, two rows a page; cases and diagram; origin
    assert printed(tab, width, height) <= 5
    dots = [lit(tab, place) for place in range(18)]
    assert min(dots) > 1000  # on the screen they are as before
    tab.run("document.querySelector('.unfold').click()")
    assert tab.run("[...document.querySelectorAll('details')].every((one) => one.open)")
    tab.run("dispatchEvent(new Event('beforeprint'))")
    paper = {"width": round(96 * width - 91), "height": 900}
    tab.call("Emulation.setDeviceMetricsOverride", **paper, deviceScaleFactor=1, mobile=False)
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.frame()
    assert tab.run(CUT) == []
    high = "[...document.querySelectorAll('figure')].map((one) => one.clientHeight)"
    assert max(tab.run(high)) < 870
    tab.call("Emulation.setEmulatedMedia", media="")
    tab.run("dispatchEvent(new Event('afterprint'))")
    assert tab.errors == []


def test_a_page_without_such_figures_has_no_script(tmp_path):
    page(tmp_path, cases=(CaseSection("a"),))
    assert "<script" not in (tmp_path / "report.html").read_text()
