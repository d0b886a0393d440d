"""Growth of random loops: by the map of one period, and as their runs show it.

python benchmarks/predicted_growth.py [--systems 50] [--first 0]

Each seed is a ring of two to six units of second order or gains; delays, rates,
algorithm and delay mode drawn at random. Its fastest growing mode is predicted from the map of one
period of the schedule, and read off a run: once all other modes are a billionth of it, two numbers
say how three samples in a row of an output follow each other. Where two modes grow so equally that
this takes too long, the seed is left out, and counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from runner import Benchmark
from scipy.linalg import expm

from orchestrator import Block, Execution, Input, Output, Parameter, State, System, block
from orchestrator.loops import linear_system
from orchestrator.loops.loop_account import growth_size

#: Other modes are less than this share of the fastest when it is read off.
APART = 1e-10
#: Periods of a run at most, and how many of them are fitted.
MOST, FITTED = 20_000, 400
#: A run neither grows nor dies down by more than this power of e.
LARGEST = 500.0
#: One way, and both: what is drawn.
DELAYS = ("0 ms", "3 ms", "8 ms", "20 ms", "33 ms")
ALGORITHMS = ("jacobi", "gauss-seidel", "newton", "fixed-point")


@lru_cache(maxsize=256)
def _transition(h: float, w: float, zeta: float, gain: float) -> NDArray[np.float64]:
    rates = np.array([[0.0, 1.0, 0.0], [-w * w, -2.0 * zeta * w, gain], [0.0, 0.0, 0.0]])
    return np.asarray(expm(h * rates))


class Oscillator(Block):
    """x'' + 2 zeta w x' + w^2 x = gain u, exact over a step with its input held."""

    u: float = Input()
    w: float = Parameter(start=1.0)
    zeta: float = Parameter(start=0.1)
    gain: float = Parameter(start=1.0)
    kick: float = Parameter(start=0.0)
    y: float = Output(depends_on=())
    x: list[float] = State(start=[0.0, 0.0])

    def initialise(self, t: float) -> None:
        """Begin with a kick."""
        self.x = [self.kick, 0.0]
        self.y = self.kick

    def step(self, t: float, h: float) -> None:
        """Step it exactly."""
        after = _transition(h, self.w, self.zeta, self.gain) @ [*self.x, self.u]
        self.x = [float(after[0]), float(after[1])]
        self.y = self.x[0]


class Gain(Block):
    """y = k u at once."""

    u: float = Input()
    k: float = Parameter(start=1.0)
    y: float = Output(depends_on=("u",))

    def step(self, t: float, h: float) -> None:
        """Multiply."""
        self.y = self.k * self.u


@dataclass(frozen=True)
class Case:
    """A random system, and how it is stepped."""

    system: System
    algorithm: str
    delay: str
    rates: dict[str, int]

    @classmethod
    def of(cls, seed: int) -> Case:
        """Draw a case."""
        draw = np.random.default_rng(seed)
        count = int(draw.integers(2, 7))
        algorithm = str(draw.choice(ALGORITHMS))
        explicit = algorithm in {"jacobi", "gauss-seidel"}
        system, rates = System(f"random {seed}"), {}
        for i in range(count):
            name = f"c{i}"
            if i and draw.integers(0, 4) == 0:
                k = draw.uniform(0.3, 1.5) * draw.choice([-1.0, 1.0])
                system = system.add(name, block(Gain), k=float(k))
                continue
            w, zeta = 2.0 * math.pi * draw.uniform(0.5, 8.0), draw.uniform(0.02, 0.5)
            gain = draw.uniform(0.3, 1.5) * w * w
            values = {"w": w, "zeta": float(zeta), "gain": float(gain), "kick": 1.0}
            system = system.add(name, block(Oscillator), **values)
            if explicit:
                rates[name] = int(draw.choice([1, 1, 1, 2, 3]))
        for i in range(count):
            late = str(draw.choice(DELAYS))
            ends = f"c{i}.y", f"c{(i + 1) % count}.u"
            system = system.connect(*ends, delay=None if late == "0 ms" else late)
        return cls(system, algorithm, str(draw.choice(["mean", "plain"])), rates)

    @property
    def options(self) -> dict[str, object]:
        """How it is stepped."""
        found: dict[str, object] = {
            "step": "4 ms",
            "algorithm": self.algorithm,
            "delay": self.delay,
        }
        return found | ({"rates": self.rates} if self.rates else {})


@dataclass(frozen=True)
class Growth:
    """Growth rate of the fastest mode, 1/s, predicted and fitted, and what it is a share of."""

    predicted: float
    fitted: float
    size: float

    @property
    def error(self) -> float:
        """Share by which the prediction is off."""
        return abs(self.predicted - self.fitted) / self.size


def growth_of(case: Case) -> Growth | None:
    """Predict and fit a case; ``None`` where no mode grows faster than all others."""
    period_map = linear_system(case.system, **case.options).period_map()  # type: ignore[arg-type]
    values = period_map.modes().values
    first = values[0]
    others = np.abs(values[2 if first.imag else 1 :]).max(initial=0.0)
    periods = math.ceil(math.log(APART) / math.log(max(others / abs(first), 1e-300)))
    steepness = abs(math.log(abs(first)))
    if not 0 < periods < min(MOST, LARGEST / max(steepness, 1e-300)):
        return None
    samples = _run(case, period_map.steps, periods, min(FITTED, int(100.0 / steepness)))
    found = np.log(_multiplier(samples, is_pair=bool(first.imag))) / period_map.period
    root = np.log(complex(first)) / period_map.period
    return Growth(root.real, found.real, growth_size(root))


def _run(case: Case, steps: int, periods: int, fitted: int) -> NDArray[np.float64]:
    """Return samples of one unit, one in each of the last periods."""
    with Execution(case.system, record=(), **case.options) as run:  # type: ignore[arg-type]
        run.step(periods * steps)
        rows = []
        for _ in range(max(fitted, 20)):
            run.step(steps)
            rows.append(run.get("c0.y"))
    return np.array(rows, dtype=np.float64)


def _multiplier(samples: NDArray[np.float64], *, is_pair: bool) -> complex:
    """Return with which multiplier samples follow each other, by least squares."""
    scale = np.maximum(np.abs(samples[:-2]), np.abs(samples[1:-1]))
    if not is_pair:
        one, other = samples[1:] / np.abs(samples[:-1]), np.sign(samples[:-1])
        return complex(np.mean(one * other))
    columns = np.column_stack([samples[1:-1] / scale, samples[:-2] / scale])
    a, b = np.linalg.lstsq(columns, samples[2:] / scale, rcond=None)[0]
    return complex(np.roots([1.0, -a, -b])[0])


def main() -> None:
    """Print each case and the largest difference."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--systems", type=int, default=50)
    benchmark.argument("--first", type=int, default=0)
    options = benchmark.options()
    wanted = 2 if options.quick else options.systems
    errors: list[float] = []
    rows = []
    seed, left = options.first, 0
    while len(errors) < wanted:
        case = Case.of(seed)
        found = growth_of(case)
        if found is None:
            left += 1
        else:
            errors.append(found.error)
            numbers = f"{found.predicted:+.9e}", f"{found.fitted:+.9e}", f"{found.error:.1e}"
            units = len(case.system.components)
            rows.append((seed, units, case.algorithm, case.delay, *numbers))
        seed += 1
    title = (
        f"{len(errors)} systems: median {np.median(errors):.1e}, largest {max(errors):.1e} of the"
        f" growth rate; {left} left out"
    )
    columns = ["seed", "units", "algorithm", "delay", "predicted", "fitted", "error"]
    benchmark.table(title, columns, rows)
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
