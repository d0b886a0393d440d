"""Critical delays of the laboratory: by the quasi-polynomial, by linear models, by runs.

python examples/rths/critical_delays.py [PARTITION ..]
"""

from __future__ import annotations

import sys

from independent import critical_delay
from scipy.optimize import brentq
from systems import DAMPING, FLOORS, hybrid

from orchestrator import simulate
from orchestrator.loops import linear_system
from orchestrator.study.measure import fit_growth

STEP, STOP = "2 ms", 20.0
#: A delay that every partition bears, in ms, where its linear model is made.
MADE_AT = 8.0


def by_linear_model(case: int) -> float:
    """Return the critical delay in ms by the delay margin of the engine's own linear models."""
    linear = linear_system(hybrid(case, f"{MADE_AT} ms"), step=STEP)
    return MADE_AT + 1e3 * linear.margins("specimen.force -> frame.force").delay.value


def growth(case: int, delay_ms: float) -> float:
    """Run from a floor displaced by 1 mm; return the growth rate of its motion, 1/s."""
    system = hybrid(case, f"{round(delay_ms * 1e6)} ns", x0=1e-3)
    result = simulate(system, step=STEP, stop=f"{STOP} s", record=["frame.position"])
    position = result.values[:, result.names.index("frame.position")]
    return fit_growth(result.time, position, start=0.5 * STOP).sigma


def by_runs(case: int) -> float:
    """Return the delay in ms between runs that grow and runs that die down."""
    return float(brentq(lambda delay: growth(case, delay), 0.5 * MADE_AT, 2.0 * MADE_AT, xtol=1e-5))


def main() -> None:
    """Print them."""
    print("partition  quasi-polynomial  linear model  runs [ms]")  # noqa: T201
    for case in [int(text) for text in sys.argv[1:]] or list(FLOORS):
        exact = 1e3 * critical_delay(FLOORS[case], DAMPING[case])
        print(f"{case:9}  {exact:16.4f}  {by_linear_model(case):12.4f}  {by_runs(case):9.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
