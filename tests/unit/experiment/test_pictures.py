"""Pictures of an experiment: what is drawn, and what the report has of it."""

import base64

import numpy as np
import pytest
from lxml import etree

from orchestrator.diagnostics import DescriptionError
from orchestrator.experiment import read_experiment, run_experiment
from orchestrator.experiment.output.default_figures import default_figures
from orchestrator.experiment.output.figures import draw
from orchestrator.simunits import Block, Output, block
from orchestrator.ssp import write_ssd
from orchestrator.system import System

from .conftest import GOOD, experiment


@pytest.mark.usefixtures("no_pictures")
def test_a_diagram_is_titled_by_the_cases_that_it_shows(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    later = fuse().connect("fuse.y", "fuse.u", delay="0.2 s")
    write_ssd(later, tmp_path / "late.ssd")
    text = GOOD + '[case.c]\nsystem = "late.ssd"\n'
    run_experiment(read_experiment(experiment(tmp_path, text)), tmp_path, tmp_path / "out")
    pictures = sorted((tmp_path / "out" / "figures").glob("system-*.svg"))
    titles = [etree.parse(path).findtext("{*}title") for path in pictures]
    assert titles == ["a, b", "c"]


def test_a_default_figure_is_drawn_without_any(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    run_experiment(read_experiment(experiment(tmp_path, GOOD)), tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(("largest", "embedded"), [(400_000, "a.svg"), (1000, "a.png")])
def test_the_report_has_the_picture_that_was_written(
    fuse, tmp_path, monkeypatch, largest, embedded
):
    monkeypatch.setattr("orchestrator.experiment.output.files.LARGEST_SVG", largest)
    write_ssd(fuse(), tmp_path / "fused.ssd")
    run_experiment(read_experiment(experiment(tmp_path, GOOD)), tmp_path, tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text()
    for name in ("a.svg", "a.png"):
        content = (tmp_path / "out" / "figures" / name).read_bytes()
        assert (base64.b64encode(content).decode() in report) == (name == embedded)


@pytest.mark.slow
def test_many_signals_are_drawn_by_component(register, tmp_path, no_pictures):
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
    drawn = default_figures(outcome.cases["a"].result)
    assert list(drawn) == [f"a-{name}" for name in "abcdef"]
    # Nine elements make two panels; three and four share one of seven.
    assert [len(panel.curves) for panel in drawn["a-c"].panels] == [7, 2, 7]
    for name in drawn:
        assert (tmp_path / "out" / "figures" / f"{name}.png").is_file()


def test_a_system_without_numbers_has_a_report_and_no_figure(register, tmp_path):
    class Told(Block):
        word: str = Output(start="ready")

        def step(self, t, h):
            self.word = f"at {t:g}"

    register(told=Told)
    write_ssd(System("s").add("a", block("told")), tmp_path / "fused.ssd")
    run_experiment(read_experiment(experiment(tmp_path, GOOD)), tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000
    assert not list((tmp_path / "out" / "figures").glob("a.png"))


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
    (axes,) = draw(read.figure["f"], outcome).axes
    times, values = axes.lines[0].get_data()
    np.testing.assert_allclose(times, np.arange(2, 9) * 0.1, atol=1e-12)
    assert not values.any()
    assert (tmp_path / "out" / "figures" / "f.png").is_file()


def test_a_signal_is_drawn_over_another_within_the_window(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    curve = '{ case = "a", x = "fuse.y", y = "fuse.y", label = "", x_factor = -1, y_factor = 2 }'
    text = GOOD.replace("every = 2", 'title = "again"') + (
        '[figure.f]\nkind = "phase"\ntitle = "t"\nxlabel = "x"\nylabel = "y"\n'
        f"from = 0.2\nuntil = 0.8\ncurves = [{curve}]\n"
    )
    read = read_experiment(experiment(tmp_path, text))
    outcome = run_experiment(read, tmp_path, tmp_path / "out")
    (axes,) = draw(read.figure["f"], outcome).axes
    x, y = axes.lines[0].get_data()
    kept = outcome.cases["a"].result["fuse.y"][2:9]
    np.testing.assert_array_equal(x[[0, -1]], -kept[[0, -1]])
    np.testing.assert_array_equal(y, -2 * x)
    wrong = text.replace('x = "fuse.y"', 'x = "fuse.z"')
    with pytest.raises(DescriptionError, match=r"figure 'f'.*'fuse.z'"):
        run_experiment(read_experiment(experiment(tmp_path, wrong)), tmp_path, tmp_path / "again")
    missing = text.replace('case = "a", x', 'case = "none", x')
    with pytest.raises(DescriptionError, match=r"figure\.f.*none"):
        read_experiment(experiment(tmp_path, missing))
