"""``softdock run``: run an experiment or a system and write everything down."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from orchestrator.cli.console import (
    print_json,
    print_lines,
    print_message,
    print_table,
    print_warning,
    progress_bar,
)
from orchestrator.cli.failure import BROKEN, INTERRUPTED, NEVER_ENGAGED, REFUSED, STOPPED, fail
from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.study import ExperimentOutcome
    from orchestrator.study.experiment import ParameterFile


_DETAILS = {"time_s": "at {:.6g} s", "frequency_hz": "{:.6g} Hz", "predicted": "predicted {:+.6g}"}


def print_outcome(outcome: ExperimentOutcome) -> None:
    """Print what was run, what was measured, and which pictures were drawn."""
    rows = []
    for key, finished in outcome.cases.items():
        result, loops = finished.result, finished.result.loops
        rows.append(
            [
                key,
                result.algorithm,
                result.delay_mode,
                f"{result.step_ns / 1e6:g}",
                " ".join(sorted({f"{loop.physical_ns / 1e6:g}" for loop in loops})),
                " ".join(sorted({f"{loop.numerical_ns / 1e6:+.3f}" for loop in loops})),
                f"{result.simulated_seconds:g}",
                f"{result.real_time_factor:,.0f}",
            ]
        )
    columns = ["case", "master", "delay", "H [ms]", "physical [ms]", "numerical [ms]"]
    print_table(outcome.title, [*columns, "simulated [s]", "x real time"], rows)
    for key, finished in outcome.cases.items():
        print_lines(*(f"{key}: {remark}" for remark in finished.result.remarks))
    measured = [
        [
            f"{key}: {name}",
            f"{value.value:+.6g} {value.unit}".rstrip(),
            ", ".join(
                t.format(value.details[k]) for k, t in _DETAILS.items() if k in value.details
            ),
        ]
        for key, finished in outcome.cases.items()
        for name, value in finished.measured.items()
    ]
    if measured:
        print_table("Measured", ["figure", "value", "details"], measured)
    for section in (
        section for finished in outcome.cases.values() for section in finished.sections
    ):
        if texts := section.texts():
            print_table(section.heading, list(section.columns), texts)
        print_lines(*section.lines)
    if counts := outcome.counted_expectations():
        print_lines(counts)
    for path in outcome.files:
        if path.suffix in {".html", ".png"}:
            print_lines(path)


#: Options that may stand without a value: what they mean then, and how a value looks.
_MAY_STAND_ALONE = {
    "--realtime": ("1", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")),
    "--live": ("8700", re.compile(r"(([\w.-]+|\[[\da-fA-F:]+\]):)?\d+")),
}


def completed(arguments: Sequence[str]) -> Iterator[str]:
    """Yield arguments of a command, options that stand without a value with the one they mean.

    ``--realtime 2`` and ``--realtime=2`` say the same; of ``--realtime FILE`` the file is the next
    argument. What stands behind ``--`` is no option.
    """
    remaining = list(arguments)
    while remaining:
        argument = remaining.pop(0)
        if argument == "--":
            yield argument
            yield from remaining
            return
        if argument not in _MAY_STAND_ALONE:
            yield argument
            continue
        meant, form = _MAY_STAND_ALONE[argument]
        value = remaining.pop(0) if remaining and form.fullmatch(remaining[0]) else meant
        yield f"{argument}={value}"


class RunCommand(TyperCommand):
    """A command with options that may stand without a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        return super().parse_args(ctx, list(completed(args)))


SET_DELAY = "Set the delay of a connection: 'a.y -> b.u=12 ms'; repeatable"
COMMAND = RunCommand
#: Exit code of a run that did all that was requested, in which a component went to its safe state.
SAFE_STATE = 3


def run(
    context: typer.Context,
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    output: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: results/NAME")
    ] = None,
    case: Annotated[list[str] | None, typer.Option(help="Run only this case; repeatable")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set a value: component.parameter=value; repeatable"),
    ] = None,
    parameters: Annotated[
        list[Path] | None,
        typer.Option(help="Parameter set (.ssv) to apply to every case; repeatable"),
    ] = None,
    mapping: Annotated[
        list[Path] | None,
        typer.Option(help="Mapping (.ssm) of the parameter set at the same position; repeatable"),
    ] = None,
    swap: Annotated[
        list[str] | None,
        typer.Option(
            help="Replace a component: component=FILE.fmu, =block:NAME, "
            "=block:FILE.py:CLASS, =device:NAME?key=value or =log:FILE; repeatable"
        ),
    ] = None,
    set_delay: Annotated[list[str] | None, typer.Option(help=SET_DELAY)] = None,
    isolate: Annotated[
        list[str] | None,
        typer.Option(
            help="Run this component in a separate process; 'all' isolates every "
            "component; repeatable"
        ),
    ] = None,
    platform: Annotated[
        Literal["win64"] | None,
        typer.Option(help="Run the Windows library of every FMU, under Wine"),
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="Master algorithm; default: that of the case or system")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="Option of the algorithm, name=value; repeatable"),
    ] = None,
    delay: Annotated[
        Literal["waveform", "mean", "plain"] | None,
        typer.Option(
            help="How declared delays are realised; default: that of the case, else waveform"
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Communication step, such as '1 ms'; default: that of the case or system"
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(help="Stop time, such as '60 s'; default: that of the case or system"),
    ] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(
            help="Record only this variable; * and ? match outputs; repeatable; default: "
            "all outputs"
        ),
    ] = None,
    every: Annotated[
        int | None, typer.Option(help="Record every n-th step; default: every step", min=1)
    ] = None,
    format_: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="File format: parquet, npz, csv, mat or mcap; repeatable; default: parquet",
        ),
    ] = None,
    flush: Annotated[
        str | None,
        typer.Option(
            help="Write the results every so often (wall-clock time) during the run, such as '1 s'"
        ),
    ] = None,
    backend: Annotated[
        Literal["native", "fmpy", "pyfmi"] | None,
        typer.Option(help="Library that runs the FMUs; default: native"),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the debug messages of FMUs")] = False,
    animation: Annotated[
        bool,
        typer.Option("--animation/--no-animation", help="Render the animations of the experiment"),
    ] = True,
    figures: Annotated[
        bool,
        typer.Option(
            "--figures", help="Also write all figures as files, figures/NAME.png and .svg"
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse FMUs that break any rule of FMI"),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Run each case also with H/2 and H/4, and compare the results"
        ),
    ] = False,
    realtime: Annotated[
        str | None,
        typer.Option(
            "--realtime",
            metavar="[FACTOR]",
            help="Run in real time, or at FACTOR simulated seconds per second",
        ),
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(
            "--live",
            metavar="[[HOST:]PORT]",
            help="Show the run in a browser while it runs; default: port 8700 of this machine",
        ),
    ] = None,
    tuning: Annotated[
        Path | None,
        typer.Option(help="Result whose recorded tuning to replay, at the same steps"),
    ] = None,
    stream: Annotated[
        list[str] | None,
        typer.Option(
            help="Stream the rows to PlotJuggler (udp[:[HOST:]PORT], default port 9870) or"
            " Foxglove (foxglove[:[HOST:]PORT], default port 8765); repeatable"
        ),
    ] = None,
    force_arming: Annotated[
        bool,
        typer.Option("--force-arming", help="Let devices move even if arming is refused"),
    ] = False,
    identify: Annotated[
        bool,
        typer.Option(
            "--identify/--no-identify",
            help="Identify devices before arming, or use the twins of an earlier run",
        ),
    ] = True,
    linearise: Annotated[
        bool | None,
        typer.Option(
            "--linearise/--no-linearise",
            help="Report the effect of the step size on every loop; default: that of the "
            "case, else yes",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Run an experiment or a system, and write results and a report."""
    from orchestrator.cli.target import experiment_of, results_name, with_options
    from orchestrator.core.garbage import pass_over_loaded
    from orchestrator.study.experiment import RunOptions
    from orchestrator.study.prepare.prepared_case import RunSettings
    from orchestrator.study.runner import run_with

    pass_over_loaded()
    experiment, folder = experiment_of(target)
    if not animation:
        experiment = experiment.model_copy(update={"animation": {}})
    options = RunOptions(
        algorithm=algorithm,
        algorithm_options=options_of(option, "--option") if option else None,
        delay=delay,
        step=step,
        stop=stop,
        every=every,
        record=tuple(record) if record else None,
        formats=tuple(format_) if format_ else None,
        flush=flush,
        backend=backend,
        debug=debug or None,
        linearise=linearise,
    )
    name = results_name(target, folder)
    changed = _changes(context)
    notes = [f"changed on the command line: {changed}"] if changed else []
    # the results of the whole experiment stay as they are
    location = output or Path("results") / (f"{name}-variant" if changed or case else name)
    with _interruption(), progress_bar() as bar:
        settings = RunSettings(
            values=pairs(set_ or [], "--set", "component.parameter=value", empty=True),
            swaps=pairs(swap or [], "--swap", "component=SOURCE"),
            delays=pairs(set_delay or [], "--set-delay", "'a.y -> b.u=12 ms'"),
            parameters=parameter_files(parameters or [], mapping or []),
            only=case or (),
            isolated=isolate or (),
            platform=platform,
            notes=notes,
            strict=strict,
            verify=verify,
            realtime=None if realtime is None else _factor(realtime),
            force_arming=force_arming,
            figures=figures,
            live=live,
            tuning=tuning,
            stream=tuple(stream) if stream else None,
            stored_twins=None if identify else (location, Path("results") / name),
        )
        requested = with_options(experiment, options)
        look = None if bar is None else bar.look
        outcome = run_with(requested, folder, location, settings, bar, print_message, look)
    for sweep_name in experiment.sweep:  # those with axes are not run with the cases
        if sweep_name not in experiment.listed_sweeps:
            command = shlex.join(["softdock", "sweep", str(target), sweep_name])
            print_message(f"sweep '{sweep_name}' was not run: {command}")
    _end(outcome, json=json)


#: Parameters that change neither a case nor how it is run.
_KEEPING = {
    *("target", "output", "case", "strict", "verify", "identify", "linearise", "debug", "code"),
    *("animation", "figures", "live", "stream", "json"),
}


def _changes(context: typer.Context) -> str:
    """Return the options of the command line that change cases, or how they are run."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in _KEEPING or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        option = parameter.opts[0]
        if value is True:
            words.append(option)
        else:
            for text in value if isinstance(value, list) else [value]:
                words += [option, str(text)]
    return shlex.join(words)


def _end(outcome: ExperimentOutcome, *, json: bool) -> None:
    """Print what came out, and end with the exit code that it has."""
    never = outcome.never_engaged
    for text in outcome.broken:
        print_warning(text)
    if outcome.problems:
        if not json:
            print_outcome(outcome)
        fail(
            "DescriptionError",
            "\n".join(outcome.problems),
            NEVER_ENGAGED if never else REFUSED,
            data=outcome.as_json(),
            problems=outcome.problems,
        )
    if json:
        print_json(outcome.as_json())
    else:
        print_outcome(outcome)
    for case, stop in outcome.stopped.items():
        print_warning(f"case '{case}': {stop}; no further case was run, and all results are kept")
    if outcome.stopped and not never:
        by = {stop.by for stop in outcome.stopped.values()}
        raise typer.Exit(STOPPED if by == {"operator"} else SAFE_STATE)
    if never:
        print_warning(f"never engaged in {', '.join(never)}: no device followed the simulation")
        raise typer.Exit(NEVER_ENGAGED)
    if outcome.broken:
        raise typer.Exit(BROKEN)
    if outcome.safe_states:
        cases = ", ".join(outcome.safe_states)
        print_warning(
            f"safe state in {cases}: from then on the results are not those of the intended run;"
            " they are kept"
        )
        raise typer.Exit(SAFE_STATE)


def _factor(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DescriptionError(f"--realtime {text}: expected a number > 0, or nothing") from None


@contextmanager
def _interruption() -> Iterator[None]:
    """Say what Ctrl-C, or SIGTERM, left behind."""
    from orchestrator.core.simulation import InterruptedRun

    try:
        yield
    except InterruptedRun as interruption:
        name = interruption.result.name
        text = f"{interruption}; recorded until then: {name}.partial.*"
        fail("Interrupted", text, INTERRUPTED)
    except KeyboardInterrupt:
        text = "interrupted; what cases recorded that were finished: NAME.partial.*"
        fail("Interrupted", text, INTERRUPTED)


def parameter_files(sets: list[Path], mappings: list[Path]) -> list[ParameterFile]:
    """Put parameter sets and their mappings together."""
    from orchestrator.study.experiment import ParameterFile

    if mappings and len(mappings) != len(sets):
        raise DescriptionError(
            f"--mapping: expected one for each of the {len(sets)} --parameters, or none, found"
            f" {len(mappings)}"
        )
    pairs_of_files = zip_longest(map(str, sets), map(str, mappings))
    return [ParameterFile(file=file, mapping=mapping) for file, mapping in pairs_of_files]


def options_of(texts: list[str], option: str) -> dict[str, float | bool | str]:
    """Read what an option was given, ``name=VALUE`` several times: numbers, truth values, text."""
    from orchestrator.author.reading import plain_value

    return {k: plain_value(text) for k, text in pairs(texts, option, "name=value").items()}


def pairs(texts: list[str], option: str, form: str, *, empty: bool = False) -> dict[str, str]:
    """Read what an option was given, ``NAME=VALUE`` several times; ``empty``: or ``NAME=``."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and (value or empty)):
            raise DescriptionError(f"{option} {text}: expected {form}")
        values[name] = value
    return values
