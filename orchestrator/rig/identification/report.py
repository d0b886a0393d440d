"""What is written of identified devices: twins, pictures, a report, delays in a system's file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.author.edit import FileEdit
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import whole_folder
from orchestrator.core.system import System
from orchestrator.pictures import save, write_report
from orchestrator.pictures.plot_drawing import dress, headline, new_figure
from orchestrator.rig.hardware.line_delay import (
    device_lines,
    identified_delay,
    in_ms,
    line_delay_ns,
)
from orchestrator.rig.hardware.twin_file import (
    Dynamics,
    Estimate,
    SignalPair,
    TwinFile,
    in_run_time,
    twin_text,
)
from orchestrator.rig.identification.identified_device import IdentifiedDevice, IdentifiedPair
from orchestrator.rig.identification.record import Floats
from orchestrator.study.content import PALETTE, FigureItem, FileItem, Report, TableItem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Coherences below are drawn pale: they say little of the device.
_COHERENT = 0.5


def draw_bode(pair: IdentifiedPair, name: str, unit: str) -> Figure:
    """Draw measured frequency response (H1) and coherence next to the model."""
    measured, fit = pair.model.response, pair.model.fit
    is_shown = (
        measured.frequencies <= 0.25 / pair.record.period
    )  # above, samples fold into each other
    frequencies, response = measured.frequencies[is_shown], measured.response[is_shown]
    model = fit.gain * np.exp(-2j * np.pi * frequencies * fit.delay)
    if fit.lag is not None:
        model = model * fit.lag.transfer(frequencies)
    sure = measured.coherence[is_shown] >= _COHERENT
    figure = new_figure(8.0, 7.0)
    headline(figure, f"{name}: {pair.command} to {pair.response}")
    size, phase, coherence = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1.5))
    error = measured.relative_error[is_shown]
    for marks, colour in ((sure, PALETTE[0]), (~sure, "0.75")):
        at = frequencies[marks]
        height = np.abs(response[marks])
        size.errorbar(at, height, height * error[marks], fmt=".", color=colour, lw=0.8)
        turned = _near(response[marks], model[marks])
        phase.errorbar(at, turned, np.degrees(error[marks]), fmt=".", color=colour, lw=0.8)
    size.plot(frequencies, np.abs(model), color=PALETTE[1])
    phase.plot(frequencies, np.degrees(np.unwrap(np.angle(model))), color=PALETTE[1])
    coherence.plot(frequencies, measured.coherence[is_shown], ".", color=PALETTE[0])
    size.set_yscale("log")
    labels = (f"magnitude [{unit}]", "phase [°]", "coherence")
    for axes, label in zip((size, phase, coherence), labels, strict=True):
        axes.set_ylabel(label)
        dress(axes)
    coherence.set_xscale("log")
    coherence.set_ylim(0.0, 1.05)
    coherence.set_xlabel("frequency [Hz]")
    return figure


def _ratio(response: str, command: str) -> str:
    """Return the unit of a gain."""
    if response == command:
        return "1"
    return f"{response}/{command if command.isalnum() else f'({command})'}"


def _near(measured: np.ndarray, model: np.ndarray) -> Floats:
    """Return phases in degrees, each by whole turns as near as it can be to the model's."""
    angles = np.unwrap(np.angle(model)) if len(model) else np.angle(model)
    degrees: Floats = np.degrees(angles + np.angle(measured * np.exp(-1j * angles)))
    return degrees


def draw_response(pair: IdentifiedPair, name: str, unit: str) -> Figure:
    """Draw the second record: command, response, what the model says, and what it leaves."""
    record = pair.second
    times = record.times[record.used]
    elapsed = times - times[0]
    fit = pair.model.fit
    model = fit.predict(record)
    figure = new_figure(8.0, 5.5)
    headline(figure, f"{name}: {pair.compared.kind} of {pair.command}, not fitted to")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    command = fit.offset + fit.gain * record.held(times)
    above.step(elapsed, command, where="post", color="0.6", label="command, at the model's gain")
    above.plot(elapsed, record.values, ".", color=PALETTE[0], markersize=3, label=pair.response)
    above.plot(elapsed, model, color=PALETTE[1], linewidth=1.2, label="model")
    below.plot(elapsed, record.values - model, ".", color=PALETTE[0], markersize=2)
    above.legend(fontsize=8.5, frameon=False)
    above.set_ylabel(f"{pair.response} [{unit}]")
    below.set_ylabel(f"residual [{unit}]")
    below.set_xlabel("time [s]")
    for axes in (above, below):
        dress(axes)
    return figure


_COLUMNS = ("Figure", "Unit", "Value", "From", "To")
REPORT = "identification.html"


def write_identification(
    devices: Sequence[IdentifiedDevice], title: str, output: Path
) -> list[Path]:
    """Write ``COMPONENT.twin.toml`` for each device, its pictures, and the report."""
    with whole_folder(output) as draft:
        twins, figures, tables = [], [], []
        pictures: list[Path] = []
        (draft.folder / "figures").mkdir()
        for device in devices:
            twin = Path(f"{device.twin.component}.twin.toml")
            (draft.folder / twin).write_text(twin_text(device.twin), encoding="utf-8", newline="\n")
            twins.append(twin)
            tables += [table_of(device, entry) for entry in device.twin.pair]
            for item, stem in _figures(device):
                figures.append(item)
                pictures.append(Path("figures") / f"{stem}.png")
                save(item.figure, draft.folder / pictures[-1])  # type: ignore[arg-type]
        report = Report(
            title=f"Identification: {title}",
            description=_introduction(devices),
            figures=tuple(figures),
            tables=tuple(tables),
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            files=tuple(FileItem(path) for path in (*twins, *pictures)),
        )
        write_report(report, draft.folder / REPORT)
    return [*(output / twin for twin in twins), output / REPORT]


def _introduction(devices: Sequence[IdentifiedDevice]) -> str:
    return "\n\n".join(
        f"{device.twin.component}: {device.twin.device}, {device.twin.date.isoformat()}, steps of"
        f" {device.twin.step * 1e3:g} ms, intervals of {device.twin.confidence:.0%}."
        f" {' '.join((*device.run.result.notes, *device.twin.doubts.values()))}"
        for device in devices
    )


def _figures(device: IdentifiedDevice) -> Iterator[tuple[FigureItem, str]]:
    name = device.twin.component
    units = {entry.response: entry for entry in device.twin.pair}
    for pair in device.pairs:
        entry = units[pair.response]
        gain = _ratio(entry.response_unit, entry.command_unit or "1")
        stem = f"{name}_{pair.response}".replace("[", "_").replace("]", "")
        caption = (
            f"{name}: frequency response from {pair.command} to {pair.response}, as measured (H1,"
            " one standard deviation; pale where the coherence is below 0.5) and of the model"
        )
        yield FigureItem(draw_bode(pair, name, gain), caption), f"{stem}_bode"
        caption = (
            f"{name}: the second record, and the model that was fitted to the first:"
            f" fit {pair.validation.fit:.4f}"
        )
        figure = draw_response(pair, name, entry.response_unit)
        yield FigureItem(figure, caption), f"{stem}_{pair.compared.kind}"


def table_of(device: IdentifiedDevice, entry: SignalPair) -> TableItem:
    """Return the table of one response: every figure with its interval."""
    name = device.twin.component
    ends = entry.response if entry.command is None else f"{entry.command} to {entry.response}"
    if entry.validation is None:
        note = "No command moves it, so only its behaviour at rest is known."
    else:
        validation = entry.validation
        note = (
            f"Fitted to {entry.samples} samples of {entry.excitation}; on a second record"
            f" ({validation.excitation}, {validation.samples} samples) the model leaves"
            f" {validation.residual:.4g} {entry.response_unit}, a fit of {validation.fit:.5f}."
        )
    return TableItem(f"{name}: {ends}", _COLUMNS, tuple(_rows(entry)), note)


def _rows(entry: SignalPair) -> Iterator[tuple[str | float | None, ...]]:
    unit, dynamics = entry.response_unit, entry.dynamics or Dynamics(order=0)
    corner = "corner frequency" if dynamics.order == 1 else "natural frequency"
    rows: tuple[tuple[str, str, Estimate | float | None, float], ...] = (
        ("delay", "ms", entry.delay, 1e3),
        ("transit through wire and run", "ms", entry.transit, 1e3),
        ("delay of a loop", "ms", entry.loop_delay, 1e3),
        (
            "order of the dynamics",
            "",
            None if entry.dynamics is None else float(dynamics.order),
            1.0,
        ),
        (corner, "Hz", dynamics.frequency, 1.0),
        ("damping ratio", "1", dynamics.damping, 1.0),
        ("gain", f"{unit} / {entry.command_unit}", entry.gain, 1.0),
        ("offset", unit, entry.offset, 1.0),
        ("noise, standard deviation", unit, entry.noise, 1.0),
        ("not explained while it moves, standard deviation", unit, entry.unexplained, 1.0),
        ("quantisation", unit, entry.quantisation, 1.0),
        ("jitter of arrivals", "us", entry.jitter, 1e6),
        ("sample rate", "Hz", entry.sample_rate, 1.0),
    )
    for label, of, entry_value, factor in rows:
        if isinstance(entry_value, Estimate):
            yield (label, of, *(bound * factor for _, bound in entry_value))
        elif entry_value is not None:
            yield (label, of, entry_value, None, None)


def set_identified_delays(
    path: Path,
    twins: Sequence[TwinFile],
    clock: str | None = None,
    physical: Collection[str] = (),
) -> list[str]:
    """Write the delays of devices onto the connections that carry their responses.

    Each gets the delay of a loop through the device, with its provenance, the device and the date.
    A line of ``physical`` gets that of the device alone, unless the line declares a longer one: it
    contains what lies behind the device. All else in the file stays as it is.
    """
    edit = FileEdit(path)
    twins, drift_remarks = in_run_time(twins, clock)
    delays, longer = [], []
    for twin in twins:
        for line, pair, brought in device_lines(edit.system, twin, physical):
            declared_ns = 0 if line.delay is None else line.delay.nominal_ns
            if str(line) in physical and declared_ns >= line_delay_ns(brought.low) > 0:
                longer.append(
                    f"not set: {line} is made by hardware and declares {declared_ns / 1e6:g} ms"
                    f" from end to end; '{twin.component}' alone has {in_ms(brought)}"
                )
            else:
                delays.append((line, identified_delay(twin, pair, brought)))
    if not delays and not longer:
        names = ", ".join(repr(twin.component) for twin in twins)
        raise DescriptionError.in_file(
            path, f"no connection begins at a response of {names}, so no delay was set"
        )

    def change(system: System) -> System:
        for line, delay in delays:
            system = system.with_delay(str(line.source), str(line.target), delay)
        return system

    if delays:
        edit.change(change)
        edit.document.save()
    changed = (
        f"{path}: {line}: {delay.nominal_ns / 1e6:.6g} ms, {delay.provenance}"
        for line, delay in delays
    )
    doubts = (f"not set: {doubt}" for twin in twins for doubt in twin.doubts.values())
    return [*changed, *longer, *drift_remarks, *doubts]
