"""``softdock export ssp``: a system with all its FMUs in one archive, for us or for other tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError

if TYPE_CHECKING:
    from orchestrator.core.system import System
    from orchestrator.study.file.experiment import Case, RunOptions


def ssp(
    target: Annotated[Path, typer.Argument(help="experiment.toml, .ssd, .ssp, or their folder")],
    output: Annotated[
        Path | None, typer.Option(help="The archive to write; default: NAME.ssp in this folder")
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment, if it has several")
    ] = None,
    portable: Annotated[
        bool, typer.Option("--portable", help="Blocks and delays become FMUs, for other tools")
    ] = False,
    plain_connections: Annotated[
        bool,
        typer.Option(
            "--plain-connections",
            help="Units and factors of connections become FMUs, too, for tools that ignore them",
        ),
    ] = False,
    delay: Annotated[
        Literal["mean", "plain"] | None, typer.Option(help="How declared delays are realised")
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="Communication step of the other tool, such as '1 ms'")
    ] = None,
    version: Annotated[
        Literal["1.0", "2.0"], typer.Option("--ssp-version", help="2.0 has arrays")
    ] = "1.0",
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Pack a system; with --portable as FMUs and plain connections only."""
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
    console.print(str(path), markup=False)
    for remark in remarks:
        console.print(f"  {remark}", markup=False)


def _system(target: Path, case: str | None, *, portable: bool) -> tuple[str, System, RunOptions]:
    """Read the target; a file of SSP as it is, a case of an experiment prepared to be run."""
    from orchestrator.cli.target import expect_case, experiment_of
    from orchestrator.core.ssp import read_system
    from orchestrator.study.file.experiment import RunOptions
    from orchestrator.study.prepare.prepare import merged, prepare

    experiment, folder = experiment_of(target)
    if target.suffix in {".ssd", ".ssp"}:
        if case is not None:
            raise DescriptionError(f"--case {case}: {target} is a system, which has no cases")
        return target.stem, read_system(target), RunOptions()
    name = case or next(iter(experiment.case))
    if case is None and len(experiment.case) > 1:
        known = ", ".join(experiment.case)
        raise UnknownNameError(f"{target}: several cases; give --case; it has: {known}")
    expect_case(target, experiment, name)
    chosen = experiment.case[name]
    options = merged(chosen, experiment.defaults)
    _expect_plain(name, chosen, options, portable=portable)
    return name, _with_times(prepare(name, chosen, folder), options), options


def _expect_plain(name: str, case: Case, options: RunOptions, *, portable: bool) -> None:
    problems = []
    if case.fault:
        problems.append(f"case '{name}' has faults, which no system holds: leave them out")
    if options.rates and portable:
        problems.append(f"case '{name}' has rates; other tools step all FMUs alike: leave them out")
    if problems:
        raise CapabilityError(*problems)


def _with_times(system: System, options: RunOptions) -> System:
    """Let the times of a case be those of the system's default experiment."""
    from orchestrator.core.system import nanoseconds
    from orchestrator.core.system.step_length import step_length

    given: dict[str, Any] = {
        f"{key}_ns": (step_length if key == "step" else nanoseconds)(value, key)
        for key, value in (
            ("start", options.start),
            ("stop", options.stop),
            ("step", options.step),
        )
        if value is not None
    }
    algorithm = options.algorithm or system.experiment.algorithm
    return replace(system, experiment=replace(system.experiment, algorithm=algorithm, **given))
