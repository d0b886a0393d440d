"""Exported systems with a component that asks for the end of the run."""

import pytest

from orchestrator import System, export_system, fmu, simulate


@pytest.mark.native
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("who", ["UPDATE", "STEP"])
def test_the_end_that_a_component_asks_for_is_that_of_the_whole(c_fmu, tmp_path, fmi, who):
    """By an update at 0.3 s or by the step to it: told where the whole asks, no failure."""
    part = fmu(c_fmu("source3", options=(f"-D{who}_ENDS_AT=0.25",)))
    system = System("s").add("m", part).add("c", fmu(c_fmu("counter3")))
    system = system.connect("m.tick", "c.tick").connect("m.count", "c.value")
    export_system(system, tmp_path / "s.fmu", fmi=fmi, step="0.1 s")
    whole = System("w").add("s", fmu(tmp_path / "s.fmu"))
    result = simulate(whole, step=0.1, stop=1.0, record=("s.c.count",))
    (note,) = (text for text in result.notes if "ended the run" in text)
    assert "component 's' ended the run at t = 0.3 s" in note
    assert "component 'm' asked for the end of the run" in note
    assert result.time[-1] == pytest.approx(0.3)
    assert result["s.c.count"][-1] == 4


@pytest.mark.native
@pytest.mark.parametrize("fmi", [2, 3])
def test_an_end_in_the_initial_event_is_told_with_the_first_step(c_fmu, tmp_path, fmi):
    part = fmu(c_fmu("source3", options=("-DUPDATE_ENDS_AT=0.0",)))
    export_system(System("s").add("m", part), tmp_path / "s.fmu", fmi=fmi, step="0.1 s")
    whole = System("w").add("s", fmu(tmp_path / "s.fmu"))
    result = simulate(whole, step=0.1, stop=1.0, record=("s.m.count",))
    assert result.time.tolist() == [0.0]
    assert any("component 'm' asked for the end of the run" in note for note in result.notes)
