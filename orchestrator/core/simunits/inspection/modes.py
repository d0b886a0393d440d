"""The checks of what may be called in which mode, and of event mode."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.core.simunits.inspection.bench import LOOSE, STEPS, Bench, Skip, close, difference
from orchestrator.core.simunits.inspection.probe import Probe

_Stage = tuple[str, Callable[[], None]]  # a mode and what leads into it


def _stages(bench: Bench, probe: Probe) -> list[_Stage]:
    """The modes of an instance, in order, from the one after instantiation."""
    first: list[_Stage] = [
        ("instantiated", lambda: None),
        ("initialization", lambda: probe.enter_initialization(bench.start)),
    ]
    if not (probe.exchange or probe.event_mode):
        return [*first, ("step", probe.exit_initialization)]
    last = "continuous-time" if probe.exchange else "step"
    return [*first, ("event", probe.exit_initialization), (last, probe.settle)]


def _finish(bench: Bench, probe: Probe, stages: list[_Stage]) -> list[float]:
    for _, enter in stages:
        enter()
    probe.excite()
    probe.advance(bench.step, STEPS)
    return probe.result()


def _event_mode(bench: Bench) -> bool:
    return not bench.exchange and bench.can("hasEventMode")


def saved_everywhere(bench: Bench) -> str:
    """A state that was saved in any mode goes back to that mode, and the run is the same again."""
    if not bench.can("canGetAndSetFMUstate", "canGetAndSetFMUState"):
        raise Skip("canGetAndSetFMUstate is false")
    modes = []
    for index in range(4):
        probe = bench.open(ready=False, event_mode=_event_mode(bench))
        stages = _stages(bench, probe)
        if index >= len(stages):
            probe.fmu.freeInstance()
            break
        for _, enter in stages[: index + 1]:
            enter()
        name, rest = stages[index][0], stages[index + 1 :]
        state, now = probe.save(), probe.place
        first = _finish(bench, probe, rest)
        probe.restore(state, now)
        if (again := _finish(bench, probe, rest)) != first:
            raise AssertionError(f"saved in {name} mode: {difference(first, again)}")
        probe.forget(state)
        probe.finish()
        modes.append(name)
    return f"{', '.join(modes)}: bit by bit"


def reset_in_every_mode(bench: Bench) -> str:
    """Everything may be read and the FMU reset in every mode; it begins anew after that."""
    probe = bench.open(ready=False, event_mode=_event_mode(bench))
    stages = _stages(bench, probe)
    expected = _finish(bench, probe, stages[1:])
    probe.fmu.terminate()
    probe.read_everything()
    probe.fmu.reset()
    for index in range(len(stages)):
        for name, enter in stages[: index + 1]:
            enter()
            if name != "instantiated":
                probe.read_everything()
        probe.fmu.reset()
        probe.next_event = None
        if (again := _finish(bench, probe, stages[1:])) != expected:
            name = stages[index][0]
            raise AssertionError(f"reset in {name} mode: {difference(expected, again)}")
        probe.fmu.terminate()
        probe.fmu.reset()
    probe.fmu.freeInstance()
    return f"{', '.join(name for name, _ in stages)}, terminated: the same again"


def event_mode(bench: Bench) -> str:
    """An event where nothing happens changes nothing (ME); steps with event mode agree (CS)."""
    if bench.exchange:
        return _idle_events(bench)
    if not bench.can("hasEventMode"):
        raise Skip("hasEventMode is false")
    results = []
    for used in (False, True):
        probe = bench.open(event_mode=used)
        probe.advance(bench.step, STEPS)
        results.append(probe.result())
        probe.finish()
    plain, handled = results
    if not close(plain, handled, LOOSE):
        raise AssertionError(difference(plain, handled))
    return f"{STEPS} steps agree with those of an FMU that handles its events itself"


def _idle_events(bench: Bench) -> str:
    results = []
    for idle in (False, True):
        probe = bench.open()
        for _ in range(STEPS):
            probe.advance(bench.step)
            probe.fmu.enterEventMode()
            probe.settle()
            for _ in range(3 if idle else 0):
                probe.fmu.enterEventMode()
                probe.settle()
        results.append(probe.result())
        probe.finish()
    if results[0] != results[1]:
        raise AssertionError(f"after idle events: {difference(*results)}")
    return f"{3 * STEPS} idle events change nothing"
