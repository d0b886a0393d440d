"""The compensated rig on one axis as one FMU, run by another tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from reproduction.famdc.axial_rig import noise, rig, run

from orchestrator import build_block, export_system, fmu
from python_blocks.compensation.force import ForceCompensation
from python_blocks.compensation.phase_lead import PhaseLead
from python_blocks.identification.identifier import Identifier

BLOCKS = {"lead": PhaseLead, "identifier": Identifier, "compensation": ForceCompensation}


def test_one_fmu_gives_the_same_bits(plants: Path, tmp_path: Path) -> None:
    """Its blocks branch on values, so they are FMUs with Python in them; all else is native."""
    pytest.importorskip("pythonfmu", reason="blocks without equations are exported by pythonfmu")
    system = rig(plants)
    for name, block in BLOCKS.items():
        built = build_block(block, tmp_path, fmi=("2.0",), python=True)
        system = system.swap(name, fmu(built.path))
    path = export_system(system, tmp_path / "rig.fmu", step="1 ms", delay="plain", faults=[noise()])
    found = simulate_fmu(str(path), stop_time=1.0, step_size=1e-3, output_interval=1e-3)
    wanted = run(rig(plants), noise(), stop="1 s")
    for name in ("dynamics.position", "dynamics.velocity"):
        np.testing.assert_array_equal(found[name], wanted[name])
