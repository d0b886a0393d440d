"""Where the energy of a snare comes from, and where it goes; run it to print the tables.

python examples/snare/ledger.py
"""

from __future__ import annotations

from pathlib import Path

from orchestrator import Result, read_system, resolve, simulate

HERE = Path(__file__).parent
ROPES = ("rope_1", "rope_2", "rope_3")
CASES = {
    "on the axis": {},
    "40 mm aside": {"target.r0[2]": 0.04137},
    "tumbling": {"target.r0[2]": 0.02137, "target.w0[1]": -0.03, "target.w0[3]": 0.05},
}
_WORKS = {
    "ring": ("motor_work", "rope_work"),
    "target": ("work",),
    "lock": ("target_work", "latch_work"),
    **dict.fromkeys(ROPES, ("ring_work", "drag_work", "target_work")),
}


def parts(run: Result, until: int = -1) -> dict[str, float]:
    """Return the entries of the ledger, J, up to the row ``until``.

    ``motor``, ``screw``, ``latches``: work from outside. ``begin``: energy at the start. ``stored``
    and ``heat``: of all parts, then. A part by its name: what it holds more than it was given. ``at
    rings``, ``at target``: what one side says that it gave less than the other that it got, since
    forces and motion are passed on in steps.
    """

    def total(*names: str) -> float:
        return float(sum(run[name][until] for name in names))

    energies = [f"{part}.energy" for part in _WORKS]
    found = {
        "begin": float(sum(run[name][0] for name in energies)),
        "motor": total("ring.motor_work"),
        "screw": total(*(f"{rope}.drag_work" for rope in ROPES)),
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
    found["at target"] = total("target.work", *others)
    return found


def main() -> None:
    """Print a column for each case."""
    system = resolve(read_system(HERE / "SystemStructure.ssd"))
    columns = []
    for values in CASES.values():
        case = system
        for name, value in values.items():
            case = case.set(name, value)
        columns.append(parts(simulate(case, step="1 ms", stop="4 s")))
    rows = [["J", *CASES], ["---"] * (1 + len(CASES))]
    rows += [[entry, *(f"{column[entry]:.3g}" for column in columns)] for entry in columns[0]]
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))  # noqa: T201


if __name__ == "__main__":
    main()
