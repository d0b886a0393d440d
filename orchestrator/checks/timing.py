"""Steps, delays and rates, against the run, the FMUs, and the devices that bring delays."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.checks.context import CheckContext, Compiled, IntendedRun, finding, suggested_step
from orchestrator.core.coupling import DelayPlan, rounded_delay
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, SoftdockError
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.system.time import milliseconds, settled_end, whole_steps
from orchestrator.rig.hardware import (
    ERRORS,
    ON_TOP,
    OTHERWISE,
    STRANGER,
    TWICE,
    Hardware,
    on_hardware,
)

CODES: tuple[Code, ...] = (
    error(
        "TIM101",
        "the times of the run hold no step",
        "The stop time must lie at least one communication step after the start, and the step above"
        " zero.",
    ),
    note(
        "TIM102",
        "no step or stop time is given",
        "Neither the system nor the experiment says the communication step or the stop time. SSP"
        " has no place for the step: give it when the system is run (`--step`, `--stop`), or"
        " here, to have steps and delays checked.",
        "SSP 1.0.1, 5.1.1",
    ),
    note(
        "TIM103",
        "a delay is no multiple of the step",
        "In mean mode the line is interpolated between samples and keeps its delay; in plain mode"
        " the delay becomes the next multiple of the step.",
    ),
    warning(
        "TIM104",
        "a delay is shorter than the step",
        "Within one step the target sees an input that is held: a delay below the step is made by"
        " reading ahead or is lost. Take a shorter step.",
    ),
    error(
        "TIM105",
        "a varying delay with steps of varying length",
        "Delays that vary from sample to sample need steps of fixed length.",
    ),
    error(
        "TIM106",
        "a rate that cannot be",
        "A rate is a whole number of communication steps for one component, with an algorithm that"
        " does not iterate and does not vary the step.",
    ),
    warning(
        "TIM107",
        "the stop time is off the grid of steps",
        "The run ends at the last whole step before its stop time.",
    ),
    error(
        "TIM109",
        "the step is no multiple of an FMU's own",
        "The FMU advances by a fixed internal step, and every communication step must hold a whole"
        " number of them.",
        "FMI 3.0, 4.3.1",
    ),
    error(
        "TIM110",
        "the step is longer than a component takes",
        "The component says how long its steps may be at most.",
    ),
    note(
        "TIM111",
        "the step is longer than the FMU suggests",
        "The FMU's default experiment names a shorter communication step. It is a hint, not a"
        " limit.",
        "FMI 2.0.4, 2.2.5",
    ),
    note(
        "TIM112",
        "a line is read ahead of its newest sample",
        "To keep the declared delay of its loops the line needs a sample that is not there yet: it"
        " is extrapolated, or the newest is held.",
    ),
    error(
        TWICE,
        "a delay is counted twice",
        "A component is a device or the twin of one, which brings its delay, and a line that begins"
        " at its response declares the delay of the same hardware, from when a model without one"
        " stood there. Leave on the line only what lies on it beside the device. What is set beside"
        " the swap, in the same table or later, and is shorter than the device's delay is taken"
        " for that, and so is a delay whose `device` names another one.",
    ),
    warning(
        OTHERWISE,
        "a line declares another delay than was identified",
        "A twin of the device that this line begins at stands in some case of the experiment, and"
        " the line declares a delay outside of the interval that was identified, or, where hardware"
        " makes the line, a shorter one than that of the device alone.",
    ),
    warning(
        ON_TOP,
        "a delay comes on top of that of a device",
        "A line carries a command to a device, or a response of one, and the run delays it. The"
        " device has a delay of its own, so that the loop has both, and arming counts both. A delay"
        " of something else, such as a network, says so by its `device`.",
    ),
    error(
        STRANGER,
        "a twin is of another device",
        "The file of the twin says of which adapter and component it is. Another adapter stands for"
        " this component in the cases of the experiment, or the twin is that of another component"
        " of the system.",
    ),
)


def check_run(run: IntendedRun) -> Iterator[Diagnostic]:
    """Check the times of a run."""
    missing = [
        name
        for name, value in (("communication step", run.step_ns), ("stop time", run.stop_ns))
        if value is None
    ]
    if missing:
        yield finding("TIM102", "", f"no {' and no '.join(missing)}: give it for a run")
    step_ns, stop_ns = run.step_ns, run.stop_ns
    if step_ns is not None and step_ns <= 0:
        text = f"expected a communication step > 0 s, found {step_ns / 1e9:g} s"
        yield finding("TIM101", "", text)
    elif stop_ns is not None and stop_ns - run.start_ns < (step_ns or 1):
        step = "" if step_ns is None else f", step {step_ns / 1e9:g} s"
        text = (
            "expected a stop at least one step after the start; found start"
            f" {run.start_ns / 1e9:g} s, stop {stop_ns / 1e9:g} s{step}"
        )
        yield finding("TIM101", "", text)
    elif (
        step_ns
        and stop_ns is not None
        and (rest := whole_steps(settled_end(stop_ns - run.start_ns, step_ns), step_ns)[1])
    ):
        text = (
            f"the run ends at {(stop_ns - rest) / 1e9:.9g} s: {stop_ns / 1e9:.9g} s is no whole"
            f" number of steps of {milliseconds(step_ns)} after the start"
        )
        yield finding("TIM107", "", text)


def check(compiled: Compiled) -> Iterator[Diagnostic]:
    """Check delays, and steps against those that the FMUs suggest."""
    if compiled.run.step_ns:
        yield from _short_delays(compiled, compiled.run.step_ns)
        yield from _suggested(compiled, compiled.run.step_ns)
    if compiled.schedule is not None:
        for plan in compiled.schedule.plans:
            yield from _line(plan, compiled.schedule.step_ns)


def _line(plan: DelayPlan, step_ns: int) -> Iterator[Diagnostic]:
    at = str(plan.connection)
    if text := rounded_delay(plan, step_ns):
        yield finding("TIM103", at, text)
    if plan.connection.delay and plan.extrapolation_ns:
        text = f"is read {milliseconds(plan.extrapolation_ns)} ahead of its newest sample"
        yield finding("TIM112", at, f"{text}: extrapolated ({plan.extrapolation})")
    if plan.held_ns:
        text = f"would have to be read {milliseconds(plan.held_ns)} ahead of its newest sample"
        yield finding("TIM112", at, f"{text}, which is held instead: it is late by that")


def _short_delays(compiled: Compiled, step_ns: int) -> Iterator[Diagnostic]:
    rates = compiled.run.rates
    for line in compiled.system.connections:
        if line.delay is None or not line.delay.nominal_ns:
            continue  # zero says: take the step's own delay off
        own_ns = step_ns * rates.get(line.target.component, 1)
        if line.delay.nominal_ns < own_ns:
            text = (
                f"the delay of {milliseconds(line.delay.nominal_ns)} is shorter than the step of"
                f" {milliseconds(own_ns)}; take a shorter step"
            )
            yield finding("TIM104", str(line), text)


def _suggested(compiled: Compiled, step_ns: int) -> Iterator[Diagnostic]:
    for name, component in compiled.system.components.items():
        wanted_ns = suggested_step(component)
        own_ns = step_ns * compiled.run.rates.get(name, 1)
        if wanted_ns and own_ns > wanted_ns:
            text = f"steps of {milliseconds(own_ns)}; the FMU suggests {milliseconds(wanted_ns)}"
            yield finding("TIM111", name, text)


def check_devices(context: CheckContext) -> Iterator[Diagnostic]:
    """Check a system that no experiment says anything of."""
    if context.flat is None:
        return
    try:
        on_hardware(context.flat, Hardware(), {})
    except DescriptionError as wrong:
        yield from (each for each in wrong.diagnostics if each.code in ERRORS)
    except SoftdockError:
        return  # a twin that cannot be read: its source has been told
