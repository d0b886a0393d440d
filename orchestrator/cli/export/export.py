"""``softdock export``: systems become files for other tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.export.export_block import block
from orchestrator.cli.export.export_ssp import ssp
from orchestrator.cli.export.platform_option import PlatformOption, platforms_in
from orchestrator.cli.run import SET_DELAY, pairs
from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json
from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.core.system import Fault, System
    from orchestrator.study.file.experiment import RunOptions
    from orchestrator.study.prepare.run_settings import RunSettings

app = typer.Typer(help="Turn systems into files for other tools.", no_args_is_help=True)


@app.command()
def fmu(
    target: Annotated[Path, typer.Argument(help="experiment.toml, .ssd, .ssp, or their folder")],
    output: Annotated[
        Path | None, typer.Option(help="The FMU to write; default: NAME.fmu in this folder")
    ] = None,
    fmi: Annotated[
        Literal["2", "3", "both"],
        typer.Option(help="Version of FMI; both: FMI 2 gives X.fmu, FMI 3 X.fmi3.fmu"),
    ] = "2",
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment, if it has several")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="component.parameter=value")
    ] = None,
    swap: Annotated[
        list[str] | None, typer.Option(help="component=file.fmu; may be given several times")
    ] = None,
    set_delay: Annotated[list[str] | None, typer.Option(help=SET_DELAY)] = None,
    algorithm: Annotated[str | None, typer.Option(help="Master algorithm inside the FMU")] = None,
    delay: Annotated[
        Literal["waveform", "mean", "plain"] | None,
        typer.Option(help="How declared delays are realised"),
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="Communication step inside the FMU, such as '1 ms'")
    ] = None,
    platform: PlatformOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Write a whole system as one FMU that runs without Softdock and without Python."""
    from orchestrator.export.system import export_system
    from orchestrator.study.file.experiment import RunOptions
    from orchestrator.study.prepare.run_settings import RunSettings

    given = RunOptions(algorithm=algorithm, delay=delay, step=step)
    values = pairs(set_ or [], "--set", "component.parameter=value", empty=True)
    swaps = pairs(swap or [], "--swap", "component=SOURCE")
    delays = pairs(set_delay or [], "--set-delay", "'a.y -> b.u=12 ms'")
    name, system, options, faults = chosen_case(
        target, case, given, RunSettings(values, swaps, delays)
    )
    path = output or Path(f"{name}.fmu")
    if path.suffix != ".fmu":
        raise DescriptionError(f"--output {path}: expected a name that ends in .fmu")
    versions = {"2": [2], "3": [3], "both": [2, 3]}[fmi]
    platforms = platforms_in(platform)
    written = [
        export_system(
            system,
            path.with_suffix(".fmi3.fmu") if fmi == "both" and version == 3 else path,
            fmi=version,
            **options.way,
            faults=faults,
            platforms=platforms,
        )
        for version in versions
    ]
    if json:
        print_json([{"file": str(p), "fmi": v} for v, p in zip(versions, written, strict=True)])
        return
    for version, file in zip(versions, written, strict=True):
        console.print(f"{file}  ({system.name}, FMI {version}.0)", markup=False)


def chosen_case(
    target: Path,
    name: str | None,
    given: RunOptions,
    settings: RunSettings,
) -> tuple[str, System, RunOptions, list[Fault]]:
    """Prepare one case of a target, with the options that it is run with, and its faults."""
    from orchestrator.cli.target import expect_case, experiment_of, with_options
    from orchestrator.core.system import nanoseconds
    from orchestrator.study.prepare.faults import faults_of
    from orchestrator.study.prepare.prepare import expect_lines, merged, prepare_open
    from orchestrator.study.prepare.requested_names import expect_components
    from orchestrator.study.prepare.system_reader import SystemReader

    experiment, folder = experiment_of(target)
    known = ", ".join(experiment.case)
    if name is None and len(experiment.case) > 1:
        raise DescriptionError(f"{target}: has the cases {known}; choose one with --case")
    name = name or next(iter(experiment.case))
    expect_case(target, experiment, name)
    case = with_options(experiment, given).case[name]
    system = prepare_open(name, case, SystemReader(folder), settings)
    expect_components(settings, {name: system})
    expect_lines(settings.delays, {name: system})
    options = merged(case, experiment.defaults)
    times = system.experiment
    if options.start is not None:
        times = replace(times, start_ns=nanoseconds(options.start, "start time"))
    if options.stop is not None:
        times = replace(times, stop_ns=nanoseconds(options.stop, "stop time"))
    if options.backend is not None:
        system = system.with_backend(options.backend)
    return name, replace(system, experiment=times), options, faults_of(case)


app.command("block")(block)
app.command("ssp")(ssp)
