"""Criterion J4 of a pure delay of 8 ms by the mode of delay and the step, El Centro at 40 %.

python examples/rths/waveforms.py
"""

from __future__ import annotations

import numpy as np
from independent import Floats
from independent import shaken as integrated
from systems import DAMPING, FLOORS, hybrid, shaken

from orchestrator import simulate

CASE, DELAY_MS, STOP = 1, 8.0, 20.0
WAYS = (
    ("gauss-seidel", "waveform"),
    ("jacobi", "waveform"),
    ("gauss-seidel", "mean"),
    ("gauss-seidel", "plain"),
    ("jacobi", "plain"),
)
STEPS_MS = (2.0, 1.0, 0.5)


def error(found: Floats, reference: Floats) -> float:
    """Return the normalised root mean square error in percent, as J4 has it."""
    return float(100.0 * np.std(found - reference) / np.std(reference))


def criterion(algorithm: str, delay: str, step_ms: float) -> float:
    """Run, and return J4 of the first floor in the computer."""
    names = ["frame.position", "reference.position"]
    result = simulate(
        shaken(hybrid(CASE, f"{DELAY_MS} ms"), CASE),
        step=f"{step_ms} ms",
        stop=f"{STOP} s",
        algorithm=algorithm,
        delay=delay,
        record=names,
    )
    found, reference = (result.values[:, result.names.index(name)] for name in names)
    return error(found, reference)


def independent() -> float:
    """Return the same of an integration at 1/8192 s that has nothing of Softdock."""
    _, found, reference = integrated(FLOORS[CASE], DAMPING[CASE], DELAY_MS * 1e-3, STOP)
    return error(found, reference)


def main() -> None:
    """Print the table."""
    print(f"independent integration at 1/8192 s: J4 = {independent():.4f} %")  # noqa: T201
    for way in WAYS:
        found = " ".join(f"{criterion(*way, step):10.4f}" for step in STEPS_MS)
        print(f"{', '.join(way):24} {found}")  # noqa: T201


if __name__ == "__main__":
    main()
