"""FMUs in systems by names that end in .FMU, or have no suffix."""

import shutil

import pytest

from orchestrator.checks import check_target
from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import read_system, write_ssd, write_ssp
from orchestrator.core.system import System


@pytest.mark.parametrize("name", ["plant.FMU", "./plant"])
@pytest.mark.parametrize(("write", "file"), [(write_ssd, "s.ssd"), (write_ssp, "s.ssp")])
def test_an_fmu_of_another_name_is_written_read_and_checked(c_fmu, tmp_path, name, write, file):
    path = tmp_path / name
    shutil.copy(c_fmu("early3"), path)
    assert check_target(path).exit_code() == 0
    system = System("s").add("m", fmu(path))
    write(system, tmp_path / file)
    found = read_system(tmp_path / file).components["m"].source
    assert found.file.name == path.name
    assert check_target(tmp_path / file).exit_code() == 0
