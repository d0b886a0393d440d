from dataclasses import replace

import pytest
from lxml import etree

from orchestrator.core.system import (
    Jitter,
    JitterKind,
    LinearTransformation,
    MappingTransformation,
    Source,
    SourceKind,
    TransportDelay,
    Variation,
)
from orchestrator.pictures.drawing import (
    change_lines,
    differences,
    draw_system,
    marked,
    order_notes,
    union_of,
)

from .conftest import component

SVG = "{http://www.w3.org/2000/svg}"


def told(before, after):
    return list(change_lines(differences(before, after)))


def with_line(system, key, **changes):
    lines = tuple(replace(c, **changes) if str(c) == key else c for c in system.connections)
    return replace(system, connections=lines)


def test_equal_systems_do_not_differ(arm):
    turned = replace(
        arm,
        components=dict(reversed(arm.components.items())),
        connections=arm.connections[::-1],
    )
    assert differences(arm, turned) == []
    assert order_notes(arm, arm) == []
    assert "another order" in order_notes(arm, turned)[0]


def test_components_are_added_and_removed_with_what_they_are(arm):
    more = arm.add("brake", component(["u"]), u=0.1)
    assert told(arm, more) == ["+ component brake (source: block:block, value u: 0.1)"]
    assert told(more, arm) == ["- component brake (source: block:block, value u: 0.1)"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda c: c.with_values({"u": 0.1 + 0.2}), "value u: none → 0.30000000000000004"),
        (
            lambda c: replace(c, source=Source(SourceKind.BLOCK, "x")),
            "source: block:block → block:x",
        ),
        (
            lambda c: replace(c, options=c.options.changed({"isolation": "process"})),
            "option isolation: none → process",
        ),
        (
            lambda c: replace(
                c, connectors={**c.connectors, "u": replace(c.connectors["u"], unit="N")}
            ),
            "connector u: input Real → input Real in N",
        ),
        (
            lambda c: c.with_power_port("shaft", "u", "w", positive="in"),
            "power port shaft: none → u × w, positive in",
        ),
    ],
)
def test_what_changed_of_a_component_is_told(arm, change, field):
    before = arm.add("brake", component(["u"], ["w"]))
    after = before.replace(change(before.component("brake")))
    assert told(before, after) == ["~ component brake", f"    {field}"]


JITTERED = (
    "normal jitter of 1 ms, shape 2, correlation 0 ms, 5 % lost, seed 7, reordered, newest sent"
)
JITTER = Variation(Jitter(JitterKind.NORMAL, 1_000_000), loss=0.05, seed=7)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"delay": None}, "delay: 16 ms, assumed → none"),
        (
            {"delay": TransportDelay.of("16 ms", "measured")},
            "delay: 16 ms, assumed → 16 ms, measured",
        ),
        (
            {"delay": TransportDelay(16_000_000, variation=JITTER)},
            f"delay: 16 ms, assumed → 16 ms, assumed, {JITTERED}",
        ),
        (
            {"transformation": LinearTransformation(0.1, 2.0)},
            "transformation: none → × 0.1 + 2.0",
        ),
        (
            {"transformation": MappingTransformation(((0, 1), (1, 0)))},
            "transformation: none → table 0 → 1, 1 → 0",
        ),
        ({"suppress_unit_conversion": True}, "unit conversion: none → suppressed"),
    ],
)
def test_what_changed_of_a_connection_is_told(arm, changes, field):
    key = "planner.command_2 -> elbow.command"
    assert told(arm, with_line(arm, key, **changes)) == [f"~ connection {key}", f"    {field}"]


def test_nested_systems_are_compared_by_path(arm):
    elbow = arm.systems["elbow"].with_delay("drive.torque", "motor.torque", "4 ms")
    elbow = replace(elbow, components={"drive": elbow.components["drive"]}, values={"load": 1.0})
    after = replace(arm, systems={"elbow": elbow})
    lines = told(arm, after)
    assert "- system shoulder" in lines
    assert "- component shoulder/drive (source: block:block)" in lines
    assert "- connection shoulder: load -> motor.load (transformation: × -1)" in lines
    assert "- component elbow/motor (source: M.fmu)" in lines
    assert "+ value elbow.load (1.0)" in lines
    assert "~ connection elbow: drive.torque -> motor.torque" in lines


def test_the_experiment_is_compared(arm):
    after = replace(arm, experiment=replace(arm.experiment, step_ns=1_000_000, algorithm="jacobi"))
    assert told(arm, after) == [
        "~ experiment",
        "    step: none → 1 ms",
        "    algorithm: none → jacobi",
    ]


def test_fmus_are_compared_by_what_is_in_them(tmp_path):
    systems = []
    for folder, content in (("a", b"one"), ("b", b"one"), ("c", b"other")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "M.fmu"
        path.write_bytes(content)
        from orchestrator.core.system import System

        part = component(kind=SourceKind.FMU, location=str(path))
        systems.append(System("s").add("m", part))
    assert differences(systems[0], systems[1]) == []
    (change,) = differences(systems[0], systems[2])
    assert change.fields[0].name == "source"


def test_both_are_drawn_with_marks(arm):
    elbow = arm.systems["elbow"].with_delay("drive.torque", "motor.torque", "4 ms")
    after = replace(arm, systems={**arm.systems, "elbow": elbow}).add("brake", component([], ["y"]))
    lines = tuple(c for c in after.connections if c.target.connector != "angle_2")
    after = replace(after, connections=lines).connect("brake.y", "payload.angle_2")
    changes = differences(arm, after)
    facts = marked(changes)
    assert facts.marks == {
        "brake": "added",
        "brake.y -> payload.angle_2": "added",
        "elbow.angle -> payload.angle_2": "removed",
        "elbow: drive.torque -> motor.torque": "changed",
    }
    drawing = draw_system(union_of(arm, after), facts)
    tree = etree.fromstring(drawing.svg())
    wires = {g.get("data-wire"): g for g in tree.iter(f"{SVG}g") if g.get("class") == "wire"}
    strokes = {key: g.find(f"{SVG}path").get("stroke") for key, g in wires.items()}
    assert strokes["elbow.angle -> payload.angle_2"] == "#B42318"
    assert strokes["brake.y -> payload.angle_2"] == "#16803C"
    assert "2 ms → 4 ms" in [t.text for t in tree.iter(f"{SVG}text")]
    # Both lines to one input end at rows of their own.
    ends = {
        wires[key].find(f"{SVG}polygon").get("points") for key in facts.marks if "angle_2" in key
    }
    assert len(ends) == 2


def test_a_part_of_another_kind_is_one_change(arm):
    after = replace(arm, systems={"elbow": arm.systems["elbow"]}).add("shoulder", component())
    (change,) = [c for c in differences(arm, after) if c.name == "shoulder"]
    assert [(f.before, f.after) for f in change.fields] == [("system", "component")]
    assert "shoulder" not in union_of(arm, after).systems
