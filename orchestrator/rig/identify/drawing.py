"""Pictures of an identified pair: its frequency response, and its second record over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.pictures.plot_parts import dress, headline, new_figure
from orchestrator.rig.identification.record import Floats
from orchestrator.rig.identify.identify import IdentifiedPair
from orchestrator.study.content import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Coherences below are drawn pale: they say little of the device.
_COHERENT = 0.5


def draw_bode(pair: IdentifiedPair, name: str) -> Figure:
    """Draw measured frequency response (H1) and coherence beside the model."""
    measured, fit = pair.model.response, pair.model.fit
    shown = measured.frequencies <= 0.25 / pair.record.period  # above, samples fold into each other
    frequencies, response = measured.frequencies[shown], measured.response[shown]
    lag = pair.model.lag
    model = fit.gain * np.exp(-2j * np.pi * frequencies * fit.delay)
    if lag is not None:
        model = model * lag.transfer(frequencies)
    sure = measured.coherence[shown] >= _COHERENT
    figure = new_figure(8.0, 7.0)
    headline(figure, f"{name}: {pair.command} to {pair.response}")
    size, phase, coherence = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1.5))
    error = measured.relative_error[shown]
    for marks, colour in ((sure, PALETTE[0]), (~sure, "0.75")):
        at = frequencies[marks]
        height = np.abs(response[marks])
        size.errorbar(at, height, height * error[marks], fmt=".", color=colour, lw=0.8)
        turned = _near(response[marks], model[marks])
        phase.errorbar(at, turned, np.degrees(error[marks]), fmt=".", color=colour, lw=0.8)
    size.plot(frequencies, np.abs(model), color=PALETTE[1])
    phase.plot(frequencies, np.degrees(np.unwrap(np.angle(model))), color=PALETTE[1])
    coherence.plot(frequencies, measured.coherence[shown], ".", color=PALETTE[0])
    size.set_yscale("log")
    for axes, label in ((size, "magnitude"), (phase, "phase [°]"), (coherence, "coherence")):
        axes.set_ylabel(label)
        dress(axes)
    coherence.set_xscale("log")
    coherence.set_ylim(0.0, 1.05)
    coherence.set_xlabel("frequency [Hz]")
    return figure


def _near(measured: np.ndarray, model: np.ndarray) -> Floats:
    """Return phases in degrees, each by whole turns as near as it can be to the model's."""
    known = np.unwrap(np.angle(model)) if len(model) else np.angle(model)
    away = np.angle(measured * np.exp(-1j * known))
    found: Floats = np.degrees(known + away)
    return found


def draw_response(pair: IdentifiedPair, name: str) -> Figure:
    """Draw the second record: command, response, what the model says, and what it leaves."""
    record = pair.second
    times = record.times[record.used]
    shown = times - times[0]
    model = pair.model.fit.predict(record)
    fit = pair.model.fit
    figure = new_figure(8.0, 5.5)
    headline(figure, f"{name}: {pair.compared.kind} of {pair.command}, not fitted to")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    command = fit.offset + fit.gain * record.held(times)
    above.step(shown, command, where="post", color="0.6", label="command, at the model's gain")
    above.plot(shown, record.values, ".", color=PALETTE[0], markersize=3, label=pair.response)
    above.plot(shown, model, color=PALETTE[1], linewidth=1.2, label="model")
    below.plot(shown, record.values - model, ".", color=PALETTE[0], markersize=2)
    above.legend(fontsize=8.5, frameon=False)
    above.set_ylabel(pair.response)
    below.set_ylabel("left")
    below.set_xlabel("time [s]")
    for axes in (above, below):
        dress(axes)
    return figure
