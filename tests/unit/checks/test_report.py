"""Order, choice, exit codes, and the JSON of a report."""

from dataclasses import replace

from orchestrator.checks.run_checks import CheckReport, Extent, merged
from orchestrator.core.diagnostics import Diagnostic, Severity

ERROR = Diagnostic("CON101", Severity.ERROR, "no component", "b.ssd", 7, "a.y -> b.u")
WARNING = Diagnostic("VAL105", Severity.WARNING, "too much", "b.ssd", 3, "a.k", clause="FMI 2.0.4")
NOTE = Diagnostic("POR101", Severity.NOTE, "only here", "a.ssd")


def report(*findings, unchecked=False):
    return CheckReport("b.ssd", findings, {"b": Extent(2, 1, None, 1)}, unchecked)


def test_exit_codes():
    assert report(NOTE).exit_code(strict=True) == 0
    assert report(NOTE, WARNING).exit_code() == 0
    assert report(NOTE, WARNING).exit_code(strict=True) == 1
    assert report(ERROR).exit_code() == 1
    assert report(unchecked=True).exit_code() == 2


def test_codes_are_chosen_by_how_they_begin():
    every = report(NOTE, WARNING, ERROR)
    assert every.selected(["CON", "POR101"], []).findings == (NOTE, ERROR)
    assert every.selected([], ["CON1"]).findings == (NOTE, WARNING)
    assert every.selected(["CON"], ["CON101"]).findings == ()
    assert every.selected([], []) == every


def test_errors_come_first_and_findings_of_a_severity_in_the_order_of_file_and_line():
    later, other = replace(ERROR, line=9), replace(ERROR, file="a.ssd", line=30)
    found = merged([("", each) for each in (NOTE, later, WARNING, ERROR, other, ERROR)], [])
    assert found == [other, ERROR, later, WARNING, NOTE]


def test_what_all_cases_have_is_told_once():
    cases = ["one", "two", "three"]
    everywhere = [(case, WARNING) for case in cases]
    found = merged([*everywhere, ("one", ERROR), ("three", ERROR), ("two", NOTE)], cases)
    assert found[0].place == "cases one, three: a.y -> b.u"
    assert found[1] == WARNING
    assert found[2].place == "case two"


def test_json_says_everything_once():
    data = report(WARNING, ERROR).as_json(strict=True)
    assert data["counts"] == {"error": 1, "warning": 1, "note": 0}
    assert data["exit_code"] == 1
    assert data["systems"]["b"] == {"components": 2, "connections": 1, "loops": None, "errors": 1}
    assert data["findings"][0] == {
        "code": "VAL105",
        "severity": "warning",
        "message": "too much",
        "file": "b.ssd",
        "line": 3,
        "place": "a.k",
        "key": "",
        "hint": "",
        "clause": "FMI 2.0.4",
        "context": "",
        "where": "a.k",
    }
