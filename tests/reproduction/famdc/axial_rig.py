"""The example's rigs on one axis, at Table 1 and at both columns of Table 3."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from reproduction.famdc import example
from reproduction.famdc.example import OFFSET, changed, run

from orchestrator.core.system import System

__all__ = ["OFFSET", "TABLES", "ideal", "noise", "rig", "run"]
TABLES = ("1", "3-I", "3-II")
noise = partial(example.noise, "sensor.measured")


def rig(plants: Path, table: str = "1", way: str = "compensated", **values: object) -> System:
    """Read a rig by the name of its way to compensate; ``plants`` are what it runs with."""
    assert plants.is_dir()
    system = example.example(f"axial_{way}", "" if table == "1" else table)
    if way == "smith_predictor":  # it knows the contact
        values = {
            "filter__stiffness": system.value("contact.k"),
            "filter__damping": system.value("contact.d"),
            **values,
        }
    return changed(system, **values)


def ideal(plants: Path, table: str = "1", stop: str = "5 s") -> np.ndarray:
    """Position of the spacecraft from the end-effector as in space, m, every 1 ms."""
    assert plants.is_dir()
    system = example.example("axial_ideal", "" if table == "1" else f"{table}.space")
    return run(system, stop=stop)["space.position"]
