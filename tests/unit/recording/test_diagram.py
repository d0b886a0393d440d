import random
from itertools import combinations, pairwise, permutations

import pytest
from matplotlib.patches import Polygon
from orchestrator.recording.boxes import make_boxes
from orchestrator.recording.diagram import _width
from orchestrator.recording.layers import assign_layers, forward_order
from orchestrator.recording.layout import lay_out

from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.recording import draw_system, picture
from orchestrator.system import Causality, Component, Connector, Source, SourceKind, System


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def gids(figure, kind):
    found = [patch.get_gid() or "" for patch in figure.axes[0].patches]
    return [gid.removeprefix(f"{kind}: ") for gid in found if gid.startswith(kind)]


def arrow_heads(figure):
    return [p for p in figure.axes[0].patches if type(p) is Polygon]


@pytest.mark.parametrize("name", ["capture", "hybrid"])
def test_everything_is_in_the_drawing(request, name):
    system = request.getfixturevalue(name)
    figure = draw_system(system)
    assert set(system.components) <= set(texts(figure))
    assert gids(figure, "component") == list(system.components)
    assert sorted(gids(figure, "connection")) == sorted(map(str, system.connections))
    assert len(arrow_heads(figure)) == len(system.connections)
    assert texts(figure).count("16 ms") == str(system.connections).count("nominal_ns=16000000")


def test_ports_say_unit_or_held_value_and_sources_their_kind(capture):
    shown = texts(draw_system(capture))
    assert {"position_a [m]", "force_a [N]", "position_b = 0 m", "thrust = 10"} <= set(shown)
    assert {"FMU: Body.fmu", "Python block: sheet"} <= set(shown)


def test_transformations_and_delays_share_a_label(hybrid):
    assert "2.5 ms, × -1" in texts(draw_system(hybrid))


def test_delayed_connections_are_dashed(capture):
    styles = {
        patch.get_gid(): patch.get_linestyle()
        for patch in draw_system(capture).axes[0].patches
        if (patch.get_gid() or "").startswith("connection")
    }
    assert styles["connection: chaser.velocity -> sheet.velocity_a"] in {"-", "solid"}
    assert styles["connection: chaser.position -> sheet.position_a"] not in {"-", "solid"}


def test_loops_are_written_below(capture, loops_and_plans):
    shown = texts(draw_system(capture, loops_and_plans[0]))
    assert any(text.startswith("Loop chaser → sheet → chaser: 16 ms declared") for text in shown)


def test_same_system_same_picture(capture):
    assert picture(draw_system(capture), "svg") == picture(draw_system(capture), "svg")


def test_hostile_names_are_drawn_as_they_are():
    block = Component("x", Source(SourceKind.BLOCK, "$\\frac$\n<b>"))
    system = System("$\\bad$").add("<script>$x$", block).add("y" * 200, block)
    system = system.connect("<script>$x$.$out", f"{'y' * 200}.in$", delay="1 ms")
    assert b"<script>" not in picture(draw_system(system), "svg")


def test_wrong_systems_are_refused():
    with pytest.raises(DescriptionError, match="nothing to draw"):
        draw_system(System("empty"))
    with pytest.raises(UnknownNameError, match="no component 'b'"):
        draw_system(
            System("a")
            .add("a", Component("a", Source(SourceKind.BLOCK, "x")))
            .connect("a.y", "b.u")
        )


def test_fewest_connections_lead_back_whatever_the_order():
    weights = {("a", "b"): 2, ("b", "c"): 1, ("c", "a"): 1, ("a", "c"): 2}
    for names in permutations("abc"):
        assert forward_order(names, weights) == ["a", "b", "c"]
        assert assign_layers(names, weights) == {"a": 0, "b": 1, "c": 2}


def test_a_source_stands_next_to_what_it_feeds():
    weights = {("a", "b"): 1, ("b", "c"): 1, ("s", "c"): 1}
    assert assign_layers(["s", "a", "b", "c"], weights)["s"] == 1


def chain(count):
    system = System("chain")
    for i in range(count):
        system = system.add(f"s{i}", Component("s", Source(SourceKind.BLOCK, "filter")))
    for a, b in pairwise(range(count)):
        system = system.connect(f"s{a}.y", f"s{b}.u", delay="4 ms" if a % 2 else None)
    return system


def ring(count):
    system = chain(count).connect(f"s{count - 1}.y", "s0.u").connect("s0.y", f"s{count - 1}.w")
    return system.connect("s0.self", "s0.loop")


def segments(layout):
    """Straight pieces of all lines with the number of their net's source point."""
    for number, line in enumerate(layout.lines):
        for start, end in pairwise(line.points):
            yield number, start, end


@pytest.mark.parametrize("count", [2, 3, 4, 6])
@pytest.mark.parametrize("make", [chain, ring])
def test_layout_keeps_lines_off_boxes_and_off_each_other(make, count):
    check_layout(make(count))


@pytest.mark.parametrize("name", ["capture", "hybrid"])
def test_layout_of_real_systems(request, name):
    check_layout(request.getfixturevalue(name))


@pytest.mark.parametrize("seed", [*range(60), 85, 171, 192, 237])  # the last lay on each other once
def test_layout_of_random_systems(seed):
    chance = random.Random(seed)  # noqa: S311 - a drawing is no secret
    count = chance.randint(1, 7)
    system = System("random")
    for i in range(count):
        system = system.add(f"c{i}", Component("c", Source(SourceKind.BLOCK, "b")))
    fed = set()
    for _ in range(chance.randint(1, 2 * count + 1)):
        target = f"c{chance.randrange(count)}.u{chance.randrange(3)}"
        if target not in fed:
            fed.add(target)
            source = f"c{chance.randrange(count)}.y{chance.randrange(2)}"
            system = system.connect(source, target, delay=chance.choice([None, "4 ms"]))
    check_layout(system)


def test_swapped_ports_do_not_lie_on_each_other():
    ends = {
        name: Connector(name, Causality.INPUT if name in "uv" else Causality.OUTPUT)
        for name in ("u", "v", "y", "z")
    }
    block = Component("a", Source(SourceKind.BLOCK, "b"), ends)
    system = System("swap").add("a", block).add("b", block)
    check_layout(system.connect("a.y", "b.v").connect("a.z", "b.u"))


def check_layout(system):
    boxes = make_boxes(system, _width)
    layout = lay_out(boxes, system.connections, [30.0] * len(system.connections))
    frames = [
        (x, y, x + boxes[name].width, y + boxes[name].height)
        for name, (x, y) in layout.corners.items()
    ]
    for a, b in combinations(frames, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    pieces = list(segments(layout))
    for number, (x0, y0), (x1, y1) in pieces:
        assert x0 == x1 or y0 == y1
        for left, top, right, bottom in frames:
            apart = max(x0, x1) <= left or min(x0, x1) >= right
            assert apart or max(y0, y1) <= top or min(y0, y1) >= bottom, system.connections[number]
    for (i, a0, a1), (j, b0, b1) in combinations(pieces, 2):
        if system.connections[i].source == system.connections[j].source:
            continue
        for axis in (0, 1):
            if a0[axis] == a1[axis] == b0[axis] == b1[axis]:
                across = 1 - axis
                first, second = sorted((a0[across], a1[across])), sorted((b0[across], b1[across]))
                assert first[1] <= second[0] or second[1] <= first[0]


def test_a_chain_is_drawn_straight():
    boxes = make_boxes(chain(6), _width)
    layout = lay_out(boxes, chain(6).connections, [0.0] * 5)
    assert {y for _, y in layout.corners.values()} == {0.0}
    assert all(len(line.points) == 2 for line in layout.lines)
