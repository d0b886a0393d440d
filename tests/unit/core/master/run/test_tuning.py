"""Values, delays and marks while a run goes on: what is set when, refused, and done again."""

from math import inf, nan

import numpy as np
import pytest

from orchestrator import (
    Block,
    Input,
    Output,
    Parameter,
    System,
    block,
    change_lines,
    differences,
    fmu,
    read_system,
    write_ssd,
    write_toml,
)
from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    LoadError,
    StepError,
    UnknownNameError,
)
from orchestrator.core.master import Execution, ExecutionSettings
from orchestrator.core.recording import read_result
from orchestrator.core.recording.formats import writer
from orchestrator.core.simulation import RunHooks, simulate, simulate_with
from orchestrator.core.system.ports import Limits
from orchestrator.study import read_checkpoint, write_checkpoint


class Gain(Block):
    """y = k u + t at the end of the step."""

    u: float = Input(unit="m")
    n: int = Input(start=1)
    y: float = Output(unit="m")
    k: float = Parameter(start=2.0, minimum=0.0, maximum=10.0, tunable=True)
    c: list = Parameter(start=[1.0, 2.0], shape=(2,), tunable=True)
    fixed: float = Parameter(start=2.0)

    def step(self, t, h):
        self.y = self.k * self.u + sum(self.c) - 3.0 + t + h


class Typed(Gain):
    """Has parameters of more types."""

    free: float = Parameter(start=2.0, tunable=True)
    on: bool = Parameter(start=True, tunable=True)
    name: str = Parameter(start="", tunable=True)


@pytest.fixture(autouse=True)
def blocks(register):
    register(gain=Gain, typed=Typed)


def pair(kind="gain", **more):
    """Return one whose output the other hears of 5 ms later."""
    system = System("pair").add("a", block(kind), u=1.0, n=1).add("b", block("gain"), k=1.0, n=1)
    return system.connect("a.y", "b.u", delay=more.get("delay", "5 ms"))


def made(system=None, **options):
    return Execution(pair() if system is None else system, step="1 ms", **options)


def equal(one, two):
    a, b = one.recording(), two.recording()
    assert a.names == b.names
    assert a.time_ns.tobytes() == b.time_ns.tobytes()
    assert a.values.tobytes() == b.values.tobytes()


def test_a_ramp_takes_equal_parts_one_each_step():
    with made() as it:
        it.step(3)
        it.set("a.k", 4.0, ramp="4 ms")
        it.set("a.c", [5.0, 2.0], "2 ms", by="me")
        it.step(6)
        found = it.recording().values[4:, 0] - it.recording().time_ns[4:] / 1e9
        # k: 2.5, 3, 3.5, 4; the first of c: 3, 5
        np.testing.assert_allclose(found, [4.5, 7.0, 7.5, 8.0, 8.0, 8.0], atol=1e-12)
        assert it.get("a.k") == 4.0
        assert it.tuned == (
            Tuned(3, 3_000_000, "a.k", 2.0, 4.0, 4),
            Tuned(3, 3_000_000, "a.c", (1.0, 2.0), (5.0, 2.0), 2, "me"),
        )
        assert str(it.tuned[0]) == "tuned at 0.003 s (step 3): a.k from 2 to 4 over 4 steps"


def test_what_a_ramp_would_do_is_known_before_and_one_goes_at_a_time(wording):
    with made() as it:
        it.step(3)
        proposed = it.proposed("a.k", 4.0, "8 ms")
        assert proposed == Tuned(3, 3_000_000, "a.k", 2.0, 4.0, 8)
        assert proposed.ramp_values(3) == (2.5, 3.0, 3.5)
        assert proposed.ramp_values(99) == tuple(2.0 + 0.25 * k for k in range(1, 8))
        assert it.proposed("a.k", 4.0).ramp_values(3) == ()
        assert it.proposed("a.y -> b.u", "9 ms", "4 ms").ramp_values(3) == (6e6, 7e6, 8e6)
        assert it.proposed("a.c", [3.0, 2.0], "2 ms").ramp_values(7) == ((2.0, 2.0),)
        assert it.tuned == ()
        it.set("a.k", 4.0, "8 ms")
        it.step(2)
        with wording.raises(CapabilityError):
            it.proposed("a.c", [3.0, 2.0])
        it.step(6)
        it.proposed("a.c", [3.0, 2.0])


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("delay", ["plain", "mean", "waveform"])
def test_a_delay_goes_where_a_run_with_it_has_it(algorithm, delay):
    options = {"algorithm": algorithm, "delay": delay, "record": ["*", "b.u"]}
    it, later, sooner = (made(pair(delay=each), **options) for each in ("5 ms", "9 ms", "2 ms"))
    it.step(10)
    it.set("a.y -> b.u", "9 ms", ramp="8 ms")
    it.step(7)
    seen = it.recording()
    heard = np.diff(seen.values[:, seen.names.index("b.u")])[11:]
    assert heard.min() >= -1e-12  # what is heard goes on, at half its pace
    assert heard.sum() == pytest.approx(3e-3)
    it.step(13)
    later.step(30)
    np.testing.assert_array_equal(it.recording().values[22:], later.recording().values[22:])
    it.set("a.y -> b.u", 2e-3)
    it.step(10)
    sooner.step(40)
    np.testing.assert_array_equal(it.recording().values[-6:], sooner.recording().values[-6:])
    assert [str(one).partition(": ")[2] for one in it.tuned] == [
        "the delay of a.y -> b.u from 5 ms to 9 ms over 8 steps",
        "the delay of a.y -> b.u from 9 ms to 2 ms",
    ]


def plants(folder, options):
    """FMUs of both versions, one with an open input, and a delay between blocks."""
    body = {"force": 0.0, "virtual_force": 0.0, "thrust": 1.0}
    system = pair().add("body", fmu(folder / "Chaser.fmu"), **body)
    system = system.add("screw", fmu(folder / "DragScrew.fmi3.fmu"))
    for name in ("body", "screw"):
        system = system.with_options(name, **options)
    return system


OPTIONS = {
    "as they are": {},
    "process": {"isolation": "process"},
    "model exchange": {"interface": "me"},
    "fmpy": {"backend": "fmpy"},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_tuned_run_is_done_again_bit_for_bit(plants_folder, kind):
    system = plants(plants_folder, OPTIONS[kind])
    with made(system) as it, made(system) as again, made(system) as untouched:
        it.step(7)
        it.set("body.m", 300.0, ramp="10 ms")
        it.set("screw.speed", 0.02)
        it.step(4)
        it.set("body.m", 500.0, ramp="10 ms")  # from where it is by now
        it.set("body.thrust", -3.0, ramp="5 ms")
        it.set("a.y -> b.u", "8 ms", ramp="3 ms")
        it.step()
        it.set("a.k", 0.3)
        it.set("a.n", 4, by="me")
        it.step(30)
        again.replay(it.tuned)
        again.advance("42 ms")
        untouched.advance("42 ms")
        assert len(it.tuned) == 7
        assert again.tuned == it.tuned
        equal(it, again)
        assert not np.array_equal(it.recording().values, untouched.recording().values)


@pytest.fixture
def plants_folder(request):
    return request.config.rootpath / "fmus" / "build"


@pytest.mark.parametrize("stored", [False, True])
def test_a_checkpoint_has_the_ramps_that_are_under_way(tmp_path, stored):
    with made() as it, made() as other:
        it.step(3)
        it.set("a.k", 8.0, ramp="10 ms")
        it.mark("here")
        it.step(4)
        here = it.save()
        it.step(20)
        events, values = (it.tuned, it.marks), it.recording().values
        it.set("a.k", 1.0)
        it.step(5)
        back = it
        if stored:
            write_checkpoint(here, tmp_path / "c")
            back, here = other, read_checkpoint(tmp_path / "c")
        back.restore(here)
        back.step(20)
        assert (back.tuned, back.marks) == events
        assert back.recording().values.tobytes() == values.tobytes()


def test_a_checkpoint_from_before_another_delay_is_refused(wording):
    with made() as it:
        it.step(3)
        here = it.save()
        it.set("a.y -> b.u", "2 ms")
        with wording.raises(LoadError):
            it.restore(here)
        it.step(2)
        now = it.save()
        it.step(2)
        it.restore(now)


@pytest.mark.parametrize(
    ("name", "value", "ramp"),
    [
        ("a.fixed", 1.0, None),
        ("a.y", 1.0, None),
        ("b.u", 1.0, None),
        ("a.k", 11.0, None),
        ("b.k", 5.0, None),
        ("a.k", "fast", None),
        ("a.c", [1.0], None),
        ("a.n", 2, "3 ms"),
        ("a.k", 3.0, "-1 s"),
        ("a.kk", 1.0, None),
        ("aa.k", 1.0, None),
        ("a.y -> b.k", "1 ms", None),
        ("a.y -> b.u", "9 ms", "3 ms"),
        ("a.y -> b.u", "13 ms", "9 ms"),
        ("a.y -> b.u", "0 s", None),
    ],
)
def test_what_is_refused_changes_nothing(name, value, ramp, wording):
    limits = {"b.k": Limits(most=4.0), "a.y -> b.u": (-inf, 12e-3)}
    with made(limits=limits) as it, made() as other:
        it.step(4)
        with wording.raises((CapabilityError, DescriptionError)):
            it.set(name, value, ramp)
        it.step(20)
        other.step(24)
        assert it.tuned == ()
        equal(it, other)


def test_a_limit_of_nothing_and_a_run_that_is_over(wording):
    with wording.raises(UnknownNameError):
        made(limits={"a.kk": Limits(most=1.0)})
    it = made()
    it.close()
    with wording.raises(StepError):
        it.set("a.k", 1.0)
    with wording.raises(StepError):
        it.mark("late")


@pytest.mark.parametrize("text", ["", "  ", "x" * 501])
def test_a_mark_has_a_text(text, wording):
    with made() as it, wording.raises(DescriptionError):
        it.mark(text)


def test_steps_that_are_chosen_have_no_ramps(wording):
    options = {"algorithm": "step-doubling", "algorithm_options": {"relative": 1e-3}}
    system = System("one").add("a", block("gain"), u=1.0, n=1)
    with Execution(system, step="1 ms", **options) as it:
        with wording.raises(CapabilityError):
            it.set("a.k", 1.0, ramp="1 s")
        it.set("a.k", 1.0)
        assert it.get("a.k") == 1.0


@pytest.mark.parametrize("kind", ["npz", "parquet", "mcap"])
def test_files_keep_what_was_tuned_and_marked_and_a_run_repeats_it(tmp_path, kind):
    asked = []

    def steer(execution):
        if not asked:
            asked.append(execution.time)
            execution.set("a.k", 7.0, ramp="0.02 s", by="me")
            execution.set("a.y -> b.u", "3 ms")
            execution.mark("a <mark>")
        return 1

    settings = ExecutionSettings.of(pair(), step="1 ms", stop="50 ms")
    result = simulate_with(pair(), settings, RunHooks(steer=steer))
    path = tmp_path / f"run.{kind}"
    writer(kind)(result, path)
    found = read_result(path)
    assert (found.tuned, found.marks) == (result.tuned, result.marks)
    assert [type(one) for one in (*found.tuned, *found.marks)] == [Tuned, Tuned, Mark]
    assert str(result.marks[0]) in result.remarks
    again = simulate(pair(), step="1 ms", stop="50 ms", tuned=found.tuned)
    assert again.values.tobytes() == result.values.tobytes()
    assert again.tuned == result.tuned


def test_a_run_in_real_time_ends_a_piece_when_somebody_asks(run):
    seen = []
    it = run()
    rows = it.share_rows(9_000_000)

    def steer():
        seen.append(it.time_ns)
        if len(seen) == 1:
            it.mark("asked")

    rows.asked[0] += 1
    it.advance("9 ms", steer=steer)
    assert seen == [0, 9_000_000]  # before its first step, and at its end
    assert it.marks == (Mark(0, 0, "asked"),)


def test_an_fmu_with_events_takes_a_value_in_event_mode_within_its_own_limits(c_fmu, wording):
    def tunable(text):
        end = 'causality="parameter" variability="tunable" min="0.5" max="4" start="1"'
        return text.replace('causality="parameter" variability="fixed" start="1"/>', f"{end}/>")

    system = System("early").add("ramp", fmu(c_fmu("early3", tunable)), u=0.0, rate=1.0)
    with made(system) as it, made(system) as again:
        it.step(100)
        it.set("ramp.rate", 3.0)
        it.step(400)
        assert it.get("ramp.x") == pytest.approx(0.1 + 1.2)
        assert it.get("ramp.met") == 5
        for value in (5.0, 0.1):
            with wording.raises(DescriptionError):
                it.set("ramp.rate", value)
        with wording.raises(CapabilityError):
            it.set("ramp.level", 1.0)
        again.replay(it.tuned)
        again.step(500)
        equal(it, again)


def test_a_structural_parameter_is_refused_by_that_name(c_fmu, wording):
    told = wording.raises(CapabilityError)
    with made(System("every").add("unit", fmu(c_fmu("every3")))) as it, told:
        it.set("unit.n", 3)


def test_limits_of_a_system_hold_beside_those_that_are_given(tmp_path, wording):
    said = {"b.k": (1.0, 6.0), "a.y -> b.u": ("2 ms", "12 ms"), "a.k": (None, 5.0)}
    system = pair().with_experiment(step="1 ms", tuning=said)
    for write, file in ((write_toml, "pair.toml"), (write_ssd, "pair.ssd")):
        write(system, tmp_path / file)
        again = read_system(tmp_path / file)
        assert again.experiment == system.experiment
    with Execution(again, limits={"b.k": Limits(most=4.0), "a.k": Limits(least=3.0)}) as it:
        for name, value in (("b.k", 0.5), ("b.k", 4.5), ("a.k", 2.9)):
            with wording.raises(DescriptionError):
                it.set(name, value)
        with wording.raises(DescriptionError):
            it.set("a.y -> b.u", "13 ms", "20 ms")
        it.set("b.k", 4.0)
        it.set("a.y -> b.u", "12 ms", "20 ms")
    told = [str(change_line) for change_line in change_lines(differences(pair(), system))]
    assert any("limits of a.y -> b.u: none → >= 2 and <= 12 ms" in one for one in told)
    with wording.raises(DescriptionError):
        made(system, limits={"b.k": Limits(least=7.0)})
    with wording.raises(UnknownNameError):
        made(pair().with_experiment(tuning={"b.kk": (0.0, 1.0)}))
    with wording.raises(DescriptionError):
        pair().with_experiment(tuning={"b.k": (None, None)})


@pytest.mark.parametrize(
    ("name", "limits", "expected"),
    [
        ("a.k", (nan, 5.0), "expected a finite number, found nan"),
        ("a.k", (0.0, nan), "expected a finite number, found nan"),
        ("a.k", Limits(nan, 5.0), "expected a range, found Limits"),
        ("a.k", (inf, -inf), "expected a finite number, found inf"),
        ("a.k", (-inf, inf), "expected minimum, maximum or both, found neither"),
        ("a.k", (None, None), "expected minimum, maximum or both, found neither"),
        ("a.k", (2.0, 2.0), "expected a range, found 2 to 2"),
        ("a.k", (0, 10**400), "expected a finite number, found 1000"),
        ("a.k", ("0", "1"), "expected a finite number, found '0'"),
        ("a.k", (False, True), "expected a finite number, found False"),
        ("a.k", (0.0,), r"such as \(0\.0, 5\.0\) or \(0\.0, None\), found \(0\.0,\)"),
        ("a.k", None, "expected a minimum and a maximum, .* found None"),
        ("a.k", 3.0, "expected a minimum and a maximum, .* found 3.0"),
        ("a.k", {"minimum": 0.0}, "expected a minimum and a maximum, .* found {'minimum'"),
        ("a.k", (20.0, 50.0), "expected limits that overlap, found >= 20 and <= 50 and >= 0"),
        ("a.name", (0.0, 1.0), "limits of 'a.name': expected a number, it is a String"),
        ("a.c[0]", (0.0, 1.0), r"no input or tunable parameter 'a\.c\[0\]'\. Did you mean 'a\.c'"),
        ("a.y -> b.u", ("9 ms", "2 ms"), "expected a range"),
        ("a.y -> b.u", (True, 1.0), "a.y -> b.u"),
    ],
)
def test_limits_that_are_no_range_are_refused_in_python_and_in_the_system(name, limits, expected):
    with pytest.raises(DescriptionError, match=expected):
        made(pair("typed"), limits={name: limits})
    with pytest.raises(DescriptionError, match=expected):
        made(pair("typed").with_experiment(tuning={name: limits}))


def test_limits_are_a_mapping():
    with pytest.raises(DescriptionError, match="limits: expected ranges by name, such as"):
        made(limits=[("a.k", (0.0, 1.0))])


@pytest.mark.parametrize(
    ("name", "limits", "right", "wrong"),
    [
        ("a.k", (None, 5.0), (0.0, 5.0), (-0.5, 5.5)),
        ("a.k", (2.0, inf), (2.0, 10.0), (1.0, 11.0)),
        ("a.free", (-inf, 1.0), (-1e9, 1.0, -0.0), (1.1, inf, nan)),
        ("a.c", (0.0, 3.0), ([0.0, 3.0],), ([1.0, 4.0], [nan, 1.0])),
        ("a.n", (0, 3), (0, 3), (4, -1, 2.5, 10**30)),
        ("a.on", (0.5, 1.5), (True,), (False, 2)),
        ("a.y -> b.u", (None, 6e-3), ("6 ms",), ("6.001 ms",)),
        ("a.y -> b.u", ("4 ms", None), ("4 ms",), ("3.999 ms",)),
    ],
)
def test_limits_hold_for_every_type_and_with_one_end(name, limits, right, wrong):
    with made(pair("typed"), limits={name: limits}) as it:
        it.step(8)
        for value in wrong:
            with pytest.raises(DescriptionError):
                it.set(name, value, "9 ms" if "->" in name else None)
        for value in right:
            it.set(name, value, "9 ms" if "->" in name else None)
        assert len(it.tuned) == (0 if name == "a.n" else len(right))  # an input that a script feeds


def test_names_with_brackets_have_limits(tmp_path):
    system = System("s").add("a[1]", block("gain"), u=1.0, n=1)
    system = system.add("b [rpm]", block("gain"), n=1)
    line = "a[1].y -> b [rpm].u"
    system = system.connect("a[1].y", "b [rpm].u", delay="5 ms")
    system = system.with_experiment(
        step="1 ms", tuning={"a[1].k": (1.0, 4.0), line: ("2 ms", "6 ms")}
    )
    for write, file in ((write_toml, "s.toml"), (write_ssd, "s.ssd")):
        write(system, tmp_path / file)
        with Execution(read_system(tmp_path / file)) as it:
            it.step(8)
            it.set("a[1].k", 4.0)
            it.set(line, "6 ms", "1 ms")
            limits = {each.name: each.limits for each in it.tunables}
            assert (limits["a[1].k"], limits[line]) == (">= 1 and <= 4", "0.002 to 0.006 s")
            for name, value in (("a[1].k", 4.1), (line, "6.1 ms")):
                with pytest.raises(DescriptionError):
                    it.set(name, value, None)
