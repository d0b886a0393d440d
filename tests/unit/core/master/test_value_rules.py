"""One set of rules for values: of the check, of a run, of what is set and of what is fed in it."""

import re
import threading

import numpy as np
import pytest

from orchestrator import (
    Block,
    DescriptionError,
    Execution,
    Output,
    Parameter,
    System,
    block,
    fmu,
    simulate,
)
from orchestrator.checks import check_target
from orchestrator.core.ssp import write_ssd

LIMITED = '<Real unit="N" start="0" min="-1" max="1"/>'
ENUMERATION = (
    '<TypeDefinitions><SimpleType name="E"><Enumeration><Item name="off" value="-2"/>'
    '<Item name="on" value="7"/></Enumeration></SimpleType></TypeDefinitions>'
)


class Wave(Block):
    """Gives numbers."""

    y: float = Output(depends_on=(), unit="N")
    n: int = Output(depends_on=())
    high: float = Parameter(start=3.0)
    item: int = Parameter(start=3)

    def step(self, t, h):
        self.y = self.high if t + h > 0.15 else -0.0
        self.n = self.item if t + h > 0.15 else 7


@pytest.fixture(scope="module")
def limited(make_fmu):
    """Input u and parameter 'gain [1]' have a range; n is of an enumeration."""

    def change(text):
        text = text.replace('<Real unit="N" start="0"/>', LIMITED, 1)
        text = text.replace('name="gain"', 'name="gain [1]"')
        text = text.replace('<Real start="2"/>', '<Real start="2" min="0" max="5"/>', 1)
        text = text.replace("<ModelVariables>", f"{ENUMERATION}<ModelVariables>", 1)
        return text.replace('<Integer start="0"/>', '<Enumeration declaredType="E" start="7"/>', 1)

    return make_fmu(change)


def of(limited, **values):
    system = System("s").add("m", fmu(limited))
    for name, value in {"u": 0.0, "n": 7, "flag": False, **values}.items():
        system = system.set(f"m.{name}", value)
    return system


def notes(system, **options):
    result = simulate(system, step="0.1 s", stop="0.3 s", **options)
    return [note for note in result.notes if "expected" in note]


@pytest.fixture
def codes(tmp_path):
    def found(system):
        write_ssd(system, tmp_path / "s.ssd")
        listed = [finding.code for finding in check_target(tmp_path / "s.ssd").findings]
        return [code for code in listed if code in {"VAL105", "VAL122", "ENU101", "VAL121"}]

    return found


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("u", (-1.0, 1.0, -0.0), (-1.0 - 1e-12, 1.0 + 1e-12, 3.0)),
        ("gain [1]", (0.0, 5.0, -0.0), (-1e-12, 9.0)),
    ],
)
def test_the_check_and_a_run_say_the_same_of_a_range(limited, codes, name, inside, outside):
    for value in inside:
        system = of(limited, **{name: value})
        assert codes(system) == []
        assert notes(system) == []
    for value in outside:
        system = of(limited, **{name: value})
        assert codes(system) == ["VAL105"]
        (note,) = notes(system)
        assert note.startswith(f"component 'm': value of '{name}': expected >= ")
        assert note.endswith(f"found {value!r} (min, max of the FMU)")


@pytest.mark.parametrize("value", [-1.0, -1e-12])
def test_the_check_and_a_run_refuse_what_softdocks_fmus_refuse(plants, codes, value):
    """The check had a warning, and the run failed while the FMU was initialised."""
    held = {"thrust": 0.0, "virtual_force": 0.0, "force": 0.0}
    system = System("s").add("body", fmu(plants / "Chaser.fmu"), m=1.0, v0=value, **held)
    assert codes(system) == []
    simulate(system, step="0.1 s", stop="0.3 s")
    system = system.set("body.m", value)
    assert codes(system) == ["VAL122"]
    with pytest.raises(DescriptionError) as raised:
        simulate(system, step="0.1 s", stop="0.3 s")
    (problem,) = raised.value.diagnostics
    assert (problem.code, problem.key) == ("VAL122", "body.m")


def test_the_check_and_a_run_refuse_what_is_no_item(limited, codes, wording):
    assert codes(of(limited, n=-2)) == []
    assert notes(of(limited, n=-2)) == []
    system = of(limited, n=3)
    assert codes(system) == ["ENU101"]
    with wording.raises(DescriptionError, code="ENU101", key="m.n"):
        simulate(system, step="0.1 s", stop="0.3 s")
    assert codes(of(limited, n="on")) == []


def test_what_is_set_in_a_run_keeps_to_the_same(limited, wording):
    with Execution(of(limited), step="0.1 s") as run:
        run.set("m.u", 1.0)
        run.set("m.n", -2)
        with wording.raises(DescriptionError):
            run.set("m.u", 1.5)
        with wording.raises(DescriptionError):
            run.set("m.n", 3)
        run.step(2)


def fed(limited, isolation="none", **values):
    system = System("s").add("w", block(Wave), **values).add("m", fmu(limited), flag=False)
    system = system.connect("w.y", "m.u").connect("w.n", "m.n")
    return system.with_options("m", isolation=isolation)


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_what_is_fed_is_compared(limited, isolation):
    assert notes(fed(limited, isolation, high=1.0, item=-2)) == []
    found = notes(fed(limited, isolation))
    fed_at = "received a value that it does not accept, first at t = 0.2 s"
    assert sorted(found) == [
        f"input 'm.n' {fed_at}: expected one of off (-2), on (7); found 3",
        f"input 'm.u' {fed_at}: expected >= -1 and <= 1 N, found 3.0",
    ]


def test_a_delay_shifts_when_it_is_noticed(limited):
    system = fed(limited, item=7).with_delay("w.y", "m.u", "0.2 s")
    result = simulate(system, step="0.1 s", stop="0.6 s", delay="plain", record=["m.u"])
    (note,) = [note for note in result.notes if "'m.u' received" in note]
    first = result.time[result["m.u"] > 1.0][0]
    assert first > 0.35
    assert f"first at t = {first:.9g} s" in note


def test_going_back_takes_a_note_back(limited):
    with Execution(fed(limited), step="0.1 s") as run:
        begin = run.save()
        run.step(3)
        assert len([n for n in run.notes if "received a value" in n]) == 2
        run.restore(begin)
        assert [n for n in run.notes if "received a value" in n] == []
        run.step(3)
        assert len([n for n in run.notes if "received a value" in n]) == 2


def test_runs_in_two_threads_have_notes_of_their_own(limited):
    found = {}

    def run(high):
        found[high] = notes(fed(limited, high=high, item=7))

    threads = [threading.Thread(target=run, args=(high,)) for high in (0.5, 3.0, 4.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0.5] == []
    assert [re.search(r"found (.*)", note)[1] for high in (3.0, 4.0) for note in found[high]] == [
        "3.0",
        "4.0",
    ]


def test_what_an_fmu_begins_with_is_its_own(make_fmu):
    """A start that is no item, and one beyond its range, are the author's."""
    path = make_fmu(
        lambda text: (
            text.replace('<Real unit="N" start="0"/>', '<Real unit="N" start="0" min="1"/>', 1)
            .replace("<ModelVariables>", f"{ENUMERATION}<ModelVariables>", 1)
            .replace('<Integer start="0"/>', '<Enumeration declaredType="E" start="0"/>', 1)
        )
    )
    result = simulate(System("s").add("m", fmu(path)), step="0.1 s", stop="0.2 s")
    assert np.isfinite(result.values).all()
    assert not [note for note in result.notes if "expected" in note]


class Misspelt(Block):
    force: float = Output(unit="Newtn")
    level: float = Output(unit="dB")
    push: float = Output(unit="N")
    gain: float = Parameter(start=1.0, unit="Newtn/m")

    def step(self, t: float, h: float) -> None:
        self.force = self.push = self.gain


def test_a_run_names_units_that_are_not_known():
    result = simulate(System("s").add("m", block(Misspelt)), step="0.1 s", stop="0.2 s")
    assert len(result.notes) == 2
    assert re.match(
        r"component 'm' \(block:.*Misspelt\): unit 'Newtn' of 'force' is not known, so no value"
        r" is converted to or from it; expected Modelica notation",
        result.notes[0],
    )
    assert "unit 'Newtn/m' of 'gain' is not known" in result.notes[1]
    assert f"  note: {result.notes[0][:40]}" in repr(result)


def test_a_unit_that_a_file_defines_is_known(make_fmu):
    definition = '<UnitDefinitions><Unit name="Newtn"><BaseUnit kg="1" m="1" s="-2"/></Unit>'
    path = make_fmu(
        lambda text: text.replace(
            "<ModelVariables>", f"{definition}</UnitDefinitions><ModelVariables>", 1
        ).replace('unit="N" start="0"', 'unit="Newtn" start="0"', 1)
    )
    result = simulate(System("s").add("m", fmu(path)), step="0.1 s", stop="0.2 s")
    assert not [note for note in result.notes if "not known" in note]
