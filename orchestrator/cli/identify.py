"""``softdock identify``: excite the devices of a rig, and write what they are like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.console import print_json, print_lines, print_table, print_warning
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import replace

if TYPE_CHECKING:
    from orchestrator.rig.hardware.twin_file import Dynamics, Estimate, TwinFile
    from orchestrator.rig.identification.record import ExcitationLimits


def identify(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    case: Annotated[
        str | None,
        typer.Option(help="Case whose devices to identify; optional if there is only one"),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(help="Only this component; repeatable; default: all commanded devices"),
    ] = None,
    swap: Annotated[
        list[str] | None,
        typer.Option(help="Replace a component: component=device:NAME?key=value; repeatable"),
    ] = None,
    excitation: Annotated[
        Literal["prbs", "chirp", "step"] | None,
        typer.Option(help="Excitation for the fit; default: that of [identification], else prbs"),
    ] = None,
    compared: Annotated[
        Literal["prbs", "chirp", "step"] | None,
        typer.Option(
            help="Excitation for the validation; default: that of [identification], else step"
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            help="Length of the fitted record in s; default: that of [identification], else 4",
            min=0.0,
        ),
    ] = None,
    compared_duration: Annotated[
        float | None,
        typer.Option(
            help="Length of the validation record in s; default: that of [identification], else 2",
            min=0.0,
        ),
    ] = None,
    rest: Annotated[
        float | None,
        typer.Option(
            help="Rest after each record in s, longer than delay and settling time; "
            "default: that of [identification], else 0.5",
            min=0.0,
        ),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            help="Limit a motion: component.command=AMPLITUDE[,SPEED[,ACCELERATION]], in "
            "the unit of the command, per s and s2; repeatable"
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Confidence level of the intervals; default: that of [identification], else 0.95"
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="Communication step of the runs; default: that of the case, else that of "
            "the device"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for twins and report; default: results/NAME-identification"),
    ] = None,
    set_delays: Annotated[
        Path | None,
        typer.Option(help="Write the identified delays into this system (.ssd, .ssp, .toml)"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Excite devices one at a time, and write twins and a report."""
    from orchestrator.cli.run import pairs
    from orchestrator.cli.target import expect_case, experiment_of, results_name
    from orchestrator.rig.arming.tables import IdentificationTable
    from orchestrator.rig.hardware.cases import Hardware
    from orchestrator.rig.identification.before_arming import identify_case, procedure
    from orchestrator.rig.identification.identified_device import devices_of
    from orchestrator.rig.identification.report import set_identified_delays, write_identification
    from orchestrator.study.prepare.prepare import prepare_all
    from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader

    experiment, folder = experiment_of(target)
    if case is None:
        if len(experiment.case) != 1:
            raise DescriptionError(f"--case: which of {', '.join(experiment.case)}?")
        case = next(iter(experiment.case))
    expect_case(target, experiment, case)
    limited = pairs(limits or [], "--limits", "component.command=AMPLITUDE[,SPEED[,ACCELERATION]]")
    values: dict[str, Any] = {
        "fitted": excitation,
        "compared": compared,
        "duration": duration,
        "compared_duration": compared_duration,
        "rest": rest,
        "confidence": confidence,
    }
    settings = RunSettings(swaps=pairs(swap or [], "--swap", "component=SOURCE"), realtime=1.0)
    prepared = prepare_all(experiment, [case], SystemReader(folder), settings)[case]
    table = experiment.identification or IdentificationTable()
    there = tuple(devices_of(prepared.system, tuple(device or ())))
    selected = there if device else tuple(d for d in there if d in table.devices) or there
    declared = procedure(table, there)
    how = replace(
        declared,
        limits={
            **(declared.limits or {}),
            **{name: _limits(name, text) for name, text in limited.items()},
        },
        **{name: value for name, value in values.items() if value is not None},
    )
    location = output or Path("results") / f"{results_name(target, folder)}-identification"
    devices = list(
        identify_case(
            experiment,
            prepared,
            settings,
            how,
            location.with_name(f"{location.name}.supervised").absolute(),
            selected=selected,
            step=step,
        )
    )
    files = write_identification(devices, experiment.title, location)
    clock = experiment.realtime.clock if experiment.realtime else None
    twins_found = [identified.twin for identified in devices]
    changed = []
    if set_delays:
        physical = Hardware.of(experiment, folder).physical
        changed = set_identified_delays(set_delays, twins_found, clock, physical)
    if json:
        twins = [
            identified.twin.model_dump(mode="json", exclude_none=True) for identified in devices
        ]
        print_json({"twins": twins, "files": [str(path) for path in files], "delays": changed})
        return
    for identified in devices:
        _print(identified.twin)
        for text in identified.twin.doubts.values():
            print_warning(text)
    print_lines(*changed, *files)


def _limits(name: str, text: str) -> ExcitationLimits:
    from orchestrator.rig.identification.record import ExcitationLimits

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise DescriptionError(
            f"--limits {name}={text}: expected one to three numbers with commas between them"
        )
    return ExcitationLimits(*numbers)


def _print(twin: TwinFile) -> None:
    """Print one line for each response; the report has the rest."""
    from orchestrator.rig.hardware.twin_file import drift_ppm

    columns = ["response", "command", "delay [ms]", "transit [ms]", "lag", "gain", "noise", "fit"]
    rows = []
    for pair in twin.pair:
        if pair.delay is None or pair.dynamics is None or pair.gain is None:
            rows.append([pair.response, "", "", _milli(pair.transit), "", "", "", ""])
        else:
            fit = "" if pair.validation is None else f"{pair.validation.fit:.5f}"
            rows.append(
                [
                    pair.response,
                    pair.command or "",
                    _milli(pair.delay),
                    _milli(pair.transit),
                    _lag(pair.dynamics),
                    f"{pair.gain.value:.6g}",
                    f"{pair.noise.value:.3g} {pair.response_unit}",
                    fit,
                ]
            )
    heading = f"{twin.component}: {twin.device}, intervals of {twin.confidence:.0%}"
    print_table(heading, columns, rows)
    if (drift := drift_ppm(twin)) is not None:
        print_lines(
            f"times are by the computer's clock; the second of '{twin.component}' is"
            f" {drift.value:+.4g} ppm ({drift.low:+.4g} to {drift.high:+.4g}) longer",
        )


def _milli(estimate: Estimate) -> str:
    return f"{estimate.value * 1e3:.5g} ({estimate.low * 1e3:.5g} to {estimate.high * 1e3:.5g})"


def _lag(dynamics: Dynamics) -> str:
    if dynamics.frequency is None:
        return "none"
    damping = "" if dynamics.damping is None else f", damping {dynamics.damping.value:.4g}"
    return f"{dynamics.frequency.value:.5g} Hz{damping}"
