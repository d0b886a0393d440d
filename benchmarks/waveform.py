"""What a master's step does to the growth rate of delayed loops, and what following signals costs.

python benchmarks/waveform.py [--plot FILE]

Growth rates are those of the one-step map of the schedule (docs/howto/analyze-loops.md), less that
of the continuous loop with its declared delays: no run, no fit. The order is that of the last
halving of the step whose error is above rounding. The cost is that of runs in turns, best of each.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator import Execution, System, fmu, read_system
from orchestrator.linearisation import LinearSystem, linear_system

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "fmus" / "build"
STEPS = (16, 8, 4, 2, 1)
#: Errors below this share of the mode's size, 1/s, are rounding.
ROUNDING = 1e-11
#: How inputs are given, by the highest derivative that units are told; ``None``: exact mode, held.
KINDS: dict[str, int | None] = {"held": None, "slope": 1, "curvature": 2, "cubic": 3}


def delayed_oscillator() -> System:
    """A body on a spring and a damper that know its motion 40 ms late."""
    return (
        System("oscillator")
        .add("body", fmu(BUILT / "Chaser.fmu"), m=20.0, v0=0.1)
        .add("contact", fmu(BUILT / "SpringDashpot.fmu"), k=2000.0, d=150.0, latched=True)
        .connect("body.position", "contact.position_a", delay="40 ms")
        .connect("body.velocity", "contact.velocity_a", delay="40 ms")
        .connect("contact.force_a", "body.force")
    )


def two_bodies() -> System:
    """Two bodies and a contact, the motion of one 32 ms late and that of the other 48 ms."""
    system = delayed_oscillator().add("other", fmu(BUILT / "Chaser.fmu"), m=35.0)
    return (
        system.connect("other.position", "contact.position_b", delay="48 ms")
        .connect("other.velocity", "contact.velocity_b", delay="48 ms")
        .connect("contact.force_b", "other.force")
    )


def unequal_delays() -> System:
    """Two bodies in two loops that share one of them: one contact between them, one to the wall."""
    return (
        two_bodies()
        .add("wall", fmu(BUILT / "SpringDashpot.fmu"), k=800.0, d=60.0, latched=True)
        .connect("other.position", "wall.position_a", delay="24 ms")
        .connect("other.velocity", "wall.velocity_a", delay="24 ms")
        .connect("wall.force_a", "other.virtual_force", delay="17 ms")
    )


def axis_loop() -> System:
    """The EPOS loop through a robot's axis of 40 Hz."""
    return read_system(ROOT / "examples" / "epos" / "capture_axis.ssd").set("axis.bandwidth", 40.0)


SYSTEMS: dict[str, tuple[Callable[[], System], dict[str, int]]] = {
    "delayed oscillator": (delayed_oscillator, {}),
    "axis of 40 Hz": (axis_loop, {}),
    "two bodies, two delays": (two_bodies, {}),
    "two loops, unequal delays": (unequal_delays, {}),
    "body 4 times as slow as its contact": (delayed_oscillator, {"body": 4}),
    "contact 5 times as slow as its body": (delayed_oscillator, {"contact": 5}),
}


def as_told(system: LinearSystem, order: int | None) -> LinearSystem:
    """Let units take derivatives of their inputs up to an order."""
    if order is None:
        return system
    told = {
        name: replace(part, input_order=min(order, part.input_order))
        for name, part in system.system.components.items()
    }
    return replace(system, system=replace(system.system, components=told))


def error(system: System, rates: dict[str, int], ms: float, order: int | None, mode: str) -> float:
    """Growth rate of the least damped mode, less that of the continuous loop, 1/s."""
    linear = linear_system(
        system, step=f"{ms} ms", algorithm="gauss-seidel", delay=mode, rates=rates
    )
    (account,) = as_told(linear, order).loop_accounts(1)
    return account.modes[0].error


def orders(errors: list[float]) -> float:
    """Observed order of the last halving that is above rounding; NaN if none is."""
    kept = [abs(e) for e in errors if abs(e) > ROUNDING]
    return math.log2(kept[-2] / kept[-1]) if len(kept) > 1 else math.nan


def rows() -> Iterator[tuple[str, str, list[float]]]:
    """Yield system, kind and errors over the steps."""
    for name, (make, rates) in SYSTEMS.items():
        system = make()
        yield name, "plain", [error(system, rates, ms, None, "plain") for ms in STEPS]
        for kind, order in KINDS.items():
            mode = "exact" if order is None else "waveform"
            yield name, kind, [error(system, rates, ms, order, mode) for ms in STEPS]


def cost(turns: int = 9) -> float:
    """Time of a step that follows signals as a multiple of one that holds them."""
    best = dict.fromkeys(("exact", "waveform"), math.inf)
    for _ in range(turns):
        for mode in best:
            run = Execution(axis_loop(), step="1 ms", stop="20 s", delay=mode, every=20_000)
            begin = time.perf_counter()
            run.advance("20 s")
            best[mode] = min(best[mode], time.perf_counter() - begin)
    return best["waveform"] / best["exact"]


def draw(found: list[tuple[str, str, list[float]]], file: Path) -> None:
    """Draw the errors of two loops over the step."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    for axis, wanted in zip(axes, ("delayed oscillator", "axis of 40 Hz"), strict=True):
        for name, kind, errors in found:
            if name != wanted:
                continue
            label = {"plain": "plain master", "held": "exact in the mean: held inputs"}.get(
                kind, f"waveform: {kind}"
            )
            axis.loglog(STEPS, [max(abs(e), 1e-14) for e in errors], "o-", label=label)
        axis.set_title(wanted)
        axis.set_xlabel("communication step H [ms]")
        axis.set_xticks(STEPS, [str(ms) for ms in STEPS])
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0].set_ylabel("error of the growth rate [1/s]")
    axes[1].legend(frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=130)


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path)
    plot = parser.parse_args().plot
    found = list(rows())
    print("| system | inputs | " + " | ".join(f"{ms} ms" for ms in STEPS) + " | order |")
    print("|---|---|" + "---|" * (len(STEPS) + 1))
    for name, kind, errors in found:
        shown = " | ".join(f"{e:+.1e}" for e in errors)
        print(f"| {name} | {kind} | {shown} | {orders(errors):.1f} |")
    print(f"\na step that follows costs {cost():.2f} times one that holds (axis of 40 Hz, 1 ms)")
    if plot:
        draw(found, plot)


if __name__ == "__main__":
    main()
