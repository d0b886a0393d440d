"""Margins of a rig with values that it is tuned to, computed beside its run."""

import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.pictures.live import shown as live
from orchestrator.pictures.live.messages import CHECK, MARK, SET, Answered, Wish
from orchestrator.pictures.live.shown import Shown, ShownCase
from orchestrator.rig.arming.extension import armed
from orchestrator.study import read_experiment
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
from orchestrator.study.reader import prepared_cases

EPOS = Path(__file__).parents[3] / "examples" / "epos"


@pytest.fixture(scope="module")
def again():
    """What computes them, as the process that shows the run has it."""
    reader, settings = SystemReader(EPOS), RunSettings()
    experiment = read_experiment(EPOS / "rig_supervised.toml")
    experiment, cases, _ = prepared_cases(experiment, reader, settings)
    return pickle.dumps(armed(experiment, cases, reader, settings)["capture"].again)


def least(arming):
    return min(line.margins.delay.value for line in arming.lines if line.margins)


def test_they_are_those_of_the_value_or_say_why_not(again):
    compute = pickle.loads(again)  # noqa: S301 - of this test
    now, more, none = (compute({"damper.b": b}) for b in ("100", "150", "0"))
    assert now.is_granted
    assert more.is_granted
    assert least(more) > least(now) > 0.0
    assert not none.is_granted
    assert "the loop is unstable: it grows with +0.0" in none.refusal()
    sooner, later = (compute({"robot.x -> sensor.x": delay}) for delay in ("20 ms", "28 ms"))
    assert least(later) == pytest.approx(least(sooner) - 8e-3, abs=1e-4)
    assert "'nobody.b' is not in the models" in compute({"nobody.b": "1"}).failure


class Operator:
    """A supervisor that consents, or does not."""

    said, heard = {}, []

    def __init__(self, rig):
        self.rig = rig

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wish(self, wish, **more):
        self.heard.append((wish, more["what"]))
        return self.said


@pytest.fixture
def rig(again, monkeypatch):
    """A page of a rig whose run takes all that it is sent, but values beyond 300."""
    monkeypatch.setattr(Operator, "heard", [])
    monkeypatch.setattr(live, "operator_of", Operator)
    case = ShownCase("capture", "", {}, state="running", rig="epos", has_devices=True, again=again)
    case.samples = SimpleNamespace(count=9, grow=lambda _whole: None)
    sent, way = [], []

    def grant(wish):
        sent.append(wish)
        refused = "beyond its limits" if wish.text == "301" else ""
        found.answered(Answered(wish.number, refused, way if wish.request == CHECK else ()))

    found = Shown("rig", [case], grant=grant)
    return found, sent, way


def test_a_rig_is_tuned_when_margins_and_supervisor_allow_it(rig, monkeypatch, wording):
    shown, sent, _ = rig
    shown.ask(Wish(SET, name="damper.b", text="150", ramp=0.5))
    check, done = sent
    assert (check.request, done.request, done.ramp) == (CHECK, SET, 0.5)
    assert done.granted.startswith("granted with a delay margin of ")
    assert Operator.heard == [("tune", "damper.b = 150")]
    for text in ("301", "0"):  # beyond its limits; unstable
        with wording.raises(DescriptionError):
            shown.ask(Wish(SET, name="damper.b", text=text))
    assert len(Operator.heard) == 1  # it was not even asked
    monkeypatch.setattr(Operator, "said", {"refused": "the rig is in SAFE"})
    with wording.raises(DescriptionError):
        shown.ask(Wish(SET, name="damper.b", text="140"))
    assert [one.request for one in sent] == [CHECK, SET, CHECK, CHECK, CHECK]
    assert shown.cases[0].granted == {"damper.b": "150"}
    shown.ask(Wish(MARK, text="seen"))  # which nobody has to grant


def test_the_whole_way_of_a_ramp_has_margins_and_the_least_of_them_are_granted(rig, again, wording):
    shown, sent, way = rig
    compute = pickle.loads(again)  # noqa: S301 - of this test
    figures = {b: compute({"damper.b": b}).smallest_margins for b in ("110", "130", "150")}
    way += ["110", "130"]
    shown.ask(Wish(SET, name="damper.b", text="150", ramp=0.5))
    assert sent[-1].granted == f"granted with {figures['110']}"
    assert figures["110"] != figures["150"]
    way.append("0")
    with wording.raises(DescriptionError):
        shown.ask(Wish(SET, name="damper.b", text="150", ramp=0.5))
    assert sent[-1].request == CHECK


@pytest.mark.parametrize(
    "changes",
    [
        {"rig": ""},
        {"again": b"", "unknown": "no device is commanded"},
        {"state": "ended"},
        {"state": "prepared"},
        {"samples": None},
    ],
)
def test_what_is_lacking_is_said(rig, changes, wording):
    shown, *_ = rig
    shown.cases[0] = replace(shown.cases[0], **changes)
    with wording.raises(DescriptionError):
        shown.ask(Wish(SET, name="damper.b", text="150"))
