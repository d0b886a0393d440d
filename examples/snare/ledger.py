"""Sources and sinks of the energy of a snare; run it to print the tables.

python examples/snare/ledger.py [STEP, such as "0.5 ms"]
"""

from __future__ import annotations

import sys
from pathlib import Path

from orchestrator import Result, System, read_system, resolve, simulate

HERE = Path(__file__).parent
ROPES = ("rope_1", "rope_2", "rope_3")
_TUMBLING = {"target.r0[2]": 0.02137, "target.w0[1]": -0.03, "target.w0[3]": 0.05}
CASES = {
    "on the axis": ("SystemStructure.ssd", {}),
    "40 mm off the axis": ("SystemStructure.ssd", {"target.r0[2]": 0.04137}),
    "tumbling": ("SystemStructure.ssd", _TUMBLING),
    "free": ("free.ssd", _TUMBLING),
}
#: How delays are realised, where not exactly in the mean, as in experiment.toml.
_DELAY = {"free": "waveform"}
_WORKS = {
    "ring": ("motor_work", "rope_work", "turning_work"),
    "target": ("work",),
    "lock": ("target_work", "latch_work"),
    **dict.fromkeys(ROPES, ("ring_work", "drag_work", "target_work")),
}


def case(name: str) -> System:
    """Return the system of one of ``CASES``."""
    file, values = CASES[name]
    system = resolve(read_system(HERE / file))
    for element, value in values.items():
        system = system.set(element, value)
    return system


def parts(run: Result, until: int = -1) -> dict[str, float]:
    """Return the entries of the ledger, J, up to the row ``until``.

    ``motor``, ``screw``, ``latches``: work from outside. ``begin``: energy at the start. ``stored``
    and ``heat``: of all parts, then. A part by its name: what it holds more than it was given. ``at
    rings``, ``at bodies``: what one side says that it gave less than the other that it got, since
    forces and motion are passed on in steps; bodies are the target and a free device.
    """

    def total(*names: str) -> float:
        return float(sum(run[name][until] for name in names))

    free = "device.energy" in run.names
    energies = [f"{part}.energy" for part in (*_WORKS, *(["device"] if free else []))]
    drags = [f"{rope}.drag_work" for rope in ROPES]
    found = {
        "begin": float(sum(run[name][0] for name in energies)),
        "motor": total("ring.motor_work"),
        "screw": total("device.screw_work") if free else total(*drags),
        "latches": total("lock.latch_work"),
        "stored": total(*energies),
        "heat": total("ring.heat", "lock.heat", *(f"{rope}.heat" for rope in ROPES)),
    }
    for part, works in _WORKS.items():
        heat = 0.0 if part == "target" else total(f"{part}.heat")
        gained = total(f"{part}.energy") - float(run[f"{part}.energy"][0])
        found[part] = gained + heat - total(*(f"{part}.{work}" for work in works))
    found["at rings"] = total("ring.rope_work", *(f"{rope}.ring_work" for rope in ROPES))
    others = ("lock.target_work", *(f"{rope}.target_work" for rope in ROPES))
    found["at bodies"] = total("target.work", *others)
    if free:
        gained = total("device.energy", *drags) - float(run["device.energy"][0])
        found["at bodies"] += gained - found["screw"] + total("ring.turning_work")
    return found


def main() -> None:
    """Print a column for each case."""
    step = sys.argv[1] if len(sys.argv) > 1 else "1 ms"
    columns = [
        parts(simulate(case(name), step=step, stop="4 s", delay=_DELAY.get(name, "mean")))
        for name in CASES
    ]
    rows = [["J", *CASES], ["---"] * (1 + len(CASES))]
    rows += [[entry, *(f"{column[entry]:.3g}" for column in columns)] for entry in columns[0]]
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))  # noqa: T201


if __name__ == "__main__":
    main()
