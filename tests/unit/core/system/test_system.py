import pickle
from dataclasses import replace

import networkx as nx
import pytest

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.simunits import block
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    DefaultExperiment,
    Endpoint,
    LinearTransformation,
    Provenance,
    Source,
    SourceKind,
    System,
    TransportDelay,
    closed_loops,
)

pytestmark = pytest.mark.usefixtures("sample_blocks")


@pytest.fixture
def ring():
    return (
        System("ring", experiment=DefaultExperiment(step_ns=10**6), description="two blocks")
        .add("plant", block("integrator"), y0=1.0)
        .add("control", block("gain"), k=-2.0)
        .connect("plant.y", "control.u", delay=TransportDelay.of("16 ms", "measured"))
        .connect("control.y", "plant.u", factor=2.0, offset=1.0)
    )


def test_methods_return_new_systems(ring):
    before = pickle.dumps((ring.components, ring.connections))
    ring.add("more", block("gain"))
    ring.connect("control.y", "plant.u")
    ring.set("plant.y0", 5.0)
    ring.replace(replace(ring.component("plant"), values={}))
    ring.with_delay("plant.y", "control.u", None)
    assert pickle.dumps((ring.components, ring.connections)) == before


def test_fields_cannot_be_assigned(ring):
    with pytest.raises(AttributeError, match="immutable"):
        ring.name = "other"
    with pytest.raises(AttributeError, match="immutable"):
        ring.components["plant"].name = "other"
    with pytest.raises(AttributeError, match="immutable"):
        ring.connections[0].delay = None


def test_graph_comes_back(ring):
    again = System.from_graph(ring.graph)
    assert again.components == ring.components
    assert set(again.connections) == set(ring.connections)
    assert (again.name, again.description, again.experiment) == (
        ring.name,
        ring.description,
        ring.experiment,
    )


def test_graph_says_delays_and_is_frozen(ring):
    assert nx.is_frozen(ring.graph)
    assert ring.graph["plant"]["control"][0]["delay"] == 0.016
    assert ring.graph["control"]["plant"][0]["delay"] == 0.0


def test_relabelled_graph(ring):
    again = System.from_graph(nx.relabel_nodes(ring.graph, {"plant": "chaser"}))
    assert list(again.components) == ["chaser", "control"]
    assert {str(c) for c in again.connections} == {
        "chaser.y -> control.u",
        "control.y -> chaser.u",
    }
    again.check()


def test_graph_without_the_attributes(ring, wording):
    graph = nx.MultiDiGraph(ring.graph)
    graph.add_node("stray")
    with wording.raises(DescriptionError):
        System.from_graph(graph)
    graph = nx.MultiDiGraph(ring.graph)
    graph.add_edge("plant", "plant")
    with wording.raises(DescriptionError):
        System.from_graph(graph)


def test_add_twice(ring, wording):
    with wording.raises(DescriptionError):
        ring.add("plant", block("gain"))


def test_set(ring):
    assert ring.set("plant.y0", 3).component("plant").values["y0"] == 3
    assert ring.set("plant.u", 0.5).component("plant").values == {"y0": 1.0, "u": 0.5}


@pytest.mark.parametrize("value", ["text", True, (1.0,), None])
def test_set_to_a_wrong_value(ring, value, wording):
    with wording.raises(DescriptionError):
        ring.set("plant.y0", value)


def test_set_of_unknown_names(ring, wording):
    with wording.raises(UnknownNameError):
        ring.set("x.y", 1.0)
    with wording.raises(UnknownNameError):
        ring.set("plant.x", 1.0)
    with wording.raises(DescriptionError):
        ring.set("plant", 1.0)
    with wording.raises(DescriptionError):
        ring.connect(3, "plant.u")


def test_a_value_inside_a_nested_system_is_set_through_a_connector_of_it(ring, wording):
    outer = System("outer").add("inner", ring)
    with wording.raises(DescriptionError):
        outer.set("inner.plant.y0", 1.0)


def test_replace_needs_the_name(ring, wording):
    with wording.raises(UnknownNameError):
        ring.replace(replace(block("gain"), name="other"))


def test_with_delay(ring, wording):
    def delays(system):
        return [c.delay for c in system.connections]

    kept = ring.connections[1].delay
    assert delays(ring.with_delay("plant.y", "control.u", None)) == [None, kept]
    assert delays(ring.with_delay("plant.y", "control.u", "1 ms")) == [
        TransportDelay(10**6, Provenance.ASSUMED),
        kept,
    ]
    measured = TransportDelay(5, Provenance.MEASURED)
    assert delays(ring.with_delay("plant.y", "control.u", measured)) == [measured, kept]
    with wording.raises(UnknownNameError):
        ring.with_delay("plant.y", "plant.u", "1 ms")


def test_connect(ring, wording):
    assert ring.connections[0].delay == TransportDelay(16_000_000, Provenance.MEASURED)
    assert ring.connections[0].transformation is None
    assert ring.connections[1].transformation == LinearTransformation(2.0, 1.0)
    with wording.raises(DescriptionError):
        ring.connect("plant.y", "control.u", delay="-1 ms")
    with wording.raises(DescriptionError):
        ring.connect("plant.y", "control.u", delay="soon")


def test_endpoint_connectors_may_hold_dots():
    assert Endpoint.parse("plant.frame.r[1]") == Endpoint("plant", "frame.r[1]")


@pytest.mark.parametrize("name", ["", "a.b"])
def test_component_names(name, wording):
    with wording.raises(DescriptionError):
        Component(name, Source(SourceKind.BLOCK, "gain"))


def test_sources(tmp_path, wording):
    assert Source.parse("block:gain") == Source(SourceKind.BLOCK, "gain")
    relative = Source.parse("fmus/a.fmu")
    assert relative.resolved(tmp_path) == Source(SourceKind.FMU, str(tmp_path / "fmus/a.fmu"))
    assert Source.parse("block:gain").resolved(tmp_path) == Source(SourceKind.BLOCK, "gain")
    assert [str(Source.parse(text)) for text in ("block:x", "a.fmu")] == ["block:x", "a.fmu"]
    for text in ("block:", "gain", "a.zip"):
        with wording.raises(DescriptionError):
            Source.parse(text)


def test_accepts():
    real = Connector("a", Causality.PARAMETER)
    assert [real.accepts(v) for v in (1, 1.5, True, "1", None)] == [True, True, False, False, False]
    integer = replace(real, type=DataType.INTEGER)
    assert [integer.accepts(v) for v in (1, 1.5, True)] == [True, False, False]
    array = replace(real, shape=(2, 2))
    assert array.accepts((1, 2.0, 3, 4))
    assert not array.accepts((1.0, 2.0))
    assert not array.accepts((1.0, 2.0, 3.0, "x"))
    assert not array.accepts([1.0, 2.0, 3.0, 4.0])


def test_closed_loops(ring):
    (loop,) = closed_loops(ring)
    assert loop.components == ("control", "plant")
    assert loop.physical_ns == 16_000_000
    assert loop.feedthrough == (False, True)  # into the integrator no, into the gain yes
    assert str(loop) == "control.y -> plant.y -> control"


def test_loops_that_share_a_component(ring):
    two = (
        ring.add("second", block("lag"))
        .add("sum", block("sum"))
        .replace(ring.component("plant"))
        .connect("plant.y", "second.u")
        .connect("control.y", "sum.u1")
        .connect("second.y", "sum.u2")
    )
    two = replace(
        two, connections=tuple(c for c in two.connections if c.target.component != "plant")
    )
    two = two.connect("sum.y", "plant.u")
    assert {frozenset(loop.components) for loop in closed_loops(two)} == {
        frozenset({"plant", "control", "sum"}),
        frozenset({"plant", "second", "sum"}),
    }
    assert closed_loops(System("open").add("a", block("gain"))) == []


def test_another_back_end_runs_a_component_of_a_nested_system_in_its_place():
    motor = Component("motor", Source(SourceKind.FMU, "motor.fmu"))
    system = System("rig").add("arm", System("arm").add("motor", motor))
    changed = system.with_backend("fmpy", "arm/motor")
    assert changed.component("arm/motor").backend == "fmpy"
    assert not changed.components
