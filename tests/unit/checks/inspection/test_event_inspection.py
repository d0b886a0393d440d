"""``check_fmu`` of FMUs with events, and of those that break their word about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.checks.inspection import check_fmu
from orchestrator.export import build_model

from .conftest import failures

SWITCHED = """model Switched
  output Real x(start=1, fixed=true);
  output Real y(start=0, fixed=true);
  discrete output Real n(start=0, fixed=true);
  parameter Real last = 9;
equation
  der(x) = if x > 0.5 then -2 else -0.25;
  der(y) = if n > 2.5 then 1 else 0;
  when sample(0.125, 0.125) then n = pre(n) + 1; end when;
  when x < 0.4 then reinit(x, 0.8); end when;
  when time > last then terminate("over"); end when;
end Switched;
"""


@pytest.fixture(scope="module")
def switched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Switched.mo").write_text(SWITCHED, encoding="utf-8")
    output = tmp_path_factory.mktemp("build")
    return dict(build_model("Switched", root, output, fmi=("2.0", "3.0")).files)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_own_events_pass(switched: dict[str, Path], version: str) -> None:
    results = check_fmu(switched[version])
    assert failures(results) == {}
    passed = {(r.interface, r.name): r.remark for r in results if r.outcome == "passed"}
    assert "event, continuous-time" in passed["Model Exchange", "saved in every mode"]
    assert ("Model Exchange", "event mode") in passed
    assert (("Co-Simulation", "event mode") in passed) is (version == "3.0")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_an_fmu_that_ends_the_simulation_is_followed_to_its_end(
    tmp_path: Path, version: str
) -> None:
    (tmp_path / "Switched.mo").write_text(SWITCHED.replace("last = 9", "last = 0.3"))
    file = build_model("Switched", tmp_path, tmp_path / "built", fmi=(version,)).path
    assert failures(check_fmu(file)) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "interface", "name", "remark"),
    [
        (  # what changes at events only is not restored
            "saved_state.c",
            "    memcpy(&instance->state, saved, sizeof(State));\n    instance->fixed_known",
            (
                "    State old = instance->state;\n"
                "    memcpy(&instance->state, saved, sizeof(State));\n"
                "    memcpy(instance->state.q, old.q, sizeof old.q);\n    instance->fixed_known"
            ),
            "Co-Simulation",
            "saved state",
            "values differ",
        ),
        (  # every event counts, also one where nothing is due
            "exchange.c",
            "    mark_samplers(instance);\n",
            "    mark_samplers(instance);\n    s->q[Q_SAMPLE] = 1.0;\n",
            "Model Exchange",
            "event mode",
            "after idle events: ",
        ),
        (  # the next time event is the present one
            "exchange.c",
            "    info->next = next_instant(instance);",
            "    info->next = s->values[AT_TIME];",
            "Model Exchange",
            "life cycle",
            "the next time event is not after t = ",
        ),
        (  # reset is refused where events are handled
            "life_cycle.c",
            "    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;\n    set_to",
            "    if (!allowed(instance, 95, function)) return STATUS_ERROR;\n    set_to",
            "Model Exchange",
            "reset in every mode",
            "not allowed in state 'event mode'",
        ),
        (  # an event of event mode is swallowed
            "fmi3_simulation.c",
            "    if (event_handling_needed) *event_handling_needed = stepped->event_needed;",
            "    if (event_handling_needed) *event_handling_needed = false;",
            "Co-Simulation",
            "event mode",
            "",
        ),
        (  # it says that it has reached what it has not
            "fmi3_simulation.c",
            "*last_successful_time = stepped->state.values[AT_TIME];",
            "*last_successful_time = time;",
            "Co-Simulation",
            "event mode",
            "",
        ),
    ],
)
def test_broken_events(
    spoil_of: Callable[..., Path],
    switched: dict[str, Path],
    file: str,
    old: str,
    new: str,
    interface: str,
    name: str,
    remark: str,
) -> None:
    found = failures(check_fmu(spoil_of(switched["3.0"], f"sources/{file}", old, new)))
    assert (interface, name) in found
    assert remark in found[interface, name]
    assert all("\n" not in line for line in found.values())
