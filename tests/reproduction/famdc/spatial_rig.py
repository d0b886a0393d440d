"""The example's rig in six degrees of freedom: Table 2, constant and time-varying contact."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from reproduction.famdc import example
from reproduction.famdc.example import OFFSET, changed, systems

from orchestrator.core.system import System

__all__ = ["OFFSET", "START", "C", "K", "ideal", "noise", "rig"]
K, C, START = np.array(systems.K), np.array(systems.C), systems.START
noise = partial(example.noise, "sensor.measured_force")


def rig(plants: Path, *, compensated: bool = True, swing: bool = False) -> System:
    """Read the rig; with ``swing`` the contact varies by as much as it is."""
    assert plants.is_dir()
    system = example.example("SystemStructure" if compensated else "spatial_uncompensated")
    swinging = {"contact__k_swing": tuple(K), "contact__c_swing": tuple(C)} if swing else {}
    return changed(system, **swinging)


def ideal(plants: Path, *, swing: bool = False) -> System:
    """Read the same bodies with the contact inside: the motion in space."""
    assert plants.is_dir()
    system = example.example("spatial_ideal")
    for name, value in {"k": K, "c": C}.items() if swing else ():
        system = system.set(f"dynamics.contact.{name}_swing", tuple(value))
    return system
