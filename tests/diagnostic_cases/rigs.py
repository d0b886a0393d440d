"""Experiments on a robot that has been identified, simulated, by its twin, or on a rig."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from robot_twin import PAIR, TWIN

from orchestrator.rig.hardware.twin_file import twin_text

_RIG_PARTS = """
from orchestrator import Block, Input, Output


class Robot(Block):
    dx: float = Input(unit="m")
    x: float = Output(unit="m")

    def step(self, t: float, h: float) -> None:
        self.x = self.dx


class Spring(Block):
    x: float = Input(unit="m")
    f: float = Output(unit="m")

    def step(self, t: float, h: float) -> None:
        self.f = -self.x
"""
_RIG = """
[system]
name = "rig"
[experiment]
step = "4 ms"
stop = "1 s"
[component.robot]
source = "block:parts.py:Robot"
[component.spring]
source = "block:parts.py:Spring"
[connections]
"robot.x -> spring.x" = {{ delay = "{delay}" }}
"spring.f -> robot.dx" = {{}}
"""


def rig(cases: str, delay: str = "20 ms", device: str = "kuka_rsi") -> Callable[[Path, Path], Path]:
    """Return an experiment on a robot of 16 and 4 ms, whose twin is beside it."""

    def write(folder: Path, fmu: Path) -> Path:
        (folder / "parts.py").write_text(_RIG_PARTS)
        (folder / "rig.toml").write_text(_RIG.format(delay=delay))
        twin = TWIN.model_copy(update={"pair": (PAIR,), "device": device})
        (folder / "robot.twin.toml").write_text(twin_text(twin))
        file = folder / "experiment.toml"
        file.write_text(f'title = "t"\n{cases}')
        return file

    return write


SIMULATED = '[case.simulated]\nsystem = "rig.toml"\n'
TWIN_CASE = '[case.twin]\nsystem = "rig.toml"\nswap = { robot = "twin:robot.twin.toml" }\n'
REST = 'delays = { "robot.x -> spring.x" = "2 ms" }\n'
ON_RIG = """
[case.rig]
system = "rig.toml"
physical = ["robot.x -> spring.x"]
devices.robot = { device = "kuka_rsi", axes = ["x"], measured = "displacement" }
"""
READ = ON_RIG.replace('physical = ["robot.x -> spring.x"]\n', "")
