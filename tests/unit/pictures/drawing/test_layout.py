import random
from itertools import combinations, pairwise, permutations

import pytest

from orchestrator.core.system import Component, Source, SourceKind, System
from orchestrator.pictures.drawing import folding
from orchestrator.pictures.drawing.columns import LayoutBox, Wire
from orchestrator.pictures.drawing.facts import Facts
from orchestrator.pictures.drawing.layout import (
    assign_layers,
    columns_of,
    forward_order,
    lay_out,
    lay_out_islands,
)
from orchestrator.pictures.drawing.parts import level_of
from orchestrator.pictures.drawing.picture import box_of

BLOCK = Component("b", Source(SourceKind.BLOCK, "b"))


def laid(system):
    level = level_of(system, Facts())
    boxes = {name: box_of(name, part) for name, part in level.parts.items()}
    wires = [
        Wire((c.source.component, c.source.connector), (c.target.component, c.target.connector), 30)
        for c in system.connections
    ]
    return boxes, wires, lay_out_islands(boxes, wires)


def chain(count):
    system = System("chain")
    for i in range(count):
        system = system.add(f"s{i}", BLOCK)
    for a, b in pairwise(range(count)):
        system = system.connect(f"s{a}.y", f"s{b}.u", delay="4 ms" if a % 2 else None)
    return system


def ring(count):
    system = chain(count).connect(f"s{count - 1}.y", "s0.u").connect("s0.y", f"s{count - 1}.w")
    return system.connect("s0.self", "s0.loop")


def swapped():
    system = System("swap").add("a", BLOCK).add("b", BLOCK)
    return system.connect("a.y", "b.v").connect("a.z", "b.u").connect("b.y", "a.u")


def drawn_at_random(seed):
    chance = random.Random(seed)  # noqa: S311 - a drawing is no secret
    count = chance.randint(1, 8)
    system = System("random")
    for i in range(count):
        system = system.add(f"c{i}", BLOCK)
    fed = set()
    for _ in range(chance.randint(1, 2 * count + 1)):
        target = f"c{chance.randrange(count)}.u{chance.randrange(3)}"
        if target not in fed:
            fed.add(target)
            system = system.connect(f"c{chance.randrange(count)}.y{chance.randrange(2)}", target)
    return system


SYSTEMS = [
    *(make(count) for make in (chain, ring) for count in (2, 3, 4, 6)),
    swapped(),
    *map(drawn_at_random, range(120)),
]


@pytest.fixture(params=["wide", "folded"])
def rows(request, monkeypatch):
    """Let diagrams be folded that are wider than two boxes."""
    if request.param == "folded":
        monkeypatch.setattr(folding, "WIDEST", 250.0)
        monkeypatch.setattr(folding, "_ROW_WIDTH", 120.0)
    return request.param


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("system", SYSTEMS, ids=range(len(SYSTEMS)))
def test_lines_keep_off_boxes_and_off_each_other(system):
    boxes, wires, layout = laid(system)
    frames = [
        (x, y, x + boxes[name].width, y + boxes[name].height)
        for name, (x, y) in layout.corners.items()
    ]
    for a, b in combinations(frames, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    pieces = [
        (wires[number].source, start, end)
        for number, way in enumerate(layout.ways)
        for start, end in pairwise(way)
    ]
    for _, (x0, y0), (x1, y1) in pieces:
        assert x0 == x1 or y0 == y1
        assert 0 <= min(x0, x1) <= max(x0, x1) <= layout.width
        assert 0 <= min(y0, y1) <= max(y0, y1) <= layout.height
        for left, top, right, bottom in frames:
            apart = max(x0, x1) <= left or min(x0, x1) >= right
            assert apart or max(y0, y1) <= top or min(y0, y1) >= bottom
    for (one, a0, a1), (other, b0, b1) in combinations(pieces, 2):
        for axis in (0, 1):
            if one != other and a0[axis] == a1[axis] == b0[axis] == b1[axis]:
                first, second = (
                    sorted((p[1 - axis], q[1 - axis])) for p, q in ((a0, a1), (b0, b1))
                )
                assert first[1] <= second[0] or second[1] <= first[0]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("system", SYSTEMS[:40], ids=range(40))
def test_wires_join_their_ports(system):
    boxes, wires, layout = laid(system)
    for wire, way in zip(wires, layout.ways, strict=True):
        (x, y), source = layout.corners[wire.source[0]], boxes[wire.source[0]]
        assert way[0] == (x + source.width, y + source.outputs[wire.source[1]])
        (x, y), target = layout.corners[wire.target[0]], boxes[wire.target[0]]
        assert way[-1] == (x, y + target.inputs[wire.target[1]])


def test_a_chain_is_drawn_straight():
    _, _, layout = laid(chain(6))
    assert {y for _, y in layout.corners.values()} == {0.0}
    assert all(len(way) == 2 for way in layout.ways)


def test_a_long_chain_is_folded_into_rows_that_a_page_shows():
    boxes, wires, layout = laid(chain(200))
    tops = sorted({y for _, y in layout.corners.values()})
    assert len(tops) > 10
    assert layout.width < 1800.0
    assert layout.height < 60.0 * len(tops) * 3
    order = sorted(layout.corners, key=lambda name: layout.corners[name][::-1])
    assert order == list(boxes)  # read as a text is
    for way, wire in zip(layout.ways, wires, strict=True):
        same = layout.corners[wire.source[0]][1] == layout.corners[wire.target[0]][1]
        assert len(way) == (2 if same else 6)


def test_lines_back_through_folded_rows_pass_the_margins(monkeypatch):
    monkeypatch.setattr(folding, "WIDEST", 250.0)
    monkeypatch.setattr(folding, "_ROW_WIDTH", 120.0)
    _, _, layout = laid(ring(6))
    assert len({y for _, y in layout.corners.values()}) > 2
    back = layout.ways[-3]  # from the last box to the first
    assert back[0][1] > back[-1][1]
    assert {point[0] for point in back} & {max(x for way in layout.ways for x, _ in way)}


def test_two_lines_back_do_not_cross():
    """From the lower port further out, to the lower box: the outer line encloses the inner one."""
    names = ("first", "second", "third")
    system = System("back")
    for name in names:
        system = system.add(name, BLOCK)
    system = system.connect("first.y", "third.u").connect("second.y", "third.v")
    system = system.connect("third.y", "first.u").connect("third.z", "second.u")
    _, _, layout = laid(system)
    segments = [[*pairwise(way)] for way in layout.ways[2:]]
    assert not [(a, b) for a in segments[0] for b in segments[1] if crosses(a, b) or crosses(b, a)]


def crosses(flat, upright):
    (x0, y), (x1, y1) = flat
    (x, y2), (x2, y3) = upright
    return y == y1 and x == x2 and min(x0, x1) < x < max(x0, x1) and min(y2, y3) < y < max(y2, y3)


def test_one_output_is_one_tree_with_dots():
    system = System("fan").add("s", BLOCK)
    for i in range(3):
        system = system.add(f"t{i}", BLOCK).connect("s.y", f"t{i}.u")
    _, _, layout = laid(system)
    assert len({way[1][0] for way in layout.ways if len(way) > 2}) == 1
    assert {source for _, source in layout.dots} == {("s", "y")}
    assert len(layout.dots) == 1  # the lowest and the highest line turn, the middle one goes on


def test_fewest_connections_lead_back_whatever_the_order():
    weights = {("a", "b"): 2, ("b", "c"): 1, ("c", "a"): 1, ("a", "c"): 2}
    for names in permutations("abc"):
        assert forward_order(names, weights) == ["a", "b", "c"]
        assert assign_layers(names, weights) == {"a": 0, "b": 1, "c": 2}


def test_a_source_stands_next_to_what_it_feeds():
    weights = {("a", "b"): 1, ("b", "c"): 1, ("s", "c"): 1}
    assert assign_layers(["s", "a", "b", "c"], weights)["s"] == 1


def test_pins_stand_alone_on_the_borders():
    inner = LayoutBox("b", 96, 56, {"u": 40}, {"y": 40})
    boxes = {
        "b": inner,
        "in": LayoutBox("in", 20, 16, {}, {"x": 8}, "left"),
        "out": LayoutBox("out", 20, 16, {"z": 8}, {}, "right"),
    }
    wires = [Wire(("in", "x"), ("b", "u")), Wire(("b", "y"), ("out", "z"))]
    assert columns_of(boxes, wires) == {"in": 0, "b": 1, "out": 2}
    layout = lay_out(boxes, wires, 500.0)
    assert layout.width == 500.0
    assert layout.corners["in"][0] == 0.0
    assert layout.corners["out"][0] + 20 == 500.0


def test_islands_are_packed_side_by_side():
    system = System("islands")
    for i in range(12):
        system = system.add(f"a{i}", BLOCK).add(f"b{i}", BLOCK).connect(f"a{i}.y", f"b{i}.u")
    _, _, layout = laid(system)
    assert len({x for x, _ in layout.corners.values()}) >= 4  # two columns of pairs or more
    assert 0.5 < layout.width / layout.height < 4
