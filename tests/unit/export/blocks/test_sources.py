"""The sources in exported FMUs: complete, and without warnings."""

import zipfile

import pytest

from orchestrator.core.system import Causality, Connector, Interpolation
from orchestrator.export import DelayLine
from orchestrator.export.codegen.compiler import library_command, run_compiler

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_a_block(fmi, samples, built, tmp_path):
    with zipfile.ZipFile(built(samples.Filter, fmi)) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert "sources/sampled.c" in names
    assert "sources/delay_line.c" not in names
    run_compiler(library_command("fmu.c", tmp_path / "x.so", STRICT), tmp_path / "sources")


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_line(shape, tmp_path):
    signal = Connector("y", Causality.OUTPUT, shape=shape)
    line = DelayLine(
        signal, 5_000_000, 0, 1_000_000, Interpolation.CUBIC, (0.0,) * max(1, signal.size)
    )
    with zipfile.ZipFile(line.build("line", tmp_path / "line.fmu").path) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert "sources/delay_line.c" in names
    assert "sources/sampled.c" not in names
    run_compiler(library_command("fmu.c", tmp_path / "x.so", STRICT), tmp_path / "sources")
