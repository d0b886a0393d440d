"""How runs end: at a stop time that is no sum of doubles, by a unit's wish, in half of a step."""

from pathlib import Path

import pytest

from orchestrator import System, build_model, fmu, simulate
from orchestrator.core.diagnostics import RunEndedError, StepError
from orchestrator.core.master import Execution

#: What FMPy wants every FMU to have.
LACKING = Path(__file__).parents[3] / "fixtures" / "c_fmus" / "lacking.c"
CAPTURE = """model Capture
  parameter Real at = 0.55;
  parameter Boolean first = false;
  output Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when {sample(0, 10) and first, x > at} then terminate("captured"); end when;
end Capture;
"""


@pytest.fixture(scope="module")
def of(small_fmu):
    return lambda how: System("s").add(
        "m", fmu(small_fmu("endings", f"-D{how}", str(LACKING))), u=1.0
    )


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    (folder / "Capture.mo").write_text(CAPTURE)
    build_model("Capture", folder / "Capture.mo", folder, fmi=("2.0", "3.0"))
    return folder


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 0.3, 0.1), (0, 0.15, 0.05), (-0.3, 0.1, 0.4), (0, 0.055, 0.005)]
)
@pytest.mark.parametrize("backend", ["native", "fmpy"])
def test_no_step_is_beyond_the_stop_time_that_a_unit_is_told(of, start, stop, step, backend):
    system = of("STRICT").with_options("m", backend=backend)
    assert simulate(system, start=start, stop=stop, step=step).time[-1] == stop


@pytest.mark.parametrize("isolation", ["none", "process"])
@pytest.mark.parametrize("file", ["Capture.fmu", "Capture.fmi3.fmu"])
@pytest.mark.parametrize("interface", ["cs", "me"])
def test_a_model_that_ends_the_run_within_a_step(capture, file, interface, isolation):
    system = System("s").add("m", fmu(capture / file))
    system = system.with_options("m", interface=interface, isolation=isolation)
    result = simulate(system, step=0.1, stop=1.0)
    assert result.time.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert result["m.x"][-1] == pytest.approx(0.5)
    (note,) = result.notes
    assert note.startswith("component 'm' ended the run at t = 0.55")
    assert "captured" in note
    assert "the last row is that of t = 0.5 s" in note


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_discard_with_terminated_ends_the_run_with_its_reason(of, isolation, wording):
    system = of("ENDS").with_options("m", isolation=isolation)
    result = simulate(system, step=0.1, stop=1.0)
    assert result.time[-1] == 0.2
    (note,) = result.notes
    assert note.startswith("component 'm' ended the run at t = 0.25 s: captured; the last row")
    with Execution(system, step=0.1) as run:
        with wording.raises(RunEndedError):
            run.advance(1.0)
        with wording.raises(StepError):
            run.step()


def test_how_far_a_discarded_step_came_is_told(of, wording):
    with wording.raises(StepError):
        simulate(of("DISCARDS"), step=0.1, stop=1.0)


def test_pending_is_told(of, wording):
    with wording.raises(StepError):
        simulate(of("PENDS"), step=0.1, stop=1.0)


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_outputs_that_are_refused_after_a_step_end_the_run(of, isolation, wording):
    system = of("SILENT").with_options("m", isolation=isolation)
    with Execution(system, step=0.1) as run:
        with wording.raises(StepError):
            run.advance(1.0)
        assert run.recording().time_ns[-1] == 200_000_000


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("who", ["UPDATE", "STEP"])
def test_an_event_or_a_step_of_fmi_3_that_ends_the_run_has_its_row(c_fmu, who, threads):
    """The step was done to its end, so its values are those of the last row."""
    part = fmu(c_fmu("source3", options=(f"-D{who}_ENDS_AT=0.25",)))
    system = System("s").add("m", part).add("c", fmu(c_fmu("counter3")))
    system = system.connect("m.tick", "c.tick").connect("m.count", "c.value")
    result = simulate(system, step=0.1, stop=1.0, algorithm="jacobi", threads=threads)
    assert result.time[-1] == pytest.approx(0.3)
    assert result["m.count"][-1] == 4
    assert result["c.count"][-1] == result["c.last"][-1] == 4  # all events of the moment happen
    (note,) = (text for text in result.notes if "ended the run" in text)
    assert note == "component 'm' ended the run at t = 0.3 s"


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "step-doubling"])
def test_an_event_at_the_start_that_ends_the_run_has_its_row(c_fmu, algorithm):
    """FMI tells an end with an update or a step: the run is initialised, then it has no step."""
    part = fmu(c_fmu("source3", options=("-DUPDATE_ENDS_AT=0.0",)))
    system = System("s").add("m", part).add("c", fmu(c_fmu("counter3")))
    system = system.connect("m.tick", "c.tick").connect("m.count", "c.value")
    result = simulate(system, step=0.1, stop=1.0, algorithm=algorithm)
    assert result.time.tolist() == [0.0]
    assert (result["m.count"][0], result["c.count"][0]) == (1, 1)
    (note,) = (text for text in result.notes if "ended the run" in text)
    assert note == "component 'm' ended the run at t = 0 s"


def test_a_run_that_ends_at_its_start_ends_again_from_a_checkpoint(c_fmu, wording):
    part = fmu(c_fmu("source3", options=("-DUPDATE_ENDS_AT=0.0",)))
    with Execution(System("s").add("m", part), step=0.1) as run:
        state = run.save()
        for _ in range(2):
            with wording.raises(RunEndedError):
                run.advance(1.0)
            run.restore(state)


def test_a_run_that_went_back_from_its_end_is_not_ended_by_the_step_before(small_fmu, capture):
    """The model steps every 0.2 s: its end at 0.4 s is not that of the step to 0.3 s."""
    source = (capture / "Capture.mo").read_text().replace("x > at", "time >= at")
    (capture / "Clock.mo").write_text(source.replace("Capture", "Clock"))
    path = build_model("Clock", capture / "Clock.mo", capture).path
    system = System("s").add("m", fmu(path), at=0.4).with_options("m", interface="me")
    system = system.add("other", fmu(small_fmu("quiet")), u=1.0)
    with Execution(system, step=0.1, rates={"m": 2}) as run:
        run.advance(0.2)
        state = run.save()
        for _ in range(2):
            with pytest.raises(RunEndedError):
                run.advance(1.0)
            run.restore(state)
        run.step()
        assert run.get("other.y") == pytest.approx(0.3)


@pytest.mark.parametrize("interface", ["cs", "me"])
@pytest.mark.parametrize("file", ["Capture.fmu", "Capture.fmi3.fmu"])
def test_a_model_that_ends_the_run_in_its_initial_event(capture, file, interface):
    system = System("s").add("m", fmu(capture / file), first=True)
    system = system.with_options("m", interface=interface)
    result = simulate(system, step=0.1, stop=1.0)
    assert result.time.tolist() == [0.0]
    (note,) = result.notes
    assert note.startswith("component 'm' ended the run at t = 0 s")
    assert "captured" in note
