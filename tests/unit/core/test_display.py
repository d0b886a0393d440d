"""Tables and bars of a notebook."""

import sys
from types import SimpleNamespace

import pytest

from orchestrator import (
    Component,
    Source,
    System,
    draw_system,
    fmu,
    read_experiment,
    read_system,
    run_experiment,
    simulate,
    sweep,
)
from orchestrator.core import display
from orchestrator.core.display import Listed, Page, html_table, progress_bar, text_table
from orchestrator.loops import linear_system


class Pairs(Listed[tuple[str, str]]):
    columns = ("name", "value")

    @staticmethod
    def cells(item):
        return item


def test_a_table_is_text_and_html():
    pairs = Pairs([("a", "1"), ("b<c>", "10")])
    assert repr(pairs).splitlines() == ["name  value", "a         1", "b<c>     10"]
    assert "<td>b&lt;c&gt;</td>" in pairs._repr_html_()
    assert (pairs, repr(Pairs())) == ((("a", "1"), ("b<c>", "10")), "()")
    many = Pairs([(str(i), "x") for i in range(200)])
    assert repr(many).splitlines()[-2:] == ["19        x", "and 180 more"]
    assert many._repr_html_().count("<tr>") == 21
    assert many._repr_html_().endswith("<p>and 180 more</p>")
    assert text_table(("x",), []) == "x"
    assert html_table(("x",), []) == "<table><tr><th>x</th></tr></table>"


def test_a_page_stands_in_a_frame_that_no_text_leaves():
    shown = Page('<p title="a">&quot;</p>', '"b"', 20)._repr_html_()
    assert 'srcdoc="&lt;p title=&quot;a&quot;&gt;&amp;quot;&lt;/p&gt;"' in shown
    assert 'title="&quot;b&quot;"' in shown
    assert 'sandbox="allow-scripts"' in shown


def test_elsewhere_there_is_no_bar(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    with progress_bar("run") as bar:
        assert bar is None


@pytest.fixture
def cell(monkeypatch):
    """What a kernel was told to show."""
    shown = []

    def display(content, **given):
        shown.append(content)
        return SimpleNamespace(update=lambda later, raw: shown.append(later))

    shell = SimpleNamespace(kernel=object())
    fake = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake.display)
    return shown


def test_a_bar_comes_when_it_takes_long_and_goes(cell, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(display, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with progress_bar("run <b>") as bar:
        bar(0.1)
        assert cell == []
        for share in (0.2, 0.3, 1.5):
            now[0] += 1.0
            bar(share)
            bar(share)
    said = [f"run <b>: {share}%" for share in (20, 30, 100)]
    assert [one["text/plain"] for one in cell] == [*said, ""]
    assert 'value="0.2000"' in cell[0]["text/html"]
    assert "run &lt;b&gt;" in cell[0]["text/html"]
    assert cell[-1]["text/html"] == ""


def test_a_run_and_a_sweep_show_it(cell, monkeypatch, small_fmu):
    monkeypatch.setattr(display, "_PATIENCE", 0.0)
    system = System("s").add("a", fmu(small_fmu("crash_on_demand")), u=1.0)
    how = {"step": "100 ms", "stop": "1 s"}
    simulate(system, **how)
    assert cell[0]["text/plain"].startswith("s: ")
    cell.clear()
    sweep(system, {"a.u": [1.0, 2.0]}, **how)
    assert cell[0]["text/plain"] == "sweep of s: 50%"
    cell.clear()
    simulate(system, progress=lambda _share: None, **how)
    assert cell == []


def test_an_experiment_shows_which_of_its_cases_goes_on(cell, monkeypatch, tmp_path):
    monkeypatch.setattr(display, "_PATIENCE", 0.0)
    monkeypatch.setattr(display, "_PERIOD", 0.0)
    (tmp_path / "system.toml").write_text(
        '[system]\nname = "one"\n[component.a]\nsource = "block:virtual_damper"\n'
        "values = { velocity = 1.0 }\n"
    )
    (tmp_path / "experiment.toml").write_text(
        'title = "Two"\n[defaults]\nstep = "1 ms"\nstop = "1 s"\n'
        '[case.first]\nsystem = "system.toml"\n[case.second]\nsystem = "system.toml"\n'
    )
    experiment = read_experiment(tmp_path / "experiment.toml")
    run_experiment(experiment, tmp_path, tmp_path / "out")
    said = [one["text/plain"] for one in cell]
    assert "Two: first: 100%" in said
    assert "Two: second: 100%" in said
    assert said[-1] == ""
    cell.clear()
    run_experiment(experiment, tmp_path, tmp_path / "out", progress=lambda _job, _share: None)
    assert cell == []


@pytest.fixture
def ideal(plants):
    return read_system(plants.parent.parent / "examples" / "epos" / "ideal.ssd")


def test_a_system_is_its_block_diagram_with_its_loops(ideal):
    shown = ideal._repr_svg_()
    assert shown.startswith("<?xml")
    assert "Loop chaser → contact → chaser" in shown
    assert draw_system(ideal)._repr_svg_().startswith("<?xml")


def test_a_large_system_is_its_text_in_a_notebook():
    system = System("chain", {f"c{i}": Component("c", Source.parse("a.fmu")) for i in range(61)})
    assert system._repr_svg_() is None
    assert "61 components" in repr(system)
    assert 'draw_system(system).save("chain.svg") draws all of it' in repr(system)


def test_one_that_cannot_be_drawn_is_its_text():
    lost = System("s", {"a": Component("a", Source.parse("no-such-file.fmu"))})
    assert lost._repr_svg_() is None
    assert "no-such-file.fmu" in repr(lost)


def test_loops_and_delays_are_tables(ideal):
    result = simulate(ideal, stop="10 ms")
    assert repr(result.loops).splitlines()[1].split() == [
        "chaser", "→", "contact", "→", "chaser", "0", "0", "0"
    ]  # fmt: skip
    assert "<td>chaser → contact → chaser</td>" in result._repr_html_()
    assert "<td>0.5</td>" in result.plans._repr_html_()
    for one in (result.loops[0], result.plans[0]):
        assert len(repr(one).splitlines()) == 2
        assert one._repr_html_().count("<tr>") == 2


def test_a_linear_system_shows_its_modes(ideal):
    linear = linear_system(ideal)
    assert repr(linear) == "LinearSystem 'ideal': 3 components, gauss-seidel, step 1 ms"
    (account,) = linear.loop_accounts()
    frequency = f"{account.modes[0].frequency:.6g}"
    for shown in (linear._repr_html_(), account._repr_html_()):
        assert f"<td>{frequency}</td>" in shown
    assert repr(account).splitlines()[0] == "loop of chaser, target, contact"
