"""``softdock certify``: the table, the page, JSON, and the certificate within an archive."""

import json
import zipfile
from pathlib import Path

import pytest
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator.core.ssp import write_ssp
from orchestrator.core.ssp.write.packing import REPORT_ENTRY, SRMD_ENTRY, STMD_ENTRY

SCHEMAS = Path(__file__).parents[1] / "core" / "ssp" / "traceability"
AXIS = ("--case", "capture_b60_axis", "--step", "4 ms", "--as", "ecos,omsimulator")


@pytest.fixture
def epos():
    return str(Path(__file__).parents[3] / "examples" / "epos")


@pytest.fixture
def archive(plants, tmp_path):
    """A pair as another tool would pack it: without a delay, a step or a time to stop."""
    body = plant(plants, "Chaser", m=20.0, **UNPUSHED)
    contact = plant(plants, "SpringDashpot", k=2000.0, d=150.0, latched=True, **GROUND)
    system = body_at_contact(body, contact, name="pair")
    write_ssp(system, tmp_path / "pair.ssp")
    return tmp_path / "pair.ssp"


def test_the_bold_figure_of_the_page_on_delays(softdock, epos):
    """Without its delay of 16 ms the rig that grows would die down under any Jacobi master."""
    code, out, _ = softdock("certify", epos, *AXIS, "--json")
    content = json.loads(out)
    assert code == 0
    own, ecos, again = content["masters"]
    modes = [master["loops"][0]["modes"][0] for master in (own, ecos, again)]
    assert [mode["exact_growth_1_s"] for mode in modes] == pytest.approx([0.0116797] * 3, abs=1e-6)
    assert modes[0]["growth_1_s"] > 0.0
    assert modes[1]["growth_1_s"] == pytest.approx(-0.0012577, abs=1e-6)
    assert [ring["added_ms"] for ring in ecos["rings"]] == [-8.0, -8.0]
    assert [ring["added_ms"] for ring in again["rings"]] == [-12.0, -12.0]
    assert own["longest_step_ms"] == 1.92
    assert ecos["longest_step_ms"] is None


def test_the_table_and_what_would_help(softdock, epos):
    code, out, _ = softdock("certify", epos, *AXIS)
    text = " ".join(out.split())
    assert code == 0
    assert "longest step" in text
    assert "would help: Softdock, gauss-seidel, delay waveform (its largest error is" in text
    assert "delays of connections are annotations of Softdock" in text


def test_an_archive_gets_the_certificate_and_equal_bytes_each_time(softdock, archive, tmp_path):
    made = []
    for folder in ("one", "two"):
        code, _, _ = softdock(
            *("certify", archive, "--step", "4 ms", "--as", "fmpy", "--output", tmp_path / folder)
        )
        assert code == 0
        made.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert made[0] == made[1]
    assert set(made[0]) == {"certificate.html", "certificate.json", "pair.ssp"}
    with (
        zipfile.ZipFile(tmp_path / "one" / "pair.ssp") as copy,
        zipfile.ZipFile(archive) as zip_file,
    ):
        assert copy.read(REPORT_ENTRY) == made[0]["certificate.json"]
        assert set(zip_file.namelist()) < set(copy.namelist())
        assert copy.read("SystemStructure.ssd") == zip_file.read("SystemStructure.ssd")
        facts = copy.read(SRMD_ENTRY).decode()
    assert 'keyword="fmpy: body, contact: added delay [ms]">6<' in facts


def test_masters_that_agree_share_a_verdict_and_a_row(softdock, archive, tmp_path):
    masters = ("--as", "fmpy,ecos,omsimulator")
    code, out, _ = softdock(
        *("certify", archive, "--step", "4 ms", *masters, "--output", tmp_path / "out")
    )
    assert code == 0
    names = [line.partition(":")[0] for line in out.splitlines()[:2]]
    assert names == ["softdock, omsimulator", "fmpy, ecos"]
    page = (tmp_path / "out" / "certificate.html").read_text()
    rings = page[page.index(">Delays of rings<") :]
    assert rings.count('<th scope="row">fmpy, ecos</th>') == 1
    assert '<th scope="col">ring</th><th scope="col" class="value">declared [ms]</th>' in rings
    report = json.loads((tmp_path / "out" / "certificate.json").read_text())
    names = ["softdock", "fmpy", "ecos", "omsimulator"]
    assert [verdict.partition(":")[0] for verdict in report["verdicts"]] == names


@pytest.mark.slow
def test_the_metadata_keeps_to_the_schemas_of_the_standard(softdock, archive, tmp_path):
    """They are of XML Schema 1.1, and lead to those of SSP 1.0 and XLink by relative places."""
    xmlschema = pytest.importorskip("xmlschema", reason="xmlschema (of pyssp_standard) is missing")
    import pyssp_standard

    common = Path(pyssp_standard.__file__).parent / "resources" / "SystemStructureCommon.xsd"
    (tmp_path / "xlink.xsd").write_text(
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"'
        ' targetNamespace="http://www.w3.org/1999/xlink">'
        + "".join(
            f'<xs:attribute name="{name}" type="xs:string"/>'
            for name in ("type", "href", "label", "title", "role", "arcrole", "from", "to")
        )
        + "</xs:schema>"
    )
    for path in SCHEMAS.glob("*.xsd"):
        text = path.read_text()
        text = text.replace("https://www.w3.org/XML/2008/06/xlink.xsd", "xlink.xsd")
        text = text.replace("ssp-standard/schema/SystemStructureCommon.xsd", common.as_uri())
        (tmp_path / path.name).write_text(text)
    softdock("certify", archive, "--step", "4 ms", "--as", "fmpy", "--output", tmp_path / "made")
    with zipfile.ZipFile(tmp_path / "made" / "pair.ssp") as copy:
        for entry, name in ((SRMD_ENTRY, "SRMD"), (STMD_ENTRY, "STMD")):
            schema = xmlschema.XMLSchema11(tmp_path / f"{name}.xsd")
            assert [str(error) for error in schema.iter_errors(copy.read(entry).decode())] == []
            wrong = copy.read(entry).decode().replace("generationTool", "generatingTool")
            assert not schema.is_valid(wrong)


def test_another_recording_and_another_master_are_refused(softdock, archive, tmp_path):
    recorded = tmp_path / "other.csv"
    recorded.write_text("time,tank.level\n0,1\n1,2\n")
    options = ("certify", archive, "--step", "4 ms")
    code, _, err = softdock(*options, "--as", "fmpy", "--against", recorded)
    assert code == 2
    assert "no column is of a component in a loop of system 'pair'" in " ".join(err.split())
    code, _, err = softdock(*options, "--as", "fmpi")
    assert code == 2
    assert "no master 'fmpi'" in " ".join(err.split())


def test_without_a_step_there_is_nothing_to_certify(softdock, archive):
    code, _, err = softdock("certify", archive)
    assert code == 2
    assert "step" in err
