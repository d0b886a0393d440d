"""Faults that cannot act are refused by name, all together, before anything runs."""

import re
from pathlib import Path

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import Fault, System
from orchestrator.core.system.fault import FAULTS, FaultKind
from orchestrator.study.experiment import FaultTable

pytestmark = pytest.mark.usefixtures("sample_blocks")


def test_every_kind_has_a_codec_keys_and_a_row_of_the_page():
    assert [*FAULTS] == [*FaultKind]
    page = (Path(__file__).parents[4] / "docs/howto/fault.md").read_text()
    rows = {line.split("|")[1].strip(" `"): line for line in page.splitlines() if "|" in line}
    for kind, codec in FAULTS.items():
        assert {*codec.figures} <= {*FaultTable.model_fields}
        assert all(f"`{name}`" in rows[kind] for name in codec.figures)


@pytest.mark.parametrize(
    ("kind", "figures"),
    [
        ("drob", {}),
        ("bias", {}),
        ("drop", {"value": 1.0}),
        ("delay-step", {}),
        ("drop", {"until": 2}),
        ("drop", {"until": "3 sec"}),
        ("noise", {"sigma": -1.0}),
        ("noise", {"sigma": 1, "seed": 1.5}),
        ("bias", {"value": float("nan")}),
        ("bias", {"value": True}),
        ("bias", {"value": ()}),
        ("delay-step", {"delay": "-1 ms"}),
        ("bias", {"value": 1, "element": -1}),
    ],
)
def test_figures(kind, figures, wording):
    with wording.raises(DescriptionError):
        Fault.of(kind, "a.y", 2, **figures)


def system():
    return (
        System("some")
        .add("s", block("source"))
        .add("g", block("gain"))
        .add("t", block("typed"), flag=True)
        .add("u", block("typed"), flag=True)
        .add("m", block("matrix"), u=(0.0, 0.0))
        .add("n", block("matrix"))
        .connect("s.y", "g.u")
        .connect("t.m", "u.n")
        .connect("m.y", "n.u")
        .connect("u.m", "t.n", delay="1 ms")
    )


def refused(*faults, made=None, **options):
    with pytest.raises(DescriptionError) as error:
        Execution(made or system(), step="1 ms", faults=faults, **options)
    return str(error.value)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.of("drop", "s.z", 1), "no such connected output. Did you mean 's.y'?"),
        (Fault.of("drop", "s.time", 1), "no such connected output"),
        (Fault.of("drop", "s.y->g.v", 1), "no such connection. Did you mean 's.y -> g.u'?"),
        (Fault.of("bias", "t.m", 1, value=1), "the signal is an Integer; a bias needs a Real"),
        (Fault.of("bias", "m.y", 1, value=1, element=2), "element: expected below 2"),
        (Fault.of("bias", "m.y", 1, value=(1, 2, 3)), "expected 2 numbers, .* found 3"),
        (Fault.of("delay-step", "m.y", 1, delay=1, element=1), "a connection has one delay"),
    ],
)
def test_places(fault, expected):
    assert re.search(expected.replace("?", r"\?"), refused(fault))


def test_all_problems_together():
    said = refused(Fault.of("drop", "s.z", 1), Fault.of("bias", "t.m", 1, value=1))
    assert len(said.splitlines()) == 2


def test_a_connection_has_one_delay_at_a_time():
    one = Fault.of("delay-step", "s.y", 1, 3, delay=1, label="one")
    other = Fault.of("delay-step", "s.y -> g.u", 2, delay=2, label="other")
    said = refused(one, other)
    assert "'one' on 's.y' and 'other' on 's.y -> g.u' give the connection to g.u two" in said
    Execution(system(), step="1 ms", faults=[one, Fault.of("delay-step", "s.y", 3, delay=2)])


def test_times_without_a_communication_point():
    said = refused(Fault.of("drop", "s.y", "1.2 ms", "1.8 ms"))
    assert "from 0.0012 s until 0.0018 s there is no communication point at a step of 1 ms" in said
    said = refused(Fault.of("drop", "s.y", "5 ms"), stop="5 ms")
    assert "expected it to begin before the end of the run at 0.005 s, found 0.005 s" in said


def test_predicted_connections():
    made = System("p").add("s", block("source")).add("g", block("gain"))
    made = made.connect("s.y", "g.u", extrapolation="linear")
    said = refused(Fault.of("drop", "s.y", 1), made=made)
    assert "connection s.y -> g.u predicts its input ('linear')" in said


def test_noise_needs_a_rate():
    said = refused(Fault.of("noise", "s.y", 1, sigma=1.0), algorithm="step-doubling")
    assert "'step-doubling' varies the communication step, and white noise is drawn at a" in said


def test_connections_of_event_mode(c_fmu):
    made = (
        System("events")
        .add("jumper", fmu(c_fmu("jumper3")), u=0.0)
        .add("early", fmu(c_fmu("early3")))
        .connect("jumper.sum", "early.u")
    )
    said = refused(Fault.of("drop", "jumper.sum", 1), made=made)
    assert "connection jumper.sum -> early.u carries values at events" in said
    late = made.with_delay("jumper.sum", "early.u", "2 ms")
    Execution(late, step="1 ms", faults=[Fault.of("drop", "jumper.sum", 1)])
