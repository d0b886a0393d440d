"""``softdock export``: systems and blocks become files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.console import print_json, print_lines
from orchestrator.cli.run import SET_DELAY, pairs
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    UnknownNameError,
    enumerated,
)
from orchestrator.core.structs import replace

if TYPE_CHECKING:
    from orchestrator.core.simunits import Block
    from orchestrator.core.system import Fault, System, Value
    from orchestrator.export import BuildResult
    from orchestrator.study.experiment import RunOptions
    from orchestrator.study.prepare.prepared_case import RunSettings


PlatformOption = Annotated[
    str | None,
    typer.Option(
        help="Platforms to compile for, comma-separated: "
        "win64,linux64,darwin64,aarch64-linux,aarch64-darwin, or their FMI 3.0 "
        "names; default: this machine. Other platforms need the extra cross"
    ),
]


def platforms_in(text: str | None) -> tuple[str, ...]:
    """The names that the option gives; none, if it is not given."""
    from orchestrator.export.recipe import names_of, platforms_of

    if text is None:
        return ()
    return tuple(names_of(platforms_of(name.strip() for name in text.split(","))))


def print_built(built: list[BuildResult]) -> None:
    """Print the files that were built, or are as they were."""
    for result in built:
        state = "unchanged" if result.cached else f"built in {result.seconds:.1f} s"
        print_lines(*(f"{path}  ({result.model}, {state})" for path in result.files.values()))


VERSIONS = {"2": ("2.0",), "3": ("3.0",), "both": ("2.0", "3.0")}


def block(
    name: Annotated[str, typer.Argument(help="A registered block, FILE.py:CLASS or MODULE:CLASS")],
    output: Annotated[
        Path, typer.Option(help="Folder for NAME.fmu and NAME.fmi3.fmu, or an .fmu file")
    ] = Path(),
    fmi: Annotated[Literal["2", "3", "both"], typer.Option(help="Version of FMI")] = "2",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Default of a parameter in the FMU, parameter=value; repeatable"
        ),
    ] = None,
    python: Annotated[
        bool | None,
        typer.Option(
            "--python/--no-python",
            help="Run the block in Python inside the FMU; default: only if it cannot be "
            "translated to C",
        ),
    ] = None,
    platform: PlatformOption = None,
    without_sources: Annotated[
        bool, typer.Option("--without-sources", help="Omit the C sources from the FMU")
    ] = False,
    force: Annotated[bool, typer.Option(help="Build even if nothing has changed")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Build an FMU of a Python block."""
    from orchestrator.core.simunits import block_class
    from orchestrator.export import build_block

    name = name.removeprefix("block:")
    built = build_block(
        name,
        output,
        fmi=VERSIONS[fmi],
        values=_values(name, block_class(name), set_ or []),
        python=python,
        platforms=platforms_in(platform),
        sources=not without_sources,
        force=force,
    )
    if json:
        files = {version: str(path) for version, path in built.files.items()}
        print_json({"files": files, "name": built.name, "cached": built.cached})
        return
    print_built([built])


def _values(name: str, kind: type[Block], pairs: list[str]) -> dict[str, Value]:
    from orchestrator.author.reading import value_of
    from orchestrator.core.system.naming import unknown_name_error

    values: dict[str, Value] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        if not equals:
            raise DescriptionError(f"--set {pair}: expected parameter=value")
        connector = kind.connectors.get(path)
        if connector is None or connector.causality == "output":
            settable = [c.name for c in kind.connectors.values() if c.causality != "output"]
            raise unknown_name_error(
                f"--set {pair}: block {name}", "parameter or input", path, settable
            )
        values[path] = value_of(text, connector, f"--set {pair}")
    return values


def ssp(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    output: Annotated[
        Path | None, typer.Option(help="Archive to write; default: NAME.ssp in the current folder")
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; optional if there is only one")
    ] = None,
    portable: Annotated[
        bool, typer.Option("--portable", help="Turn blocks and delays into FMUs, for other tools")
    ] = False,
    plain_connections: Annotated[
        bool,
        typer.Option(
            "--plain-connections",
            help="Also turn unit conversions and factors into FMUs, for tools that ignore them",
        ),
    ] = False,
    delay: Annotated[
        Literal["mean", "plain"] | None,
        typer.Option(help="How declared delays are realised; default: that of the case, else mean"),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Communication step of the other tool, such as '1 ms'; default: that of the case"
        ),
    ] = None,
    version: Annotated[
        Literal["1.0", "2.0"],
        typer.Option("--ssp-version", help="Version of SSP; 2.0 supports arrays"),
    ] = "1.0",
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Pack a system into an .ssp.

    With --portable it contains only FMUs and plain connections.
    """
    if not portable and (plain_connections or delay or step):
        raise DescriptionError(
            "--plain-connections, --delay and --step say how a system is made portable; give"
            " --portable, too"
        )
    if portable and version != "1.0":
        raise DescriptionError("--portable writes SSP 1.0, which other tools read")
    from orchestrator.core.system import whole_step_ns

    name, system, options = _system(target, case, portable=portable)
    path = output or Path(f"{name}.ssp")
    if path.suffix != ".ssp":
        raise DescriptionError(f"--output {path}: expected a name that ends in .ssp")
    remarks: tuple[str, ...] = ()
    if portable:
        from orchestrator.core.coupling import DelayMode
        from orchestrator.export.portable import write_portable_ssp

        step_ns = whole_step_ns(system, step or options.step or None, "a portable archive")
        remarks = write_portable_ssp(
            system,
            path,
            step_ns=step_ns,
            delay=DelayMode(delay or options.delay or "mean"),
            plain_connections=plain_connections,
        ).remarks
    else:
        from orchestrator.core.ssp import write_ssp

        write_ssp(system, path, version=version)
    if json:
        print_json({"file": str(path), "remarks": list(remarks)})
        return
    print_lines(path)
    print_lines(*(f"  {remark}" for remark in remarks))


def _system(target: Path, case: str | None, *, portable: bool) -> tuple[str, System, RunOptions]:
    """Read the target; a file of SSP as it is, a case of an experiment prepared to be run."""
    from orchestrator.cli.target import expect_case, experiment_of
    from orchestrator.core.ssp import read_system
    from orchestrator.study.experiment import RunOptions
    from orchestrator.study.prepare.prepare import merged, prepare

    experiment, folder = experiment_of(target)
    if target.suffix in {".ssd", ".ssp"}:
        if case is not None:
            raise DescriptionError(f"--case {case}: {target} is a system, which has no cases")
        return target.stem, read_system(target), RunOptions()
    name = case or next(iter(experiment.case))
    if case is None and len(experiment.case) > 1:
        raise UnknownNameError(
            f"{target} has several cases; choose one of {enumerated(experiment.case, 'or')} with"
            " --case"
        )
    expect_case(target, experiment, name)
    case_table = experiment.case[name]
    options = merged(case_table, experiment.defaults)
    problems = []
    if case_table.fault:
        problems.append(f"case '{name}' has faults, which no system holds: leave them out")
    if options.rates and portable:
        problems.append(f"case '{name}' has rates; other tools step all FMUs alike: leave them out")
    if problems:
        raise CapabilityError(*problems)
    return name, _with_times(prepare(name, case_table, folder), options), options


def _with_times(system: System, options: RunOptions) -> System:
    """Let the times of a case be those of the system's default experiment."""
    from orchestrator.core.system import nanoseconds
    from orchestrator.core.system.time import step_length

    times: dict[str, Any] = {
        f"{key}_ns": (step_length if key == "step" else nanoseconds)(value, key)
        for key, value in (
            ("start", options.start),
            ("stop", options.stop),
            ("step", options.step),
        )
        if value is not None
    }
    algorithm = options.algorithm or system.experiment.algorithm
    return replace(system, experiment=replace(system.experiment, algorithm=algorithm, **times))


app = typer.Typer(help="Export systems and blocks for other tools.", no_args_is_help=True)


@app.command()
def fmu(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    output: Annotated[
        Path | None, typer.Option(help="FMU to write; default: NAME.fmu in the current folder")
    ] = None,
    fmi: Annotated[
        Literal["2", "3", "both"],
        typer.Option(help="Version of FMI; both writes X.fmu (FMI 2) and X.fmi3.fmu (FMI 3)"),
    ] = "2",
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; optional if there is only one")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set a value: component.parameter=value; repeatable"),
    ] = None,
    swap: Annotated[
        list[str] | None, typer.Option(help="Replace a component: component=FILE.fmu; repeatable")
    ] = None,
    set_delay: Annotated[list[str] | None, typer.Option(help=SET_DELAY)] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="Master algorithm inside the FMU; default: that of the case")
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
            help="Communication step inside the FMU, such as '1 ms'; default: that of the case"
        ),
    ] = None,
    platform: PlatformOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Export a whole system as one FMU.

    The FMU needs neither Softdock nor Python.
    """
    from orchestrator.export.system import export_system
    from orchestrator.study.experiment import RunOptions
    from orchestrator.study.prepare.prepared_case import RunSettings

    overrides = RunOptions(algorithm=algorithm, delay=delay, step=step)
    values = pairs(set_ or [], "--set", "component.parameter=value", empty=True)
    swaps = pairs(swap or [], "--swap", "component=SOURCE")
    delays = pairs(set_delay or [], "--set-delay", "'a.y -> b.u=12 ms'")
    name, system, options, faults = chosen_case(
        target, case, overrides, RunSettings(values, swaps, delays)
    )
    path = output or Path(f"{name}.fmu")
    if path.suffix != ".fmu":
        raise DescriptionError(f"--output {path}: expected a name that ends in .fmu")
    platforms = platforms_in(platform)
    written = {
        version: export_system(
            system,
            path.with_suffix(".fmi3.fmu") if fmi == "both" and version == 3 else path,
            fmi=version,
            **options.stepping,
            faults=faults,
            platforms=platforms,
        )
        for version in {"2": [2], "3": [3], "both": [2, 3]}[fmi]
    }
    if json:
        print_json([{"file": str(p), "fmi": v} for v, p in written.items()])
        return
    print_lines(*(f"{file}  ({system.name}, FMI {version}.0)" for version, file in written.items()))


def chosen_case(
    target: Path,
    name: str | None,
    overrides: RunOptions,
    settings: RunSettings,
) -> tuple[str, System, RunOptions, list[Fault]]:
    """Prepare one case of a target, with the options that it is run with, and its faults."""
    from orchestrator.cli.target import expect_case, experiment_of, with_options
    from orchestrator.core.system import nanoseconds
    from orchestrator.study.prepare.prepare import expect_lines, merged, prepare_open
    from orchestrator.study.prepare.prepared_case import SystemReader, expect_components, faults_of

    experiment, folder = experiment_of(target)
    cases = ", ".join(experiment.case)
    if name is None and len(experiment.case) > 1:
        raise DescriptionError(f"{target}: has the cases {cases}; choose one with --case")
    name = name or next(iter(experiment.case))
    expect_case(target, experiment, name)
    case = with_options(experiment, overrides).case[name]
    system = prepare_open(name, case, SystemReader(folder), settings)
    expect_components(settings, {name: system})
    expect_lines(settings.delays, {name: system})
    options = merged(case, experiment.defaults)
    times: dict[str, Any] = {
        f"{key}_ns": nanoseconds(text, f"{key} time")
        for key, text in (("start", options.start), ("stop", options.stop))
        if text is not None
    }
    if options.backend is not None:
        system = system.with_backend(options.backend)
    timed = replace(system, experiment=replace(system.experiment, **times))
    return name, timed, options, faults_of(case)


app.command("block")(block)
app.command("ssp")(ssp)
