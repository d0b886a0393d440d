"""Tables and bars of a notebook."""

import sys
from types import SimpleNamespace

import pytest

from orchestrator import System, fmu, simulate, sweep
from orchestrator.core import notebook
from orchestrator.core.notebook import Listed, Page, html_table, progress_bar, text_table


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
    monkeypatch.setattr(notebook, "time", SimpleNamespace(monotonic=lambda: now[0]))
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
    monkeypatch.setattr(notebook, "_PATIENCE", 0.0)
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
