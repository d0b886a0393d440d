"""A portable .ssp in ecos, and in OMSimulator where its command is installed."""

import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from orchestrator import read_experiment, read_system, simulate
from orchestrator.export.portable import write_portable_ssp
from orchestrator.study.prepare.prepare import prepare

EPOS = Path(__file__).parents[4] / "examples" / "epos"
STEP_NS = 1_000_000
COUNT = 2001
_ECOS = """
import ctypes, sys
path, library, name, count, *wanted = sys.argv[1:]
ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
from ecospy import EcosLib, EcosSimulation
EcosLib.set_log_level("warn")
simulation = EcosSimulation(ssp_path=path, step_size=1e-3)
if not simulation.init(parameter_set=name):
    sys.exit(EcosLib.get_last_error())
for _ in range(int(count)):
    simulation.step(1)
    print(*[repr(simulation.get_real(each)) for each in wanted])
"""


@pytest.fixture
def epos(plants, tmp_path):
    """The archive of a case, and what our master gives."""
    case = read_experiment(EPOS / "experiment.toml").case["capture_b60"]
    path = tmp_path / "capture.ssp"
    made = write_portable_ssp(prepare("capture_b60", case, EPOS, {}, {}), path, step_ns=STEP_NS)
    return path, simulate(
        made.inside, algorithm="jacobi", step="1 ms", stop=f"{COUNT} ms", delay="mean"
    )


def test_every_parameter_set_has_one_name_and_the_step_is_said(epos):
    path, _ = epos
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("SystemStructure.ssd"))
        values = etree.fromstring(archive.read("parameters.ssv"))
    sets = root.findall(".//{*}ParameterSet")
    assert len(sets) > 1
    assert {each.get("name") for each in (*sets, values)} == {"parameters"}
    first = root.find("{*}System/{*}Annotations/{*}Annotation")
    assert first.get("type") == "org.openmodelica"
    stepped = first.find("{*}Annotations/{*}SimulationInformation/{*}FixedStepMaster")
    assert (stepped.prefix, stepped.get("description")) == ("oms", "oms-ma")
    assert stepped.get("stepSize") == "0.001"
    assert read_system(path).components["chaser"].values["m"] == 750.0


def test_ecos_gives_the_same_bits(epos):
    try:
        library = next(each for each in files("tbb") or () if each.name == "libtbb.so.12")
        files("ecospy")
    except (PackageNotFoundError, StopIteration):
        pytest.skip("ecospy or its libtbb.so.12 is not installed (Linux only)")
    path, ours = epos
    names = ["chaser.position", "chaser.velocity", "damper.force"]
    command = [sys.executable, "-c", _ECOS, str(path), str(library.locate()), "parameters"]
    wanted = [name.replace(".", "::") for name in names]
    done = subprocess.run(  # noqa: S603
        [*command, str(COUNT), *wanted], capture_output=True, text=True, check=True, cwd=path.parent
    )
    values = np.array([[float(text) for text in row.split()] for row in done.stdout.splitlines()])
    expected = np.column_stack([ours.values[1:, ours.names.index(name)] for name in names])
    assert abs(expected[-1, 0] - 0.00737) < 1e-5  # other names of the sets gave 0.0181
    np.testing.assert_array_equal(values, expected)


@pytest.mark.skipif(
    shutil.which("OMSimulator") is None, reason="OMSimulator's command is not installed"
)
def test_omsimulator_runs_it(epos, tmp_path):
    path, ours = epos
    stop = COUNT / 1000
    subprocess.run(  # noqa: S603
        [
            str(shutil.which("OMSimulator")),
            f"--stopTime={stop}",
            f"--intervals={COUNT + 1}",
            "--resultFile=r.csv",
            path,
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env=os.environ,
    )
    rows = np.genfromtxt(tmp_path / "r.csv", delimiter=",", names=True, deletechars="")
    name = next(each for each in rows.dtype.names or () if each.endswith("chaser.position"))
    expected = ours.values[:, ours.names.index("chaser.position")]
    at = np.rint(rows["time"] * 1000).astype(int)
    # It exchanges in the order of the dependencies, so the loop has less delay than planned.
    assert np.abs(rows[name] - expected[at]).max() < 0.03 * np.abs(expected).max()
