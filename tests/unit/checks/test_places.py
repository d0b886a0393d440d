"""Findings say where in their file they stand."""

import zipfile

import pytest
from diagnostic_cases.files import FILES, bindings, component, copied, parameters, ssd

from orchestrator.checks import check_target
from orchestrator.checks.target import line_for, system_places, toml_lines

pytestmark = pytest.mark.usefixtures("sample_blocks")

NESTED = """\
[system]
name = "outer"

[nested.arm.component.motor]
source = "block:gain"

[nested.arm.connectors]
torque = { causality = "output" }

[nested.arm.connections]
"motor.y -> torque" = {}

[component.load]
source = "block:gain"

[connections]
"arm.torque -> load.u" = {}
"""

CONNECTED = """\
<ssd:Connections>
<ssd:Connection startElement="probe" startConnector="y" endElement="probe" endConnector="u"/>
</ssd:Connections>
"""


@pytest.fixture
def folder(probe, tmp_path):
    copied(probe, tmp_path)
    return tmp_path


def by_code(report):
    return {finding.code: finding for finding in report.findings}


def line_of(text, words):
    return next(i for i, line in enumerate(text.splitlines(), start=1) if words in line)


def test_a_connection_stands_at_its_element(folder):
    declared = (
        '<ssd:Connectors>\n<ssd:Connector name="y" kind="output"><ssc:Integer/></ssd:Connector>\n'
        '<ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector></ssd:Connectors>'
    )
    text = ssd(component(inside=declared), after=CONNECTED)
    (folder / "s.ssd").write_text(text)
    found = by_code(check_target(folder / "s.ssd"))
    mismatch = found["FMU106"]
    assert (mismatch.place, mismatch.line) == ("probe.y", line_of(text, 'name="y"'))
    assert mismatch.file == str(folder / "s.ssd")
    assert found["CON106"].line == line_of(text, 'startConnector="y"')
    assert found["CON106"].place == "probe.y -> probe.u"


def test_an_archive_is_named_with_its_entry_and_no_folder_of_ours(folder):
    path = folder / "s.ssp"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", ssd(component(source="resources/probe.fmu")))
        archive.writestr("resources/probe.fmu", b"no archive")
    damaged = by_code(check_target(path))["FMU102"]
    assert damaged.file == f"{path}:SystemStructure.ssd"
    assert damaged.message.startswith(f"{path}:resources/probe.fmu: expected a zip archive")


def test_an_overridden_value_stands_in_its_own_file(folder):
    (folder / "own.ssv").write_text(parameters(("u", 0.0), ("gain", 1.0)))
    source = (
        '<ssd:ParameterBindings><ssd:ParameterBinding source="own.ssv"/></ssd:ParameterBindings>'
    )
    above = bindings(parameters(("probe.gain", 2.0)))
    text = ssd(component(inside=source), inside=above)
    (folder / "s.ssd").write_text(text)
    found = by_code(check_target(folder / "s.ssd"))["VAL108"]
    assert (found.file, found.line) == (str(folder / "own.ssv"), 3)
    line = line_of(text, 'name="probe.gain"')
    assert found.message == f"1.0 does not hold: {folder / 's.ssd'}:{line} gives it 2.0"


def test_places_of_a_system_file(folder):
    file = folder / "system.toml"
    file.write_text(NESTED)
    locations = system_places(file)
    assert locations.of("arm/motor") == line_of(NESTED, "component.motor")
    assert locations.of("arm/motor.u") == line_of(NESTED, "component.motor")
    assert locations.of("arm.torque") == line_of(NESTED, "torque = ")
    assert locations.of("arm/motor.y -> arm.torque") == line_of(NESTED, "motor.y ->")
    assert locations.of("arm/motor.y -> load.u") == line_of(NESTED, "-> load.u")
    assert locations.of("nobody") == 1
    assert by_code(check_target(file))["CON109"].line == line_of(NESTED, "component.motor")


def test_findings_of_a_case_stand_at_its_table(folder):
    file = FILES["EXP102"].bad(folder, folder / "probe.fmu")
    assert by_code(check_target(file))["EXP102"].line == line_of(file.read_text(), "measure.high")
    file = FILES["EXP103"].bad(folder, folder / "probe.fmu")
    found = by_code(check_target(file))["EXP103"]
    assert (found.file, found.line) == (str(file), line_of(file.read_text(), "[case.one]"))


def test_lines_of_a_toml_file(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text('a = 1\n["b c".d]\n"e.f" = 2\n[[g]]\nh.i = 3\n')
    lines = toml_lines(file)
    wanted = {("a",): 1, ("b c", "d"): 2, ("b c", "d", "e.f"): 3, ("g",): 4, ("g", "h", "i"): 5}
    assert lines == wanted
    assert line_for("g.h.i.z", lines) == 5
    assert line_for("nothing", lines) is None


def test_all_variants_of_an_archive_are_checked(folder):
    path = folder / "s.ssp"
    held = bindings(parameters(("u", 0.0), ("n", 0)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", ssd(component(source="resources/probe.fmu")))
        other = ssd(component(source="resources/probe.fmu", inside=held))
        archive.writestr("Other.ssd", other)
        archive.write(folder / "probe.fmu", "resources/probe.fmu")
    report = check_target(path)
    unset = [(f.file, f.place) for f in report.findings if f.code == "CON119"]
    assert [where for _, where in unset] == ["probe.flag", "probe.flag", "probe.n", "probe.u"]
    assert unset[0][0] == f"{path}:Other.ssd"
    assert {name: extent.errors for name, extent in report.systems.items()} == {
        "s": 0,
        "s:Other.ssd": 0,
    }


def test_what_is_wrong_in_a_scene_stands_in_its_file(tmp_path):
    animated = 'title = "x"\n[case.a]\nsystem = "s.toml"\n[animation.p]\nscene = ["scene.toml"]\n'
    (tmp_path / "e.toml").write_text(f'{animated}cases = ["a"]\n')
    (tmp_path / "scene.toml").write_text("[view.near]\neye = [1, 2, 3]\ntarget = [0, 0]\n")
    (found,) = check_target(tmp_path / "e.toml").findings
    assert (found.code, found.file, found.line) == ("EXP101", str(tmp_path / "scene.toml"), 3)


def test_a_table_of_an_extension_that_nobody_has_is_a_finding(tmp_path):
    file = tmp_path / "e.toml"
    file.write_text('title = "x"\n[case.a]\nsystem = "s.toml"\n[extension.foo]\nq = 1\n')
    (found,) = check_target(file).findings
    assert (found.code, found.file) == ("EXP101", str(file))
    assert found.text.startswith("extension.foo: no extension with a table of this name")
