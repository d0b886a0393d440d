"""Pictures of an experiment: what is drawn, and what the report has of it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.simunits import Block, Output, block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.pictures.figures import plot_of
from orchestrator.pictures.panels import default_plots
from orchestrator.pictures.report_page import device_table
from orchestrator.study import read_experiment, run_experiment
from tests.page_plots import plots_of

from .conftest import GOOD, experiment


def run(folder, text=GOOD, **options):
    read = read_experiment(experiment(folder, text))
    return run_experiment(read, folder, folder / "out", **options)


def test_a_diagram_is_titled_by_the_cases_that_it_shows(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    later = fuse().connect("fuse.y", "fuse.u", delay="0.2 s")
    write_ssd(later, tmp_path / "late.ssd")
    run(tmp_path, GOOD + '[case.c]\nsystem = "late.ssd"\n')
    text = (tmp_path / "out" / "report.html").read_text()
    drawn = re.findall(r'<svg role="img".*?</svg>', text, re.DOTALL)
    titles = [re.search(r'font-weight="bold" fill="#\w+">([^<]*)<', one)[1] for one in drawn]
    assert titles == ["a, b", "c"]


def test_a_plain_run_draws_no_file_and_imports_no_matplotlib(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    outcome = run(tmp_path)
    assert not (tmp_path / "out" / "figures").exists()
    assert {path.suffix for path in outcome.files} == {".html", ".json", ".parquet"}


def test_the_page_has_all_samples_of_a_default_figure(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    outcome = run(tmp_path)
    plots = plots_of(tmp_path / "out" / "report.html")
    for name, case in outcome.cases.items():
        (panel,) = plots[name]["panels"]
        for curve in panel["curves"]:
            np.testing.assert_array_equal(curve["x"], case.result.time)
            np.testing.assert_array_equal(curve["y"], case.result[curve["label"]])


def test_the_report_says_how_samples_of_devices_were():
    names = ("robot.sample_age", "robot.valid", "robot.lost", "ft.late", "ft.force")
    values = np.array(
        [[0.0, 0, 0, 0, 9], [0.004, 1, 0, 1, 9], [np.nan, 1, 2, 1, 9], [0.001, 1, 2, 5, 9]]
    )
    result = Result("rig", np.arange(4), names, values)
    table = device_table(result)
    assert table.columns[:3] == ("device", "valid [% of rows]", "greatest age [ms]")
    assert table.rows == (
        ("robot", 75.0, 4.0, 2.0, None, None, None, None),
        ("ft", None, None, None, 5.0, None, None, None),
    )
    assert device_table(result.part(("ft.force",), 1)) is None
    spring = block("spring_dashpot")
    of_a_block = System("s").add("robot", spring).add("ft", spring)
    assert device_table(replace(result, system=of_a_block)) is None


@pytest.mark.slow
def test_figures_are_drawn_when_asked_and_go_when_they_are_no_longer_true(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    outcome = run(tmp_path, figures=True)
    figures = tmp_path / "out" / "figures"
    names = {f"{name}{end}" for name in ("a", "b", "system-a") for end in (".png", ".svg")}
    assert {path.name for path in figures.iterdir()} == names
    assert names <= {path.name for path in outcome.files}
    assert (figures / "a.png").read_bytes().startswith(b"\x89PNG")
    (figures / "mine.txt").write_text("kept")
    drawn = {path.name: path.stat().st_ino for path in figures.glob("*.*g")}
    run(tmp_path, figures=True)  # the same data: files are taken, not drawn
    assert {path.name: path.stat().st_ino for path in figures.glob("*.*g")} == drawn
    run(tmp_path)
    assert [path.name for path in figures.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_many_signals_are_drawn_by_component(register, tmp_path):
    class Vectors(Block):
        a: list[float] = Output(unit="m", shape=(9,))
        b: list[float] = Output(unit="m", shape=(3,))
        c: list[float] = Output(unit="m", shape=(4,))

        def step(self, t, h):
            self.a[:] = t

    register(vectors=Vectors)
    system = System("s")
    for name in "abcdef":
        system = system.add(name, block("vectors"))
    write_ssd(system, tmp_path / "fused.ssd", version="2.0")
    outcome = run_experiment(
        read_experiment(experiment(tmp_path, GOOD)), tmp_path, tmp_path / "out"
    )
    drawn = default_plots(outcome.cases["a"].result)
    assert list(drawn) == [f"a-{name}" for name in "abcdef"]
    # Nine elements make two panels; three and four share one of seven.
    assert [len(panel.curves) for panel in drawn["a-c"][0].panels] == [7, 2, 7]
    plots = plots_of(tmp_path / "out" / "report.html")
    assert [f"a: {name}" for name in "abcdef"] == [title for title in plots if title[0] == "a"]


def test_a_system_without_numbers_has_a_report_and_no_figure(register, tmp_path):
    class Told(Block):
        word: str = Output(start="ready")

        def step(self, t, h):
            self.word = f"at {t:g}"

    register(told=Told)
    write_ssd(System("s").add("a", block("told")), tmp_path / "fused.ssd")
    run_experiment(read_experiment(experiment(tmp_path, GOOD)), tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000
    assert "data-figure" not in (tmp_path / "out" / "report.html").read_text()


def test_a_curve_is_what_differs_between_two_cases(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    curve = (
        '{ case = "a", signal = "fuse.y", label = "d", minus = { case = "b", signal = "fuse.y" } }'
    )
    text = GOOD.replace("every = 2", 'title = "again"') + (
        '[figure.f]\nkind = "time"\ntitle = "t"\nfrom = 0.2\nuntil = 0.8\n'
        f'panels = [{{ ylabel = "y", ylim = [-1, 1], curves = [{curve}] }}]\n'
    )
    read = read_experiment(experiment(tmp_path, text))
    outcome = run_experiment(read, tmp_path, tmp_path / "out")
    (panel,) = plot_of(read.figure["f"], outcome).panels
    times, values = panel.curves[0].points()
    np.testing.assert_allclose(times, np.arange(2, 9) * 0.1, atol=1e-12)
    assert not values.any()
    assert list(plots_of(tmp_path / "out" / "report.html")) == ["t"]


def test_a_signal_is_drawn_over_another_within_the_window(fuse, tmp_path, wording):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    curve = '{ case = "a", x = "fuse.y", y = "fuse.y", label = "", x_factor = -1, y_factor = 2 }'
    text = GOOD.replace("every = 2", 'title = "again"') + (
        '[figure.f]\nkind = "phase"\ntitle = "t"\nxlabel = "x"\nylabel = "y"\n'
        f"from = 0.2\nuntil = 0.8\ncurves = [{curve}]\n"
    )
    read = read_experiment(experiment(tmp_path, text))
    outcome = run_experiment(read, tmp_path, tmp_path / "out")
    (panel,) = plot_of(read.figure["f"], outcome).panels
    x, y = panel.curves[0].points()
    kept = outcome.cases["a"].result["fuse.y"][2:9]
    np.testing.assert_array_equal(x[[0, -1]], -kept[[0, -1]])
    np.testing.assert_array_equal(y, -2 * x)
    wrong = text.replace('x = "fuse.y"', 'x = "fuse.z"')
    with wording.raises(DescriptionError, code="EXP102", key="figure.f"):
        run_experiment(read_experiment(experiment(tmp_path, wrong)), tmp_path, tmp_path / "again")
    missing = text.replace('case = "a", x', 'case = "none", x')
    with wording.raises(DescriptionError, code="EXP101", key="figure.f"):
        read_experiment(experiment(tmp_path, missing))
