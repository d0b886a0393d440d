import re
import zipfile

import pytest

from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.simunits import read_fmu
from orchestrator.core.system import Causality, DataType


def test_probe(probe):
    found = read_fmu(probe)
    description = found.description
    assert description.name == "Probe"
    assert (found.guid, found.library) == ("{probe}", "binaries/linux64/probe.so")
    assert description.capabilities.can_roll_back
    assert description.capabilities.can_vary_step
    assert not description.capabilities.has_directional_derivatives
    assert [c.name for c in description.of(Causality.INPUT)] == ["u", "n", "flag"]
    u, gain, label = (description.connectors[n] for n in ("u", "gain", "label"))
    assert (u.type, u.unit, u.description, u.start) == (DataType.REAL, "N", "Force", 0.0)
    assert (gain.causality, gain.start) == (Causality.PARAMETER, 2.0)
    assert (label.type, label.start) == (DataType.STRING, "")
    assert description.connectors["flag"].start is False
    assert description.connectors["m"].start is None
    assert description.feedthrough == {
        "y": (), "g": ("u",), "m": ("n",), "no_way_back": (), "not_flag": ("flag",),
        "label_out": (),
    }  # fmt: skip
    assert description.details["tool"] == "the tests"


def test_missing(tmp_path, wording):
    with wording.raises(FmuError):
        read_fmu(tmp_path / "no.fmu")


def test_not_a_zip(tmp_path, wording):
    (tmp_path / "a.fmu").write_bytes(b"text")
    with wording.raises(FmuError):
        read_fmu(tmp_path / "a.fmu")


def test_cut_off(probe, tmp_path, wording):
    content = probe.read_bytes()
    (tmp_path / "a.fmu").write_bytes(content[: len(content) // 2])
    with wording.raises(FmuError):
        read_fmu(tmp_path / "a.fmu")


def test_no_description(tmp_path, wording):
    with zipfile.ZipFile(tmp_path / "a.fmu", "w") as zip_file:
        zip_file.writestr("readme.txt", "x")
    with wording.raises(FmuError):
        read_fmu(tmp_path / "a.fmu")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("</fmiModelDescription>", ""),
        ("<fmiModelD", '<!DOCTYPE fmiModelDescription [<!ENTITY a "b">]>\n<fmiModelD'),
        ('fmiVersion="2.0"', 'fmiVersion="4.0"'),
        ('fmiVersion="2.0"', ""),
        ('valueReference="1" caus', 'valueReference="x" caus'),
        ('index="17"', 'index="99"'),
        ('name="g"', 'name="y"'),
    ],
)
def test_description_wrong(make_fmu, old, new, wording):
    path = make_fmu(lambda text: text.replace(old, new))
    with wording.raises(FmuError) as caught:
        read_fmu(path)
    assert str(path) in str(caught.value)


def test_model_exchange_only(make_fmu, wording):
    path = make_fmu(
        lambda text: text.replace("<CoSimulation", "<ModelExchange").replace(
            'canHandleVariableCommunicationStepSize="true" ', ""
        )
    )
    described = read_fmu(path)
    assert described.interface == "ModelExchange"
    assert described.description.details["kind"] == "FMU, FMI 2.0 Model Exchange"
    with wording.raises(CapabilityError):
        read_fmu(path, "cs")


def test_an_fmu_for_scheduled_execution_or_nothing_is_refused(make_fmu):
    path = make_fmu(lambda text: re.sub("<CoSimulation.*?/>", "", text, flags=re.DOTALL))
    with pytest.raises(FmuError):
        read_fmu(path)


def test_no_binary_for_this_machine(make_fmu, wording):
    path = make_fmu(folder="win64")
    with wording.raises(FmuError):
        read_fmu(path)


def test_only_a_32_bit_library(make_fmu, wording):
    path = make_fmu(folder="win32")
    for platform in (None, "win64"):
        with wording.raises(FmuError):
            read_fmu(path, platform=platform)


def test_a_file_that_changes_is_read_anew(make_fmu, tmp_path):
    first = make_fmu()
    assert read_fmu(first).description.name == "Probe"
    second = make_fmu(lambda text: text.replace('modelName="Probe"', 'modelName="Other"'))
    first.write_bytes(second.read_bytes())
    assert read_fmu(first).description.name == "Other"
