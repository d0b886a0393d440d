"""Twins in files of systems: paths follow the file, and no archive holds one."""

import pytest
from robot_twin import TWIN

from orchestrator import CapabilityError, read_system, write_ssd, write_ssp, write_toml
from orchestrator.core.system import Source
from orchestrator.rig.hardware.twin_file import twin_text
from orchestrator.study.prepare.prepare import swap_component

ROBOT = '''
from orchestrator import Block, Input, Output


class Robot(Block):
    """Follows at once."""

    dx: float = Input(unit="m", start=0.0)
    x: float = Output(unit="m")

    def step(self, t, h):
        self.x = self.dx
'''
TEXT = """
[system]
name = "rig"
[component.robot]
source = "twin:my twin.toml?inner=block:blocks/robot.py:Robot&seed=3"
values = { dx = 0.0 }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my twin.toml").write_text(twin_text(TWIN))
    (tmp_path / "blocks").mkdir()
    (tmp_path / "blocks" / "robot.py").write_text(ROBOT)
    (tmp_path / "rig.toml").write_text(TEXT)
    return tmp_path


@pytest.mark.parametrize(("write", "name"), [(write_toml, "b/rig.toml"), (write_ssd, "b/rig.ssd")])
def test_a_file_elsewhere_leads_to_the_same_twin(folder, write, name):
    system = read_system(folder / "rig.toml")
    source = system.component("robot").source
    assert source.file == folder / "my twin.toml"
    assert source.inner == Source.parse(f"block:{folder}/blocks/robot.py:Robot")
    assert source.seed == 3
    (folder / "b").mkdir()
    write(system, folder / name)
    assert str(folder) not in (folder / name).read_text()
    assert read_system(folder / name).component("robot").source == source


def test_an_archive_holds_no_twin(folder, wording):
    with wording.raises(CapabilityError):
        write_ssp(read_system(folder / "rig.toml"), folder / "rig.ssp")


def test_a_swap_keeps_what_stood_there(folder):
    system = read_system(folder / "rig.toml")
    plain = swap_component(system, "robot", f"block:{folder}/blocks/robot.py:Robot")
    again = swap_component(plain, "robot", f"twin:{folder}/my twin.toml")
    found = again.component("robot").source
    assert (found.inner, found.seed) == (system.component("robot").source.inner, 0)
