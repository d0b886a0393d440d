import io
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from lxml import etree

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.system import Connection, Endpoint, System
from orchestrator.pictures.drawing import Facts, draw_system
from orchestrator.pictures.drawing.scene import ShapeGroup, Stroke, Text, width_of

from .conftest import block, component

SVG = "{http://www.w3.org/2000/svg}"


def tree(drawing):
    return etree.fromstring(drawing.svg())


def groups(drawing, role):
    return [g for g in tree(drawing).iter(f"{SVG}g") if g.get("class") == role]


def texts(drawing):
    return [element.text for element in tree(drawing).iter(f"{SVG}text")]


def placed(shapes, at=(0.0, 0.0)):
    """Every shape but groups, with the place of its origin."""
    for shape in shapes:
        if isinstance(shape, ShapeGroup):
            yield from placed(shape.shapes, (at[0] + shape.at[0], at[1] + shape.at[1]))
        else:
            yield shape, at


def text_boxes(drawing):
    for shape, (x, y) in placed(drawing.shapes):
        if isinstance(shape, Text):
            width = width_of(shape.text, shape.size, bold=shape.bold)
            left = x + shape.x - {"start": 0, "middle": width / 2, "end": width}[shape.anchor]
            top = y + shape.y - shape.size / 2
            yield shape.text, left, top, left + width, top + shape.size


def test_everything_is_in_the_drawing_once(arm, arm_facts):
    drawing = draw_system(arm, arm_facts)
    parts = [g.get("data-part") for g in groups(drawing, "part")]
    flat = arm.flat()
    assert sorted(parts) == sorted(flat.components)
    assert sorted(g.get("data-part") for g in groups(drawing, "frame")) == ["elbow", "shoulder"]
    wires = [g.get("data-wire") for g in groups(drawing, "wire")]
    inner = [f"{name}: {line}" for name, s in arm.systems.items() for line in s.connections]
    assert sorted(wires) == sorted([*map(str, arm.connections), *inner])


def test_parts_lie_inside_the_frame_of_their_system(arm):
    drawing = draw_system(arm)
    for frame in groups(drawing, "frame"):
        inside = [g.get("data-part") for g in frame.iter(f"{SVG}g") if g.get("class") == "part"]
        name = frame.get("data-part")
        assert inside == [f"{name}/drive", f"{name}/motor"]
        outline = next(r for r in frame.findall(f"{SVG}rect") if r.get("stroke"))
        pins = [g for g in frame.iter(f"{SVG}g") if g.get("class") == "pin"]
        assert len(pins) == 3
        assert float(outline.get("width")) > 300


def test_closed_systems_are_boxes_with_their_connectors(arm):
    drawing = draw_system(arm, depth=0)
    assert not groups(drawing, "frame")
    shoulder = next(g for g in groups(drawing, "part") if g.get("data-part") == "shoulder")
    shown = [t.text for t in shoulder.iter(f"{SVG}text")]
    assert shown == [
        "shoulder",
        "system: 2 components",
        "command [deg]",
        "load [N.m]",
        "angle [rad]",
    ]


def test_labels_tell_delay_conversion_and_transformation(arm):
    shown = texts(draw_system(arm))
    assert {"16 ms", "8 ms", "2 ms", "1 ms", "deg → rad", "× -1"} <= set(shown)


def test_loops_have_one_colour_each_and_are_listed(arm, arm_facts):
    drawing = draw_system(arm, arm_facts)
    colours = {}
    for halo in groups(drawing, "halo"):
        path = halo.find(f"{SVG}path")
        colours.setdefault(halo.get("data-loop"), set()).add(path.get("stroke"))
    assert all(len(colour) == 1 for colour in colours.values())
    assert len(set.union(*colours.values())) == len(colours) > 3
    listed = [text for text in texts(drawing) if "oop " in text]
    assert len(listed) == len(arm_facts.loops)
    assert "the co-simulation adds 0.5 ms" in listed[0]


def test_an_algebraic_loop_is_called_so():
    from orchestrator.core.coupling import LoopDelay
    from orchestrator.core.system import closed_loops

    gain = replace(component(["u"], ["y"]), feedthrough={"y": ("u",)})
    system = (
        System("ring").add("a", gain).add("b", gain).connect("a.y", "b.u").connect("b.y", "a.u")
    )
    loops = [LoopDelay((loop,), 0, float("nan")) for loop in closed_loops(system)]
    drawing = draw_system(system, Facts(loops))
    assert "Algebraic loop a → b → a: 0 ms declared" in texts(drawing)
    bands = [halo.find(f"{SVG}path").get("stroke-dasharray") for halo in groups(drawing, "halo")]
    assert bands == ["7 3", "7 3"]


def test_steps_are_numbered_and_iterated_ones_marked(arm, arm_facts):
    drawing = draw_system(arm, arm_facts)
    found = {}
    for part in groups(drawing, "part"):
        shown = [t.text for t in part.iter(f"{SVG}text")]
        found[part.get("data-part")] = shown[2]
    steps = {name: str(number) for name, number in arm_facts.steps.items()}
    assert found == steps | {"payload": f"{steps['payload']} ↻"}
    assert any(text.startswith("order of the steps by gauss-seidel") for text in texts(drawing))


def test_no_text_lies_on_another_and_no_line_on_a_text(arm, arm_facts):
    drawing = draw_system(arm, arm_facts)
    boxes = list(text_boxes(drawing))
    for (one, *a), (other, *b) in combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (one, other)
    labels = {line.label for line in _lines(arm)}
    for shape, (x, y) in placed(drawing.shapes):
        if not isinstance(shape, Stroke):
            continue
        for (x0, y0), (x1, y1) in zip(shape.points, shape.points[1:], strict=False):
            for text, left, top, right, bottom in boxes:
                if text in labels:  # they stand on their line, on white
                    continue
                apart = x + max(x0, x1) <= left or x + min(x0, x1) >= right
                apart = apart or y + max(y0, y1) <= top or y + min(y0, y1) >= bottom
                assert apart, text


def _lines(system):
    from orchestrator.pictures.drawing.parts import level_of

    level = level_of(system, Facts())
    yield from level.lines
    for part in level.parts.values():
        yield from part.level.lines if part.level else ()


def test_same_system_same_bytes(arm, arm_facts):
    one, other = draw_system(arm, arm_facts), draw_system(arm, arm_facts)
    assert one.svg() == other.svg()
    assert one.png() == other.png()


def test_png_shows_the_whole_at_150_dots(arm):
    from PIL import Image

    drawing = draw_system(arm)
    image = Image.open(io.BytesIO(drawing.png()))
    wanted = (drawing.width * 150 / 72, drawing.height * 150 / 72)
    assert image.size == pytest.approx(wanted, abs=1)
    colours = {colour for _, colour in image.getcolors(1 << 24)}
    assert {(255, 255, 255), (214, 230, 244), (251, 232, 200)} <= colours  # paper, FMU, block


HOSTILE = "<b>&\"'é漢🙂]]> \x07 --></title><script>alert(1)</script>"


def test_hostile_names_are_drawn_as_they_are(recwarn):
    system = System(HOSTILE, description=HOSTILE)
    name = HOSTILE.replace("/", "")  # which no component may have in its name
    system = system.add(name, block(HOSTILE)).add("y" * 300, block()).add("ünï", block())
    lines = (
        Connection(Endpoint(name, HOSTILE), Endpoint("y" * 300, "in$")),
        Connection(Endpoint("ünï", "y"), Endpoint(name, "u")),
    )
    drawing = draw_system(replace(system, connections=lines))
    assert b"<script>" not in drawing.svg()
    assert [g.get("data-part") for g in groups(drawing, "part")][2] == "ünï"
    assert max(len(text) for text in texts(drawing)) <= 100
    assert drawing.png().startswith(b"\x89PNG")
    assert not recwarn.list


def test_an_empty_system_says_so():
    drawing = draw_system(System("nothing"))
    assert texts(drawing) == ["nothing", "this system is empty"]
    assert drawing.png().startswith(b"\x89PNG")


def test_an_end_that_does_not_exist_is_named(wording):
    system = System("a").add("a", block()).connect("a.y", "b.u")
    with wording.raises(UnknownNameError):
        draw_system(system)


def test_a_large_system_takes_seconds():
    """1000 components in a chain with a line back every tenth: 1 s on one idle core of 2.5 GHz."""
    from time import process_time

    names = [f"c{i}" for i in range(1000)]
    parts = {name: replace(component(["u", "v"], ["y"]), name=name) for name in names}
    lines = [Connection(Endpoint(a, "y"), Endpoint(b, "u")) for a, b in pairwise(names)]
    lines += [
        Connection(Endpoint(names[i + 5], "y"), Endpoint(names[i], "v")) for i in range(0, 990, 10)
    ]
    begin = process_time()
    drawing = draw_system(System("large", parts, tuple(lines)))
    assert drawing.svg().count(b'class="part"') == 1000
    assert process_time() - begin < 20
