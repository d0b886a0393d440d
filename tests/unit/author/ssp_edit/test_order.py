"""Elements that come new into one place stand in the order of the schema."""

from dataclasses import replace

from lxml import etree

from orchestrator.author.ssp_edit.document import Document
from orchestrator.core.ssp import write_ssd
from orchestrator.core.ssp.common.schema import Schema, violations
from orchestrator.core.system import (
    Causality,
    Component,
    ComponentOptions,
    Connector,
    DataType,
    Source,
    SourceKind,
    System,
)


def test_options_and_values_of_a_component_at_once(tmp_path):
    bare = Component("a", Source(SourceKind.FMU, str(tmp_path / "a.fmu")))
    plain = System("s", {"a": bare})
    gain = Connector("k", Causality.PARAMETER)
    options = ComponentOptions(isolation="process")
    full = replace(bare, connectors={"k": gain}, values={"k": 2.0}, options=options)
    wanted = replace(plain, components={"a": full})
    write_ssd(plain, tmp_path / "SystemStructure.ssd", "2.0")
    document = Document.open(tmp_path / "SystemStructure.ssd")
    document.update(wanted)
    root = etree.fromstring(document.content)
    assert violations(root, Schema.DESCRIPTION, "2.0") == []
    assert document.system.components["a"].values == {"k": 2.0}
    assert document.system.components["a"].options.isolation == "process"


def test_groups_and_types_among_metadata_and_dimensions(tmp_path):
    path = tmp_path / "SystemStructure.ssd"
    source = Source(SourceKind.FMU, str(tmp_path / "a.fmu"))
    vector = Connector("u", Causality.INPUT, DataType.REAL, shape=(2,))
    plain = System("s", {"a": Component("a", source, {"u": vector})})
    write_ssd(plain, path, "2.0")
    said = '<ssc:MetaData kind="general" type="text/plain" source="a.txt"/>'
    path.write_text(path.read_text().replace("<ssd:Elements>", f"{said}<ssd:Elements>"))
    document = Document.open(path)
    counts = Connector("u", Causality.INPUT, DataType.INTEGER, shape=(2,))
    wanted = replace(
        plain,
        components={"a": Component("a", source, {"u": counts})},
        connectors={"v": replace(counts, name="v")},
    ).connect("v", "a.u")
    document.update(wanted)
    root = etree.fromstring(document.content)
    assert violations(root, Schema.DESCRIPTION, "2.0") == []
    assert said in document.content.decode()
    assert document.system.components["a"].connectors == {"u": counts}


def test_a_number_of_another_type_stands_on_the_line_of_the_one_before(tmp_path):
    source = Source(SourceKind.FMU, str(tmp_path / "a.fmu"))
    count = Connector("n", Causality.PARAMETER, DataType.INTEGER)
    system = System("s", {"a": Component("a", source, {"n": count}, values={"n": 7})})
    write_ssd(system, tmp_path / "SystemStructure.ssd", "2.0")
    document = Document.open(tmp_path / "SystemStructure.ssd")
    before = document.content
    document.update(system.set("a.n", 2**40))
    assert document.content.count(b"\n") == before.count(b"\n")
    document.update(system)
    assert document.content == before
