import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from recorded_runs import equal_steps

from orchestrator import pictures
from orchestrator.core.coupling import DelayMode, LineStatistics, plan_delays
from orchestrator.core.diagnostics import LoadError, SoftdockError
from orchestrator.core.recording import parameters_of
from orchestrator.core.system import closed_loops
from orchestrator.pictures import draw_plot, picture, render_report, write_report
from orchestrator.pictures.drawing import Facts, draw_system
from orchestrator.pictures.report_page import _said_once
from orchestrator.study.content import (
    CaseSection,
    Curve,
    FigureItem,
    FileItem,
    FmuItem,
    Measure,
    Panel,
    Plot,
    Report,
    TableItem,
)

VOID = {"meta", "img", "br", "link", "hr", "input"}
HOSTILE = "\"><script>alert(1)</script>&' onerror=x"


class Checked(HTMLParser):
    """Reads HTML strictly: every element is closed where it must be."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def parsed(text):
    reader = Checked()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def plot(label="a"):
    return Plot("time", [Panel("x [m]", [Curve(label, [0, 1], [0, 1])])], "t")


def figure():
    return draw_plot(plot())


@pytest.fixture
def report(result, capture):
    case = CaseSection.of(
        result,
        description="At rest.\n\nThrust 10 N.",
        measures=(Measure("peak force", 31.8654321, "N"), Measure("outcome", "captured")),
        figures=(FigureItem(figure(), "Position of the chaser"),),
    )
    section = CaseSection(
        "second", measures=(Measure("peak force", float("nan"), "N"),), remarks=("Failed",)
    )
    return Report(
        "Capture",
        "Two cases.",
        (case, section),
        diagrams=(
            FigureItem(draw_system(capture, Facts(result.loops)), "The system", "chaser, sheet"),
        ),
        parameters=parameters_of(capture),
        fmus=(FmuItem("chaser", "Body.fmu", "{8c4e810f}", "rumoca"),),
        files=(FileItem(Path("run one.csv"), "signals"), FileItem(Path("/data/run.parquet"))),
        created="2026-01-01",
    )


def test_report_is_one_well_formed_file_without_requests(report, tmp_path):
    write_report(report, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = parsed(text)
    assert not re.search(r"https?://|src=\"(?!data:)|@import|url\(", text)
    assert not {"script", "iframe", "object", "link"} & {tag for tag, _ in page.elements}
    links = [a["href"] for tag, a in page.elements if tag == "a"]
    anchors = {a["id"] for _, a in page.elements if "id" in a}
    assert all(link[1:] in anchors for link in links if link.startswith("#"))
    assert [link for link in links if not link.startswith("#")] == ["./run%20one.csv"]


def test_report_is_accessible(report):
    page = parsed(render_report(report))
    assert all(a["alt"] for tag, a in page.elements if tag == "img")
    assert all(a.get("scope") for tag, a in page.elements if tag == "th")
    assert ("html", {"lang": "en"}) in page.elements
    assert "chaser, sheet" in [a["aria-label"] for tag, a in page.elements if tag == "svg"]


def test_report_says_what_it_must(report):
    text = " ".join(parsed(render_report(report)).words)
    for words in (
        "gauss-seidel", "plain", "31.865", "peak force", "[N]", "captured", "Failed", "–",
        "chaser → sheet → chaser", "assumed", "Body.fmu", "{8c4e810f}", "rumoca", "numpy",
        "750", "kg", "default", "/data/run.parquet", "signals", "There is no loop".lower(),
    ):  # fmt: skip
        assert words in text, words


def test_samples_of_lines_are_told(result):
    line = LineStatistics(sent=200, dropped=10, late=50, held=3, oldest_ns=21_500_000)
    case = CaseSection.of(replace(result, line_statistics={"a.y -> b.u": line}))
    words = " ".join(parsed(render_report(Report("R", cases=(case,)))).words)
    assert "Samples on the lines" in words
    assert "a.y -> b.u 200 10 (5 %) 50 (25 %) 3 21.5" in words
    bare = " ".join(parsed(render_report(Report("R", cases=(CaseSection.of(result),)))).words)
    assert "Samples on the lines" not in bare


def test_extrapolation_is_said(capture, result):
    loops = closed_loops(capture.with_delay("chaser.position", "sheet.position_a", 0.0))
    lines = capture.with_delay("chaser.position", "sheet.position_a", 0.0).connections
    plans, delays = plan_delays(
        lines, loops, DelayMode.MEAN, lambda _: equal_steps(4_000_000, before=False)
    )
    case = CaseSection("ahead", loops=tuple(delays), plans=tuple(plans.values()))
    assert max(plan.extrapolation_ns for plan in plans.values()) > 0
    text = " ".join(parsed(render_report(Report("r", cases=(case,)))).words)
    assert re.search(r"chaser\.position by \d+ ms", text)


def test_hostile_text_is_escaped(tmp_path, result, capture):
    case = CaseSection(
        HOSTILE,
        HOSTILE,
        algorithm=HOSTILE,
        measures=(Measure(HOSTILE, HOSTILE, HOSTILE),),
        remarks=(HOSTILE,),
        loops=result.loops,
    )
    rows = parameters_of(capture.replace(capture.component("sheet").with_values({"k": HOSTILE})))
    hostile = Report(
        HOSTILE,
        HOSTILE,
        (case,),
        figures=(FigureItem(figure(), HOSTILE, HOSTILE),),
        parameters=rows,
        versions={HOSTILE: HOSTILE, "softdock": HOSTILE},
        fmus=(FmuItem(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        files=(FileItem(Path(HOSTILE), HOSTILE), FileItem(Path("javascript:alert(1)"))),
        created=HOSTILE,
    )
    page = parsed(render_report(hostile))
    assert "script" not in {tag for tag, _ in page.elements}
    assert not [a for _, a in page.elements if "onerror" in a]
    assert "./javascript%3Aalert%281%29" in [a.get("href") for _, a in page.elements]
    assert HOSTILE in "".join(page.words)


def test_parameters_tell_set_from_default(capture):
    rows = {(row.component, row.name): row for row in parameters_of(capture)}
    assert rows["chaser", "m"].is_set
    assert rows["chaser", "m"].value == 750.0
    assert not rows["sheet", "k"].is_set
    assert (rows["sheet", "k"].value, rows["sheet", "k"].unit) == (1.5, "N/m")
    assert rows["chaser", "thrust"].description == "(input, held)"
    assert ("chaser", "force") not in rows  # it is connected


def test_pictures_from_files(tmp_path):
    path = tmp_path / "plot.png"
    path.write_bytes(picture(figure(), "png"))
    page = parsed(render_report(Report("r", figures=(FigureItem(path, "c"),))))
    (source,) = [a["src"] for tag, a in page.elements if tag == "img"]
    assert source.startswith("data:image/png;base64,iVBOR")


@pytest.mark.parametrize("name", ["missing.png", "plot.pdf"])
def test_a_missing_picture_is_named_and_keeps_the_report(tmp_path, kept, name, wording):
    path = kept("report.html")
    with wording.raises(LoadError):
        write_report(Report("r", figures=(FigureItem(tmp_path / name, "c"),)), path)
    assert path.read_bytes() == b"earlier"


def test_a_report_that_cannot_be_written_says_so(tmp_path, wording):
    (tmp_path / "file").write_text("")
    with wording.raises(SoftdockError):
        write_report(Report("r"), tmp_path / "file" / "report.html")


def test_an_empty_report_is_a_page():
    assert "Versions and files" in " ".join(parsed(render_report(Report("empty"))).words)


def test_measures_stand_in_one_table_with_a_row_for_each_case():
    growth = tuple(Measure(f"growth {i}", 0.1 * i, "1/s") for i in range(6))
    peak = tuple(Measure(f"peak {i}", 2.0, HOSTILE) for i in range(3))
    measured = {"a_b": growth, "plain": (), "c": peak, "d": growth}
    cases = tuple(CaseSection(name, measures=found) for name, found in measured.items())
    text = render_report(Report("many", cases=cases))
    tables = text[text.index('id="measures"') : text.index('id="summary"')]
    assert tables.count("<table>") == 1
    assert tables.count("growth 1 <b>0.1 1/s</b>") == 2  # each case has its own
    found = re.findall(r'<th scope="row"><a href="#case-(\d)">', tables)
    assert found == ["1", "3", "4"]
    few = render_report(Report("few", cases=cases[1:2]))
    assert 'id="measures"' not in few


def test_many_cases_with_few_measures_stand_below_each_other():
    measures = (Measure("growth", 0.1, "1/s"), Measure("peak", 2.0, "N"))
    cases = tuple(CaseSection(f"c{i}", measures=measures) for i in range(5))
    text = render_report(Report("many", cases=cases))
    tables = text[text.index('id="measures"') : text.index('id="summary"')]
    assert re.findall(r'<th scope="row"><a href="#case-(\d)">', tables) == list("12345")
    assert tables.count("growth [1/s]") == tables.count("peak [N]") == 1


def test_verdicts_come_first_and_a_remark_of_several_cases_is_said_once():
    cases = [CaseSection(f"c{i}", remarks=("of all", f"of {i}")) for i in range(3)]
    own, shared = _said_once(cases)
    assert [one.remarks for one in own] == [("of 0",), ("of 1",), ("of 2",)]
    assert shared == [("of all", "all cases")]
    tables = (TableItem("Found", ("what",), (("it",),)),)
    cases = (replace(own[0], tables=tables), *own[1:])
    report = Report("r", cases=cases, verdicts=("3 expectations: 3 passed.",), shared=tuple(shared))
    text = render_report(report)
    assert text.index("3 passed") < text.index("<nav")
    assert 'class="verdicts bad"' not in text
    assert 'class="verdicts bad"' in render_report(replace(report, is_bad=True))
    assert text.count("of all") == 1
    assert text.index('id="case-1"') < text.index("<h3>Found</h3>") < text.index('id="case-2"')


def test_answers_come_before_how_they_were_found(report):
    text = render_report(replace(report, figures=(FigureItem(figure(), "f"),)))
    order = ["measures", "figures", "summary", "cases", "system", "parameters", "origin"]
    places = [text.index(f'<h2 id="{name}"') for name in order]
    assert places == sorted(places)


def test_cases_are_folded_if_there_are_several(report):
    cases = report.cases
    assert len(cases) > 1
    folded = [a for tag, a in parsed(render_report(report)).elements if tag == "details"]
    assert folded == [{"class": "case"}] * len(cases)
    alone = parsed(render_report(replace(report, cases=cases[:1])))
    assert [a for tag, a in alone.elements if tag == "details"] == [{"class": "case", "open": None}]
    # Whoever reads the folded line sees that there is more to read.
    cases = CaseSection("a", remarks=("ended", "late")), CaseSection("b")
    text = render_report(Report("r", cases=cases))
    assert re.findall(r"<li>(ended|late)</li>", text) == ["ended", "late"]
    lines = re.findall(r"<summary>(.*?)</summary>", text)
    assert ["remarks" in line for line in lines] == [True, False]


def test_very_many_figures_are_folded_one_by_one():
    """A system of 200 components without figures of its own has one for each component."""
    for count, folds in (
        (13, [{"class": "case more", "open": None}]),
        (14, 13 * [{"class": "case"}]),
    ):
        items = tuple(FigureItem(figure(), f"Caption {i}") for i in range(count))
        text = render_report(Report("many", figures=items))
        assert [a for tag, a in parsed(text).elements if tag == "details"] == folds
        assert re.findall(r"Caption (\d+)<", text) == [str(i) for i in range(count)]


@pytest.mark.parametrize(("width", "zoomed"), [(400.0, False), (3000.0, True)])
def test_a_wide_drawing_can_be_seen_in_full_size(capture, width, zoomed):
    drawing = replace(draw_system(capture, Facts()), width=width)
    text = render_report(Report("r", diagrams=(FigureItem(drawing, "c"),)))
    assert ("full size" in " ".join(parsed(text).words)) is zoomed
    assert ("--full: 3000.0pt" in text) is zoomed


def test_no_list_has_another_role():
    """A list with another role is none to a reader of the screen, and its items are orphans."""
    folder = Path(pictures.__file__).parent
    templates = [path for path in folder.rglob("*.j2") if "role=" in path.read_text("utf-8")]
    assert templates
    for path in templates:
        assert not re.findall(r"<[uo]l[^>]*\brole=", path.read_text("utf-8")), path
