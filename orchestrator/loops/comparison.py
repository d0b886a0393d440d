"""A recording of any tool against a certificate: how it grows, and which master would do so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.recording import read_result
from orchestrator.core.structs import Struct
from orchestrator.loops.certificate import Certificate
from orchestrator.loops.loop_account import Mode, growth_size
from orchestrator.loops.state_space import Floats
from orchestrator.study.measure import GrowthFit, fit_growth

#: Share of a recording that is left out at its begin: faster modes fade.
_BEGIN = 0.2
#: What a fit may leave, as a share of the amplitude: more is no oscillation of one mode.
_LEFT = 0.05
#: How far a frequency may be off to be that of a mode, and a growth rate to agree with it.
_NEAR, AGREED = 0.2, 0.01


class PredictedGrowth(Struct):
    """Growth that a certificate predicts for one master, held against a recorded one.

    master: Which; ``continuous time`` for the loop itself.
    growth, frequency: Predicted, 1/s and Hz.
    share: How far the recorded growth rate is from it, as a share of its size.
    """

    master: str
    growth: float
    frequency: float
    share: float


class Comparison(Struct):
    """A recording held against a certificate.

    file, signal: The recording, and its column that shows one mode best.
    fit: The oscillation in it.
    predicted: For every master, the nearest first.
    """

    file: str
    signal: str
    fit: GrowthFit
    predicted: tuple[PredictedGrowth, ...]

    def verdict(self) -> str:
        """Say in a sentence with what it agrees."""
        grown = f"{self.file}: {self.signal} grows at {self.fit.sigma:+.6g} 1/s"
        at = f"at {self.fit.frequency:.6g} Hz"
        agreed = [prediction.master for prediction in self.predicted if prediction.share <= AGREED]
        if agreed:
            return f"{grown} {at}, as under {', '.join(agreed)}"
        if not self.predicted:
            return f"{grown} {at}: no loop of the certificate has a mode near that frequency"
        nearest = self.predicted[0]
        return (
            f"{grown} {at}, as under none: the nearest, {nearest.master}, would show"
            f" {nearest.growth:+.6g} 1/s; is it of this system, at this step?"
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "signal": self.signal,
            "growth_1_s": self.fit.sigma,
            "growth_deviation_1_s": self.fit.sigma_error,
            "frequency_hz": self.fit.frequency,
            "predicted": [
                {
                    "master": prediction.master,
                    "growth_1_s": prediction.growth,
                    "frequency_hz": prediction.frequency,
                    "error": prediction.share,
                }
                for prediction in self.predicted
            ],
            "verdict": self.verdict(),
        }


def compare(certificate: Certificate, path: Path) -> Comparison:
    """Fit the growth in a recording, and hold it against a certificate.

    Names of columns end with ``component.output``, or as ecos writes it, ``component::output``.

    Raises LoadError: if the file cannot be read as a recording.
    Raises DescriptionError: if it has no output of a loop, or none that oscillates.
    """
    time, recorded = _read(path)
    loops = [loop for master in certificate.masters[:1] for loop in master.loops]
    components = {name for loop in loops for name in loop.components}
    signals = {
        _plain(name): values
        for name, values in recorded.items()
        if _plain(name).partition(".")[0] in components
    }
    if not signals:
        raise DescriptionError(
            f"{path}: no column is of a component in a loop of system '{certificate.system}':"
            f" expected names such as '{min(components, default='component')}.output', found"
            f" {', '.join([*recorded][:5]) or 'none'}"
        )
    signal, fit = _best(time, signals, path)
    predicted = sorted(_predicted(certificate, fit), key=lambda prediction: prediction.share)
    return Comparison(path.name, signal, fit, tuple(predicted))


def _plain(name: str) -> str:
    """Return ``component.output`` of a column's name, as several tools write it."""
    plain = name.partition("[")[0].strip().replace("::", ".")
    return ".".join(plain.split(".")[-2:])


def _read(path: Path) -> tuple[Floats, dict[str, Floats]]:
    """Read times and signals: a result, or a table of another tool with a column of the time."""
    if path.suffix.lower() != ".csv":
        result = read_result(path)
        return result.time, dict(zip(result.names, result.values.T, strict=True))
    from pandas import read_csv
    from pandas.errors import ParserError

    try:
        table = read_csv(path, skipinitialspace=True).select_dtypes("number")
    except (OSError, ParserError, ValueError) as error:
        raise LoadError.in_file(path, f"cannot be read as a table: {error}") from None
    clocks = [name for name in table if str(name).partition("[")[0].strip().lower() == "time"]
    if not clocks:
        raise LoadError.in_file(path, "expected a column 'time' in seconds, found none")
    signals = {str(name): table[name].to_numpy(dtype=float) for name in table}
    return signals.pop(str(clocks[0])), signals


def _best(time: Floats, signals: dict[str, Floats], path: Path) -> tuple[str, GrowthFit]:
    """Return the column that one growing or decaying oscillation fits best."""
    start = float(time[0] + _BEGIN * (time[-1] - time[0])) if len(time) else 0.0
    fits: list[tuple[float, str, GrowthFit]] = []
    for name, values in signals.items():
        try:
            fit = fit_growth(time, values, start=start)
        except DescriptionError:
            continue
        fits.append((fit.residual_rms / max(fit.amplitude, 1e-300), name, fit))
    fits = [candidate for candidate in fits if candidate[0] <= _LEFT]
    if not fits:
        raise DescriptionError(
            f"{path}: none of {', '.join(signals)} is an oscillation of one mode: expected a"
            " recording of at least two of its periods without contact that opens"
        )
    _, signal, fit = min(fits, key=lambda candidate: candidate[0])
    return signal, fit


def _predicted(certificate: Certificate, fit: GrowthFit) -> Iterator[PredictedGrowth]:
    exact: Mode | None = None
    for master in certificate.masters:
        modes = (mode for loop in master.loops for mode in loop.modes)
        mode = min(
            modes, key=lambda prediction: abs(prediction.frequency - fit.frequency), default=None
        )
        if mode is None or not abs(mode.frequency - fit.frequency) < _NEAR * fit.frequency:
            continue
        exact = exact or (mode if mode.exact is not None else None)
        size = growth_size(mode.sampled)
        share = abs(fit.sigma - mode.growth) / size
        yield PredictedGrowth(master.name, mode.growth, mode.frequency, share)
    if exact is not None and exact.exact is not None:
        root = exact.exact
        share = abs(fit.sigma - root.real) / growth_size(root)
        frequency = abs(root.imag) / (2.0 * math.pi)
        yield PredictedGrowth("continuous time", root.real, frequency, share)
