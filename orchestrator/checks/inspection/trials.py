"""The checks that call an FMU: each returns a remark or raises; Skip says why it cannot run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.checks.inspection.probe import (
    LOOSE,
    STEPS,
    FmuProbe,
    InstanceBench,
    Skip,
    close,
    difference,
    expect_same,
    finite,
)
from orchestrator.core.diagnostics import counted

_Stage = tuple[str, Callable[[], None]]  # a mode and what leads into it


def _stages(bench: InstanceBench, probe: FmuProbe) -> list[_Stage]:
    """The modes of an instance, in order, from the one after instantiation."""
    first: list[_Stage] = [
        ("instantiated", lambda: None),
        ("initialization", lambda: probe.enter_initialization(bench.start)),
    ]
    if not (probe.exchange or probe.event_mode):
        return [*first, ("step", probe.exit_initialization)]
    last = "continuous-time" if probe.exchange else "step"
    return [*first, ("event", probe.exit_initialization), (last, probe.settle)]


def _finish(bench: InstanceBench, probe: FmuProbe, stages: list[_Stage]) -> list[float]:
    for _, enter in stages:
        enter()
    probe.excite()
    probe.advance(bench.step, STEPS)
    return probe.result()


def _event_mode(bench: InstanceBench) -> bool:
    return not bench.exchange and bench.can("hasEventMode")


def saved_everywhere(bench: InstanceBench) -> str:
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
        name, remaining = stages[index][0], stages[index + 1 :]
        state, now = probe.save(), probe.times
        first = _finish(bench, probe, remaining)
        probe.restore(state, now)
        expect_same(first, _finish(bench, probe, remaining), f"saved in {name} mode: ")
        probe.forget(state)
        probe.finish()
        modes.append(name)
    return f"{', '.join(modes)}: bit by bit"


def reset_in_every_mode(bench: InstanceBench) -> str:
    """Everything may be read and the FMU reset in every mode; it starts again after that."""
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
        again = _finish(bench, probe, stages[1:])
        expect_same(expected, again, f"reset in {stages[index][0]} mode: ")
        probe.fmu.terminate()
        probe.fmu.reset()
    probe.fmu.freeInstance()
    return f"{', '.join(name for name, _ in stages)}, terminated: the same again"


def event_mode(bench: InstanceBench) -> str:
    """An event where nothing happens changes nothing (ME); steps with event mode agree (CS)."""
    if bench.exchange:
        return _idle_events(bench)
    if not bench.can("hasEventMode"):
        raise Skip("hasEventMode is false")
    plain, handled = (bench.run(bench.step, event_mode=used) for used in (False, True))
    if not close(plain, handled, LOOSE):
        raise AssertionError(difference(plain, handled))
    return f"{STEPS} steps agree with those of an FMU that handles its events itself"


def _idle_events(bench: InstanceBench) -> str:
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
    expect_same(results[0], results[1], "after idle events: ")
    return f"{3 * STEPS} idle events change nothing"


def directional_derivative(bench: InstanceBench) -> str:
    """Directional derivatives agree with differences over the inputs (ME: and the states)."""
    if not bench.can("providesDirectionalDerivative", "providesDirectionalDerivatives"):
        raise Skip("providesDirectionalDerivative is false")
    probe = bench.open()
    probe.advance(bench.step, 3)
    # Discrete ones change at events only: they have no derivative.
    outputs = [v for v in probe.variables("output") if v.variability != "discrete"]
    inputs = [v for v in probe.movable_inputs() if v.variability != "discrete"]
    pairs = 0
    if outputs:
        for input_variable in inputs:
            (value,) = probe.get([input_variable])

            def outputs_at(x: float, input_variable: Any = input_variable) -> list[float]:
                probe.set([input_variable], [x])
                return probe.get(outputs)

            _compare_slopes(probe, outputs, input_variable, value, outputs_at)
            pairs += len(outputs)
    if bench.exchange:
        pairs += _state_slopes(probe)
    if not pairs:
        raise Skip("no Real input and output, no state")
    probe.finish()
    return f"{pairs} entries against differences"


def _state_slopes(probe: FmuProbe) -> int:
    listed = [unknown.variable for unknown in probe.description.derivatives]
    if len(listed) != probe.states:
        return 0  # states that are arrays
    states = probe.continuous_states()
    for index, derivative in enumerate(listed):

        def slopes_at(x: float, index: int = index) -> list[float]:
            probe.write_states([*states[:index], x, *states[index + 1 :]])
            return probe.derivatives()

        _compare_slopes(probe, listed, derivative.derivative, states[index], slopes_at)
    return len(listed) ** 2


def _compare_slopes(
    probe: FmuProbe,
    unknowns: Sequence[Any],
    input_variable: Any,
    value: float,
    function: Callable[[float], list[float]],
) -> None:
    width = 1e-6 * max(1.0, abs(value))
    above, below, here = function(value + width), function(value - width), function(value)
    exact = probe.slope(unknowns, input_variable)
    for unknown, a, b, middle, slope in zip(unknowns, above, below, here, exact, strict=True):
        # At a kink the slope of either side is right.
        estimates = ((a - b) / (2 * width), (a - middle) / width, (middle - b) / width)
        rounding = 1e-15 * max(abs(a), abs(b)) / width
        allowed = LOOSE * max(abs(slope), abs(estimates[0])) + 100 * rounding + 1e-9
        if not any(abs(slope - estimate) <= allowed for estimate in estimates):
            raise AssertionError(
                f"d {unknown.name} / d {input_variable.name} is {slope:.9g}, differences give"
                f" {estimates[0]:.9g}"
            )


def life_cycle(bench: InstanceBench) -> str:
    """Instantiate, initialise, read everything, step, terminate, reset, start again, free."""
    probe = bench.open()
    probe.read_everything()
    probe.advance(bench.step, STEPS)
    probe.read_everything()
    first = finite(probe)
    probe.fmu.terminate()
    probe.fmu.reset()
    probe.initialize(bench.start)
    probe.excite()
    probe.advance(bench.step, STEPS)
    expect_same(first, probe.result(), "after a reset: ")
    probe.finish()
    return f"{STEPS} steps of {bench.step:g} s; the same again after a reset"


def other_start_time(bench: InstanceBench) -> str:
    """Start later than the default experiment, with a stop time."""
    probe = bench.open(ready=False)
    begin = bench.start + 1.5
    probe.initialize(begin, begin + STEPS * bench.step)
    probe.advance(bench.step, STEPS)
    finite(probe)
    probe.finish()
    return f"from t = {begin:g} s to the stop time"


def start_values(bench: InstanceBench) -> str:
    """Setting inputs and parameters to their own start values changes nothing, in either mode."""
    expected = bench.run(bench.step)
    for is_late in (False, True):
        probe = bench.open(ready=False)
        settable = ("parameter", "input")
        listed = [v for c in settable for v in probe.variables(c) if v.start is not None]
        listed += [
            v
            for causality in settable
            for v, size in probe.arrays(causality)
            if v.start is not None and len(v.start.split()) == size
        ]
        values = [float(text) for v in listed for text in str(v.start).split()]
        if not is_late:
            probe.set(listed, values)
        probe.enter_initialization(bench.start)
        if is_late:
            probe.set(listed, values)
            probe.get(probe.variables("output"))
        probe.exit_initialization()
        probe.settle()
        probe.excite()
        probe.advance(bench.step, STEPS)
        expect_same(expected, probe.result())
        probe.finish()
    return f"{len(listed)} Real parameters and inputs, before and during initialisation"


def several_instances(bench: InstanceBench) -> str:
    """Two instances that take turns give what one gives alone."""
    if bench.can("canBeInstantiatedOnlyOncePerProcess"):
        raise Skip("canBeInstantiatedOnlyOncePerProcess")
    alone = bench.open()
    for _ in range(STEPS):  # so that the times are rounded alike
        alone.advance(bench.step)
    pair = [bench.open(), bench.open()]
    pair[1].advance(bench.step, 3)
    for index in range(STEPS):
        pair[0].advance(bench.step)
        if index < STEPS - 3:
            pair[1].advance(bench.step)
    for probe in pair:
        if len(probe.result()) and not close(probe.result(), alone.result(), 1e-12):
            raise AssertionError(difference(alone.result(), probe.result()))
    for probe in (alone, *pair):
        probe.finish()
    return "two that take turns agree with one alone"


def saved_state(bench: InstanceBench) -> str:
    """Going back from the end of the experiment to its middle repeats the rest bit by bit."""
    if not bench.can("canGetAndSetFMUstate", "canGetAndSetFMUState"):
        raise Skip("canGetAndSetFMUstate is false")
    probe = bench.open()
    probe.advance(bench.step, bench.count // 2)
    state, now = probe.save(), probe.times
    probe.advance(bench.step, bench.count - bench.count // 2)
    first = probe.result()
    probe.restore(state, now)
    probe.advance(bench.step, bench.count - bench.count // 2)
    expect_same(first, probe.result())
    remark = f"{counted(bench.count, 'step')}, bit by bit"
    if bench.can("canSerializeFMUstate", "canSerializeFMUState"):
        again = probe.from_bytes(probe.to_bytes(state))
        probe.restore(again, now)
        probe.advance(bench.step, bench.count - bench.count // 2)
        expect_same(first, probe.result(), "serialised: ")
        probe.forget(again)
        remark += ", serialised too"
    probe.forget(state)
    probe.finish()
    return remark


def step_size(bench: InstanceBench) -> str:
    """Half the communication step gives the same result up to the solver's error."""
    if bench.exchange:
        raise Skip("model exchange: the importer integrates")
    if not bench.can("canHandleVariableCommunicationStepSize"):
        raise Skip("canHandleVariableCommunicationStepSize is false")
    if "fixedInternalStepSize" in bench.capabilities:
        raise Skip("the FMU says that its internal step is fixed")
    results = []
    for divisor in (1, 2):
        probe = bench.open()
        begin = probe.result()
        probe.advance(bench.step / divisor, STEPS * divisor)
        results.append(probe.result())
        probe.finish()
    if not results[0]:
        raise Skip("no Real output")
    worst = 0.0
    for full, half, first in zip(*results, begin, strict=True):
        size = max(abs(full), abs(half), abs(full - first), 1e-6)
        worst = max(worst, abs(full - half) / size)
    if not worst <= LOOSE:
        raise AssertionError(f"H and H/2 differ by {worst:.2g} of the value; allowed {LOOSE:g}")
    return f"H = {bench.step:g} s and H/2 differ by {worst:.1e}"


def states_and_nominals(bench: InstanceBench) -> str:
    """States are written and read back, nominals are positive, derivatives finite."""
    if not bench.exchange:
        raise Skip("co-simulation")
    probe = bench.open()
    if not probe.states:
        raise Skip("no continuous state")
    if not all(x > 0 for x in probe.nominals()):
        raise AssertionError(f"nominal values are not positive: {probe.nominals()}")
    values = [x + 1e-3 for x in probe.continuous_states()]
    probe.write_states(values)
    expect_same(values, probe.continuous_states())
    if not all(map(math.isfinite, probe.derivatives())):
        raise AssertionError(f"derivatives are not finite: {probe.derivatives()}")
    probe.finish()
    return f"{probe.states} states"


TRIALS: dict[str, Callable[[InstanceBench], str]] = {
    "life cycle": life_cycle,
    "other start time": other_start_time,
    "start values": start_values,
    "several instances": several_instances,
    "saved state": saved_state,
    "saved in every mode": saved_everywhere,
    "reset in every mode": reset_in_every_mode,
    "event mode": event_mode,
    "directional derivative": directional_derivative,
    "step size": step_size,
    "states and nominals": states_and_nominals,
}
