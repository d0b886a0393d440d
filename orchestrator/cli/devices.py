"""``softdock devices``: the adapters, what they need, whether they keep their word."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import print_json, print_lines, print_table, print_warning
from orchestrator.core.diagnostics import (
    DescriptionError,
    DeviceError,
    LoadError,
    SoftdockError,
    counted,
)

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from orchestrator.rig.device_units.probe import Probe
    from orchestrator.rig.devices import Device, DeviceConnectors, DeviceSettings
    from orchestrator.rig.trials.wire_trials import WireVerdict

app = typer.Typer(
    help="List, describe, probe, emulate and check device adapters.", no_args_is_help=True
)
_MARKS = {"passed": "pass", "failed": "FAIL", "skipped": "skip"}
_DEVICE = typer.Argument(help="Adapter with settings: NAME, or NAME?key=value&key=value")
_SETTINGS = typer.Option(
    "--settings", help="TOML file with settings; settings in the name take precedence"
)
_JSON = typer.Option("--json", help="Print JSON")


@app.command("list")
def list_devices(json: Annotated[bool, _JSON] = False) -> None:
    """List the installed adapters, then adapters that cannot be imported."""
    from orchestrator.rig.devices import device_class, device_names

    summaries: dict[str, str] = {}
    errors: dict[str, str] = {}
    for name in device_names():
        try:
            summaries[name] = _summary(device_class(name))
        except SoftdockError as error:
            errors[name] = str(error)
    if json:
        listed = [{"name": name, "summary": text} for name, text in summaries.items()]
        print_json([*listed, *({"name": name, "error": text} for name, text in errors.items())])
        return
    print_table("devices", ["name", "what it is"], [list(row) for row in summaries.items()])
    for text in errors.values():
        print_warning(text)


@app.command()
def describe(
    device: Annotated[str, _DEVICE],
    settings: Annotated[Path | None, _SETTINGS] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """List settings and connectors without opening the device."""
    kind, values = _kind(device, settings)
    fields = _fields(kind.Settings)
    missing = [
        field["name"] for field in fields if field["required"] and field["name"] not in values
    ]
    connectors = None if missing else kind.connectors(_read(kind, values, device))
    if json:
        data = {"name": device.partition("?")[0], "summary": _summary(kind), "settings": fields}
        facts = None if connectors is None else _connector_facts(connectors)
        print_json({**data, "answers": kind.answers, "connectors": facts})
        return
    print_lines(_summary(kind))
    rows = [[f["name"], f["type"], "required" if f["required"] else f["default"]] for f in fields]
    print_table("settings", ["name", "type", "default"], rows)
    if connectors is None:
        print_lines(f"connectors: give {', '.join(missing)} to see them")
        return
    columns = ["name", "causality", "unit", "min", "max", "frame", "description"]
    listed = _connector_facts(connectors)["ports"]
    cells = [["" if c[k] is None else str(c[k]) for k in columns] for c in listed]
    print_table(f"connectors, {connectors.rate:g} samples per second", columns, cells)


@app.command()
def probe(
    device: Annotated[str, _DEVICE],
    settings: Annotated[Path | None, _SETTINGS] = None,
    seconds: Annotated[float, typer.Option(min=0.0, help="Time to listen, s")] = 2.0,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Open a device and listen; only start values are commanded.

    The command shows counts, rate, age and delay of the samples, and the layout: each output with
    its unit, its values, when it last changed, and its place on the wire.
    """
    from orchestrator.core.files.plain_data import finite
    from orchestrator.rig.device_units.probe import probe as listen

    kind, values = _kind(device, settings)
    adapter = kind(_read(kind, values, device))
    try:
        outcome = listen(adapter, seconds)
    except OSError as error:
        raise DeviceError(f"{device}: cannot be opened: {error.strerror or error}") from None
    if json:
        plain = asdict(outcome)
        plain["outputs"] = [
            {k: _plain(v) for k, v in output.items()} for output in plain["outputs"]
        ]
        plain |= {name: finite(getattr(outcome, name)) for name in ("age", "most_delay")}
        print_json({"device": device, "connectors": [o.name for o in outcome.outputs], **plain})
    else:
        _show_probe(outcome)
    if not outcome.samples:
        raise typer.Exit(1)


def _plain(value: str | float) -> str | float | None:
    from orchestrator.core.files.plain_data import finite

    return finite(value) if isinstance(value, float) else value


#: Outputs that are shown of a device, so that all is one screen.
_MOST_SHOWN = 24


def _show_probe(report: Probe) -> None:
    """Print what came in a screen: counts in two lines, then the layout with values and ages."""
    last = report.last
    rate = f"{report.rate:.6g} per second (declared {report.declared_rate:g})"
    print_lines(f"samples: {report.samples} in {report.seconds:.3g} s, {rate}")
    if report.account:
        print_lines(report.account)
    refused = f"{report.refused} refused" + f" ({report.first_refusal})" * bool(report.refused)
    print_lines(f"{report.lost} lost, {report.repeated} repeated, {report.late} late, {refused}")
    if last is None:
        return
    print_lines(
        f"between two: jitter {_ms(report.jitter)} ms, longest {_ms(report.longest_gap)} ms;"
        f" newest: age {_ms(report.age)} ms; largest delay {_ms(report.most_delay)} ms"
        f"{' (it has no clock)' * math.isnan(report.most_delay)}"
    )
    facts = {"number": last.sequence, "time [s]": last.device_time, "commands taken": last.taken}
    parts = [f"{name} {value:.9g}" for name, value in facts.items() if value is not None]
    parts.append(f"status {last.status:#x}{'' if last.valid else ', not valid'}")
    print_lines(f"newest: {', '.join(parts)}")
    columns = ["output", "unit", "value", "least", "largest", "changed [ms] ago"]
    has_wire = any(output.wire for output in report.outputs)
    rows = [
        [
            *(output.name, output.unit),
            *(f"{x:.6g}" for x in (output.value, output.least, output.largest)),
            "never" if math.isnan(output.changed_s) else _ms(output.changed_s),
            *([output.wire] if has_wire else []),
        ]
        for output in report.outputs[:_MOST_SHOWN]
    ]
    print_table("layout", [*columns, *(["on the wire"] if has_wire else [])], rows)
    if (more := len(report.outputs) - _MOST_SHOWN) > 0:
        print_lines(f"and {more} more outputs; --json has all of them")


def _ms(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{seconds * 1e3:.3g}"


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def emulate(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the adapter")],
) -> None:
    """Start the emulator of a device.

    Options after the name go to the emulator; `NAME -- --help` lists them. The emulator prints one
    line when it is ready, and runs until Ctrl-C or SIGTERM.
    """
    from orchestrator.rig.devices.conformance import bench_of

    module = bench_of(name).emulator
    arguments = [argument for argument in context.args if argument != "--"]
    with subprocess.Popen([sys.executable, "-m", module, *arguments]) as process:  # noqa: S603
        try:
            code = process.wait()
        except BaseException:
            process.terminate()
            raise
    raise typer.Exit(code)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="Name of the adapter")],
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Run only this check; repeatable")
    ] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Run the conformance checks of an adapter against its emulator."""
    from orchestrator.rig.devices.conformance import check_device

    results = check_device(name, only or ())
    failed = sum(result.outcome == "failed" for result in results)
    if json:
        print_json({"device": name, "failed": failed, "checks": [asdict(r) for r in results]})
    else:
        for result in results:
            line = f"{_MARKS[result.outcome]}  {result.name}: {result.remark}"
            print_lines(line)
    if failed:
        raise typer.Exit(1)


@app.command()
def faults(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="RIG", help="Experiment with emulators, or names of adapters"),
    ],
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; default: the first")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only faults whose name contains this text; repeatable"),
    ] = None,
    lead: Annotated[
        float,
        typer.Option(min=0.0, help="Seconds between ACTIVE (or the first step) and the fault"),
    ] = 0.6,
    jobs: Annotated[
        int,
        typer.Option(min=1, help="Number of parallel trials; parallel trials disturb each other"),
    ] = 1,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the records of all trials")
    ] = Path("results/faults"),
    page: Annotated[
        Path | None, typer.Option(help="Markdown file to write the table of adapters into")
    ] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Inject every known fault into a running emulated rig.

    The command lists the outcomes. A trial whose record of the same file, case and lead is in the
    output folder is not repeated. With names of adapters, each adapter runs behind a relay that
    disturbs both directions of its wire, and its emulator restarts in every way.
    """
    from orchestrator.rig.devices import device_names

    adapters = {*device_names()}
    if adapters.issuperset(target.partition(":")[0] for target in targets):
        _wires(targets, only or (), jobs, output, page, json=json)
    elif len(targets) == 1:
        _rig_faults(Path(targets[0]), case, only or (), lead, jobs, output, json=json)
    else:
        strange = next(name for name in targets if name not in adapters)
        raise DescriptionError(
            f"'{strange}' is not an adapter; expected one experiment, or names of adapters"
            f" ({', '.join(sorted(adapters))})"
        )


def _wires(
    adapters: Sequence[str],
    only: Sequence[str],
    jobs: int,
    output: Path,
    page: Path | None,
    *,
    json: bool,
) -> None:
    from orchestrator.rig.trials.wire_trials import matrix_table, wire_matrix, write_matrix

    def tell(verdict: WireVerdict) -> None:
        typer.echo(f"{verdict.adapter}: {verdict.disturbance}: {verdict.cell}", err=True)

    verdicts = wire_matrix(adapters, only, jobs, output, tell)
    if page is not None:
        write_matrix(page, verdicts)
    if json:
        print_json([asdict(row) for row in verdicts])
    else:
        columns, rows = matrix_table(verdicts)
        print_table("Disturbances", columns, rows)
    if any(row.wrongs for row in verdicts):
        raise typer.Exit(1)


def _rig_faults(
    rig: Path,
    case: str | None,
    only: Sequence[str],
    lead: float,
    jobs: int,
    output: Path,
    *,
    json: bool,
) -> None:
    from orchestrator.cli.target import chosen_name, experiment_of
    from orchestrator.rig.trials.judge import selected_trials, trials_of
    from orchestrator.rig.trials.series import COLUMNS, Series, TrialRig, is_sound, mark_of

    experiment, _ = experiment_of(rig)
    name = chosen_name(rig, experiment, case)
    trials = TrialRig(rig, experiment, name, output, lead)
    listed = selected_trials(trials_of(trials.devices, supervised=trials.supervised), only)
    series = Series(trials, listed, mark_of(rig, name, lead))
    count, took = len(series.remaining), series.seconds(jobs)
    text = (
        f"{counted(len(listed), 'trial')}, {len(listed) - count} done before; the rest takes about"
    )
    typer.echo(f"{text} {took:.0f} s on a quiet machine, {jobs} at a time", err=True)

    def tell(row: list[str]) -> None:
        if not json:
            print_lines(" | ".join(row))

    rows = list(series.run(jobs, tell))
    if json:
        print_json([dict(zip(COLUMNS, row, strict=True)) for row in rows])
    else:
        print_table("Faults", list(COLUMNS[:-1]), [row[:-1] for row in rows])
        for row in rows:
            if row[-1]:
                print_lines(f"{row[0]}: {row[-1]}")
    if not all(is_sound(row) for row in rows):
        raise typer.Exit(1)


def _kind(device: str, file: Path | None) -> tuple[type[Device], dict[str, Any]]:
    """Return the adapter, and the settings of the address."""
    from orchestrator.core.files.plain_data import toml_data
    from orchestrator.rig.devices import device_class
    from orchestrator.rig.devices.registry import read_address

    name, values = read_address(device)
    kind = device_class(name)
    if file is None:
        return kind, values
    try:
        return kind, {**toml_data(file.read_text(encoding="utf-8")), **values}
    except (OSError, ValueError) as error:
        raise LoadError.in_file(file, f"cannot be read: {error}") from None


def _read(kind: type[Device], values: dict[str, Any], device: str) -> DeviceSettings:
    from orchestrator.rig.devices import read_settings

    return read_settings(kind, values, f"device '{device.partition('?')[0]}'")


def _summary(kind: type[Device]) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]


def _fields(form: type[DeviceSettings]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "type": str(getattr(field.annotation, "__name__", field.annotation)),
            "required": field.is_required(),
            "default": _default(field),
        }
        for name, field in form.model_fields.items()
    ]


def _default(field: FieldInfo) -> str:
    """Say what a setting is without being given; empty if it has to be."""
    if field.is_required():
        return ""
    if getattr(field, "default_factory_takes_validated_data", False):  # since pydantic 2.10
        return "from other settings"
    return str(field.get_default(call_default_factory=True))


def _connector_facts(connectors: DeviceConnectors) -> dict[str, Any]:
    from orchestrator.core.files.plain_data import finite

    sides = (("input", connectors.inputs), ("output", connectors.outputs))
    ports = [
        {
            "name": connector.name,
            "causality": causality,
            "unit": connector.unit,
            "min": finite(connector.minimum),
            "max": finite(connector.maximum),
            "frame": connector.frame,
            "description": connector.description,
        }
        for causality, some in sides
        for connector in some
    ]
    return {"rate": connectors.rate, "ports": ports}
