"""What a master's step does to the growth rate of delayed loops, and what following signals costs.

python benchmarks/waveform.py [--peers] [--fmi3] [--rig] [--plot FILE]

Growth rates are those of the one-step map of the schedule (docs/howto/analyze-loops.md), less that
of the continuous loop with its declared delays: no run, no fit. The order is that of the last
halving of the step whose error is above rounding. The cost is processor time of two runs in turns,
the best turn of each.
With ``--peers`` the delayed oscillator runs in FMPy and libcosim, too, from the same FMUs; their
rates are fitted to runs of 6 s (``pip install '.[peers]'``). ``--fmi3`` builds its units for both
versions of FMI and fits their runs, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from runner import Benchmark, processor_seconds, take_turns

from orchestrator import Execution, System, fmu, read_system, simulate
from orchestrator.export import build_recipe
from orchestrator.loops import LinearSystem, linear_system
from orchestrator.study.measure import fit_growth

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


def five_hertz(late: str | None) -> System:
    """A loop of 5 Hz that 3 ms of delay leave a damping of 0.05 N.s/m."""
    stiffness = (10.0 * math.pi) ** 2
    damping = 0.003 * stiffness + 0.05
    return (
        System("five hertz")
        .add("body", fmu(BUILT / "Chaser.fmu"), m=1.0, v0=0.1)
        .add("contact", fmu(BUILT / "SpringDashpot.fmu"), k=stiffness, d=damping, latched=True)
        .connect("body.position", "contact.position_a", delay=late)
        .connect("body.velocity", "contact.velocity_a", delay=late)
        .connect("contact.force_a", "body.force")
    )


def joined_bodies() -> System:
    """Two bodies and the spring and damper that join them, without any delay: 2.5 Hz."""
    return (
        System("joined bodies")
        .add("one", fmu(BUILT / "Chaser.fmu"), m=2.0, v0=0.1)
        .add("two", fmu(BUILT / "Chaser.fmu"), m=3.0, v0=0.0)
        .add("joint", fmu(BUILT / "SpringDashpot.fmu"), k=300.0, d=0.6, latched=True)
        .connect("one.position", "joint.position_a")
        .connect("one.velocity", "joint.velocity_a")
        .connect("two.position", "joint.position_b")
        .connect("two.velocity", "joint.velocity_b")
        .connect("joint.force_a", "one.force")
        .connect("joint.force_b", "two.force")
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


def six_axes() -> System:
    """The docking rig of examples/famdc without compensation, its wrench 24 ms late."""
    system = read_system(ROOT / "examples" / "famdc" / "spatial_uncompensated.ssd")
    for measured, taken in (("measured_force", "force"), ("measured_torque", "torque")):
        ends = f"sensor.{measured}", f"dynamics.{taken}"
        system = system.disconnect(*ends).connect(*ends, delay="24 ms")
    return system


LABELS = {"plain": "plain master", "held": "exact in the mean: held inputs"}

SYSTEMS: dict[str, tuple[Callable[[], System], dict[str, int]]] = {
    "delayed oscillator": (delayed_oscillator, {}),
    "axis of 40 Hz": (axis_loop, {}),
    "two bodies, two delays": (two_bodies, {}),
    "two loops, unequal delays": (unequal_delays, {}),
    "body 4 times as slow as its contact": (delayed_oscillator, {"body": 4}),
    "contact 5 times as slow as its body": (delayed_oscillator, {"contact": 5}),
}


#: Loops of less delay than the longer steps, and how they are stepped: algorithm and delay mode.
SHORT: dict[str, Callable[[], System]] = {
    "5 Hz, 3 ms late": lambda: five_hertz("3 ms"),
    "5 Hz, undelayed": lambda: five_hertz(None),
    "joined bodies, undelayed": joined_bodies,
}
RIG_STEPS = (8, 4, 2, 1)
SHORT_STEPS = (10, 5, 2.5, 1.25)
WAYS: dict[str, tuple[str, str]] = {
    "gauss-seidel, mean": ("gauss-seidel", "mean"),
    "gauss-seidel, waveform": ("gauss-seidel", "waveform"),
    "newton, mean": ("newton", "mean"),
    "waveform, mean": ("waveform", "mean"),
    "waveform, waveform": ("waveform", "waveform"),
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


def error(
    system: System,
    rates: dict[str, int],
    ms: float,
    order: int | None,
    mode: str,
    algorithm: str = "gauss-seidel",
) -> float:
    """Growth rate of the least damped mode, less that of the continuous loop, 1/s."""
    linear = linear_system(system, step=f"{ms} ms", algorithm=algorithm, delay=mode, rates=rates)
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
            mode = "mean" if order is None else "waveform"
            yield name, kind, [error(system, rates, ms, order, mode) for ms in STEPS]


def peer_rows() -> Iterator[tuple[str, str, list[float]]]:
    """Yield the delayed oscillator, the name of each other master, and its errors."""
    from other_masters import growth_rates

    system = delayed_oscillator()
    (account,) = linear_system(system, step="1 ms").loop_accounts(1)
    exact = account.modes[0].exact.real
    for master, rates in growth_rates(system, ("body", "position"), STEPS):
        yield "delayed oscillator", master, [rate - exact for rate in rates]


def version_rows() -> Iterator[tuple[str, str, list[float]]]:
    """Yield the delayed oscillator of units of each version of FMI, and its errors."""
    system = delayed_oscillator()
    (account,) = linear_system(system, step="1 ms").loop_accounts(1)
    growth = account.modes[0].growth - account.modes[0].error
    for version in ("2.0", "3.0"):
        with TemporaryDirectory() as folder:
            for name, plant in (("body", "Chaser"), ("contact", "SpringDashpot")):
                recipe = ROOT / "fmus" / f"{plant}.toml"
                built = build_recipe(recipe, Path(folder), fmi=[version])
                system = system.swap(name, fmu(built.path))
            for mode in ("mean", "waveform"):
                errors = []
                for ms in STEPS:
                    run = simulate(
                        system, step=f"{ms} ms", stop="6 s", algorithm="gauss-seidel", delay=mode
                    )
                    fit = fit_growth(run.time, run["body.position"], start=1.0)
                    errors.append(fit.sigma - growth)
                yield "delayed oscillator", f"FMI {version}, {mode}", errors


def rig_rows() -> Iterator[tuple[str, str, list[float]]]:
    """Yield the rig of six axes, whose FMUs follow and whose blocks hold, and its errors."""
    for mode in ("mean", "waveform"):
        yield "6-DOF rig", mode, [error(six_axes(), {}, ms, 3, mode) for ms in RIG_STEPS]


def short_rows() -> Iterator[tuple[str, str, list[float]]]:
    """Yield system, algorithm with delay mode, and errors over the steps."""
    for name, make in SHORT.items():
        for way, (algorithm, mode) in WAYS.items():
            found = [error(make(), {}, ms, 3, mode, algorithm) for ms in SHORT_STEPS]
            yield name, way, found


def cost(
    make: Callable[[], System], one: dict[str, str], other: dict[str, str], turns: int = 200
) -> float:
    """Processor time of a step with some options as a multiple of one with others.

    Both run side by side, 1000 steps in turns; the best turn of each counts, which is one that
    nothing else on the machine disturbed.
    """
    both = [
        Execution(make(), step="1 ms", stop=f"{turns} s", every=1000 * turns, **options)  # type: ignore[arg-type]
        for options in (one, other)
    ]
    ways = {
        str(n): partial(processor_seconds, partial(run.step, 1000)) for n, run in enumerate(both)
    }
    first, second = take_turns(ways, turns).values()
    return min(first) / min(second)


def table_of(
    benchmark: Benchmark,
    title: str,
    steps: Sequence[float],
    found: list[tuple[str, str, list[float]]],
) -> None:
    """Print errors over the steps."""
    rows = [
        (name, kind, *(f"{e:+.1e}" for e in errors), f"{orders(errors):.1f}")
        for name, kind, errors in found
    ]
    columns = ["system", "inputs", *(f"{ms:g} ms" for ms in steps), "order"]
    benchmark.table(title, columns, rows, texts=2)


def draw(found: list[tuple[str, str, list[float]]], file: Path) -> None:
    """Draw the errors of two loops over the step."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.2), sharey=True, layout="constrained")
    for axis, wanted in zip(axes, ("delayed oscillator", "axis of 40 Hz"), strict=True):
        for name, kind, errors in found:
            if name != wanted:
                continue
            own = kind in {"plain", *KINDS}
            label = LABELS.get(kind, f"waveform: {kind}") if own else kind
            look = "o-" if own else "s--"
            axis.loglog(STEPS, [max(abs(e), 1e-14) for e in errors], look, label=label)
        axis.set_title(wanted)
        axis.set_xlabel("communication step H [ms]")
        axis.set_xticks(STEPS, [str(ms) for ms in STEPS])
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0].set_ylabel("error of the growth rate [1/s]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right", frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=130)


def main() -> None:
    """Print the tables, and draw the first."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--plot", type=Path)
    benchmark.argument("--peers", action="store_true", help="runs in FMPy and libcosim, too")
    benchmark.argument("--rig", action="store_true", help="the 6-DOF rig, too: minutes")
    benchmark.argument("--fmi3", action="store_true", help="units of FMI 2.0 and 3.0, fitted")
    options = benchmark.options()
    found = list(islice(rows(), 3)) if options.quick else list(rows())
    if options.peers:
        found += peer_rows()
    table_of(benchmark, "Errors of growth, 1/s", STEPS, found)
    if options.fmi3:
        table_of(benchmark, "Fitted to runs", STEPS, list(version_rows()))
    if options.rig:
        table_of(benchmark, "Rig of six axes", RIG_STEPS, list(rig_rows()))
    costs = {}
    if not options.quick:
        table_of(benchmark, "Loops of less delay than a step", SHORT_STEPS, list(short_rows()))
    turns = 2 if options.quick else 200
    for name, make in (("axis of 40 Hz", axis_loop), ("two bodies, two delays", two_bodies)):
        costs[f"a step that follows, by one that holds: {name}"] = cost(
            make, {"delay": "waveform"}, {"delay": "mean"}, turns
        )
    for other in ("newton", "gauss-seidel"):
        costs[f"a step of 'waveform', by one of '{other}': joined bodies"] = cost(
            joined_bodies, {"algorithm": "waveform"}, {"algorithm": other}, turns
        )
    shown = [(name, f"{value:.2f}") for name, value in costs.items()]
    benchmark.table("Cost in steps of 1 ms", ["", "ratio"], shown)
    if options.plot:
        draw(found, options.plot)
    benchmark.finish(errors=found, costs=costs)


if __name__ == "__main__":
    main()
