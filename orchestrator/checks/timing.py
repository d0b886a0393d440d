"""Steps, delays and rates, against the run, the FMUs, and the devices that bring delays."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.checks.context import CheckContext, Compiled, IntendedRun, finding, suggested_step
from orchestrator.core.coupling import DelayPlan, rounded_delay
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, SoftdockError
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.system.time import milliseconds, settled_end, whole_steps
from orchestrator.rig.hardware.cases import (
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
        "the run has no step",
        "The stop time must be at least one communication step after the start, and the step must"
        " be above zero.",
    ),
    note(
        "TIM102",
        "no step or stop time is given",
        "Neither the system nor the experiment has a communication step or a stop time. SSP has"
        " no element for the step: give it to the run (`--step`, `--stop`), or to the check, which"
        " then checks steps and delays.",
        "SSP 1.0.1, 5.1.1",
    ),
    note(
        "TIM103",
        "a delay is not a multiple of the step",
        "In mean mode Softdock interpolates between samples and keeps the delay. In plain mode"
        " the delay becomes the next multiple of the step.",
    ),
    warning(
        "TIM104",
        "a delay is shorter than the step",
        "The target holds its input during a step, so a delay below the step needs extrapolation"
        " or is lost. Shorten the step.",
    ),
    error(
        "TIM105",
        "a varying delay with steps of varying length",
        "Delays that vary from sample to sample need steps of fixed length.",
    ),
    error(
        "TIM106",
        "an impossible rate",
        "A rate is a whole number of communication steps of one component, with an algorithm that"
        " neither iterates nor varies the step.",
    ),
    warning(
        "TIM107",
        "the stop time is not a multiple of the step",
        "The run ends at the last whole step before its stop time.",
    ),
    error(
        "TIM109",
        "the step is not a multiple of an FMU's own step",
        "The FMU advances by a fixed internal step, and every communication step must contain a"
        " whole number of them.",
        "FMI 3.0, 4.3.1",
    ),
    error(
        "TIM110",
        "the step is longer than a component allows",
        "The component declares a maximum step.",
    ),
    note(
        "TIM111",
        "the step is longer than the FMU suggests",
        "The default experiment of the FMU has a shorter communication step. It is a hint, not a"
        " limit.",
        "FMI 2.0.4, 2.2.5",
    ),
    note(
        "TIM112",
        "a connection is read ahead of its newest sample",
        "To keep the declared delay of its loops, the connection needs a sample that does not"
        " exist yet: Softdock extrapolates, or holds the newest sample.",
    ),
    error(
        TWICE,
        "a delay is counted twice",
        "A component is a device or the twin of a device, and brings its own delay. A connection"
        " that begins at its response still declares the delay of the same hardware, from the time"
        " when a model without a delay was in its place. Keep on the connection only the delay"
        " besides the device. Softdock accepts a delay that is set next to the swap, in the same"
        " table or later, and is shorter than that of the device, and a delay whose `device` names"
        " another device.",
    ),
    warning(
        OTHERWISE,
        "a connection declares another delay than was identified",
        "Some case of the experiment uses a twin of the device at which this connection begins."
        " The connection declares a delay outside of the identified interval or, if hardware makes"
        " the connection, a shorter delay than that of the device alone.",
    ),
    warning(
        ON_TOP,
        "a delay adds to that of a device",
        "A connection carries a command to a device, or a response of one, and the run delays it."
        " The device has a delay of its own, so the loop has both, and arming counts both. If the"
        " delay is that of something else, such as a network, name that in its `device`.",
    ),
    error(
        STRANGER,
        "a twin is of another device",
        "The file of a twin names its adapter and component. In the cases of the experiment"
        " another adapter replaces this component, or the twin is that of another component of the"
        " system.",
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
        and (remainder := whole_steps(settled_end(stop_ns - run.start_ns, step_ns), step_ns)[1])
    ):
        text = (
            f"the run ends at {(stop_ns - remainder) / 1e9:.9g} s: {stop_ns / 1e9:.9g} s is no"
            " whole"
            f" number of steps of {milliseconds(step_ns)} after the start"
        )
        yield finding("TIM107", "", text)


def check(compiled: Compiled) -> Iterator[Diagnostic]:
    """Check delays, and steps against the steps that the FMUs suggest."""
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
    except DescriptionError as failure:
        yield from (diagnostic for diagnostic in failure.diagnostics if diagnostic.code in ERRORS)
    except SoftdockError:
        return  # a twin that cannot be read: its source has been told
