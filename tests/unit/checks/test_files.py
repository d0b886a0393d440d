"""Every code that is about a file appears where it should and nowhere else."""

import struct
import zipfile

import pytest
from diagnostic_cases.files import FILES, component, copied, experiment, ssd

from orchestrator.checks import check_target
from orchestrator.checks.fmus import check_file
from orchestrator.core.operating_system import platforms
from orchestrator.study.experiment import RunOptions

pytestmark = pytest.mark.usefixtures("sample_blocks")


def codes_of(file):
    return [finding.code for finding in check_target(file).findings]


@pytest.mark.parametrize("code", FILES)
def test_appears(code, probe, tmp_path):
    assert code in codes_of(FILES[code].bad(tmp_path, copied(probe, tmp_path)))


@pytest.mark.parametrize("code", FILES)
def test_does_not_appear_where_nothing_is_wrong(code, probe, tmp_path):
    assert code not in codes_of(FILES[code].good(tmp_path, copied(probe, tmp_path)))


def test_cases_of_a_system_with_errors_are_not_looked_at(probe, tmp_path):
    copied(probe, tmp_path)
    broken = ssd(component(source="missing.fmu"))
    file = experiment(system=broken)(tmp_path, tmp_path / "probe.fmu")
    report = check_target(file)
    assert {finding.code for finding in report.findings} >= {"FMU101", "FIL102"}
    assert "EXP103" not in {finding.code for finding in report.findings}
    assert report.systems == {}


def test_options_win_over_those_of_every_case(probe, tmp_path):
    copied(probe, tmp_path)
    file = experiment()(tmp_path, tmp_path / "probe.fmu")
    assert "CAP104" not in codes_of(file)
    found = check_target(file, RunOptions(algorithm="magic")).findings
    assert [f.file for f in found if f.code == "CAP104"] == [str(file)]
    found = check_target(file, RunOptions(step="0.3 s")).findings
    assert [f.message for f in found if f.code == "TIM107"] == [
        "the run ends at 0.9 s: 1 s is no whole number of steps of 300 ms after the start"
    ]


def test_a_parameter_set_is_read_as_a_system_reads_it(tmp_path):
    space = "http://ssp-standard.org/SSP1/ParameterValues"
    (tmp_path / "a.ssv").write_text(
        f'<s:ParameterSet xmlns:s="{space}" version="1.0" name="a"><s:Parameters>'
        '<s:Parameter name="k"><s:Real value="1.0"/></s:Parameter></s:Parameters></s:ParameterSet>'
    )
    assert codes_of(tmp_path / "a.ssv") == ["SSP123"]


@pytest.mark.parametrize(
    ("processor", "words"),
    [(0x14C, "is a library for 32-bit x86"), (0xAA64, "is a library for 64-bit ARM"), (0x8664, "")],
)
def test_the_processor_of_a_windows_library(probe, tmp_path, monkeypatch, processor, words):
    """As on Windows, which the name of this machine decides."""
    headers = bytearray(160)
    headers[:2], headers[64:68] = b"MZ", b"PE\0\0"
    struct.pack_into("<I", headers, 0x3C, 64)  # where the headers of the library begin
    struct.pack_into("<HH", headers, 68, processor, 0)  # without a section
    path = tmp_path / "probe.fmu"
    with zipfile.ZipFile(probe) as source, zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", source.read("modelDescription.xml"))
        archive.writestr("binaries/win64/probe.dll", bytes(headers))
    monkeypatch.setattr(platforms, "machine", lambda: ("Windows", "AMD64"))
    found = [finding.message for finding in check_file(path, "p") if finding.code == "FMU113"]
    assert [words in message for message in found] == ([True] if words else [])
