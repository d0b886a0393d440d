"""An error that is raised in the process of a unit reaches its master as data."""

import shutil

import pytest

from orchestrator.core.diagnostics import (
    Diagnostic,
    FmuError,
    Severity,
    SspError,
    StepError,
    class_name,
)
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.simunits.isolation.wire import packed
from orchestrator.core.simunits.isolation.worker_process import WorkerProcess, answer_of
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.system import System

FULL = Diagnostic(
    "SSP203", Severity.WARNING, "no 'u'", "s.ssd", 7, "line a.y", "a.y", "v", "SSP 1.0", ("case",)
)


def test_a_file_that_is_damaged_when_the_worker_reads_it(crash, tmp_path, monkeypatch):
    path = tmp_path / "own.fmu"
    shutil.copy(crash, path)
    system = System("s").add("a", fmu(path), u=1.0).with_options("a", isolation="process")
    call = WorkerProcess.call

    def damaging(self, unit, doing, what, *rest):
        if what == "make":
            path.write_bytes(b"PK no archive any more")
        return call(self, unit, doing, what, *rest)

    monkeypatch.setattr(WorkerProcess, "call", damaging)
    with pytest.raises(FmuError) as caught:
        Execution(system, step="1 ms")
    (found,) = caught.value.diagnostics
    assert (found.code, found.file) == ("FmuError", str(path))
    assert str(path) not in found.message
    assert str(caught.value) == str(found)


@pytest.mark.parametrize("error", [FmuError(FULL, "more"), StepError(FULL)])
def test_every_field_passes_the_message(error):
    answer = answer_of({"log": [], "error": "X", "diagnostics": packed(error), "trace": ""})
    assert tuple(answer["diagnostics"]) == error.diagnostics


@pytest.mark.parametrize("found", [3, [{"code": 3}], "text", [{"message": "m", "severity": "s"}]])
def test_what_is_no_diagnostic_is_no_answer(found):
    with pytest.raises(ValueError, match="found"):
        answer_of({"log": [], "error": "StepError", "diagnostics": found, "trace": ""})


def test_a_class_of_another_room_goes_as_the_nearest_that_all_know():
    assert class_name(refusal(codes.URI, "no")) == SspError.__name__
    assert class_name(FmuError("no")) == "FmuError"
