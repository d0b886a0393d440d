from dataclasses import replace

import pytest

from orchestrator.core.diagnostics import DescriptionError, PluginError, UnknownNameError
from orchestrator.core.simunits import (
    Block,
    Output,
    block,
    block_names,
    fmu,
    make_unit,
    registry,
    resolve,
)
from orchestrator.core.system import Component, Source, SourceKind, System


class Fragile(Block):
    """Cannot be made."""

    y: float = Output()

    def __init__(self):
        raise OSError("no licence")


@pytest.fixture(autouse=True, scope="module")
def _blocks(sample_blocks, register):
    register(broken=ImportError("no module named 'x'"), fragile=Fragile, number=3)


def test_names():
    assert {"gain", "spring_dashpot", "hybrid_contact", "virtual_damper"} <= set(block_names())


def test_unknown_block_lists_the_names(wording):
    with wording.raises(UnknownNameError):
        block("x")


def test_a_broken_plug_in_says_so_and_stops_no_other(wording):
    with wording.raises(PluginError) as e:
        block("broken")
    assert isinstance(e.value.__cause__, ImportError)
    with wording.raises(PluginError):
        block("number")
    assert block("gain").connectors


def test_a_block_that_cannot_be_made(wording):
    component = replace(block("fragile"), name="rig")
    with wording.raises(PluginError):
        make_unit(component)


def bare(name, kind, location):
    return Component(name, Source(kind, location))


def test_resolve_fills_connectors_and_keeps_values():
    bare_gain = bare("a", SourceKind.BLOCK, "gain").with_values({"k": 2.0})
    system = resolve(System("s", {"a": bare_gain}))
    assert list(system.component("a").connectors) == ["u", "y", "k"]
    assert system.component("a").values == {"k": 2.0}


def test_resolve_tells_all_problems(tmp_path):
    gain = replace(block("gain"), name="c")
    wrong = dict(gain.connectors)
    wrong["other"] = replace(wrong["u"], name="other")
    wrong["u"] = replace(wrong["u"], unit="N", shape=(2,))
    system = System(
        "s",
        {
            "a": bare("a", SourceKind.BLOCK, "nothing"),
            "b": bare("b", SourceKind.FMU, str(tmp_path / "no.fmu")),
            "c": replace(gain, connectors=wrong),
            "d": bare("d", SourceKind.BLOCK, "broken"),
        },
    )
    with pytest.raises(DescriptionError) as caught:
        resolve(system)
    problems = caught.value.problems
    assert [p[:14] for p in problems] == [
        "component 'a':",
        "component 'b':",
        "component 'c' ",
        "component 'c' ",
        "component 'd':",
    ]
    text = str(caught.value)
    assert "declared as input Real (2,) in N, but the source has input Real" in text
    assert "declares connector 'other', but the source has no such" in text


def test_a_component_of_a_missing_fmu(tmp_path, wording):
    with wording.raises(DescriptionError) as caught:
        resolve(System("s", {"b": bare("b", SourceKind.FMU, str(tmp_path / "no.fmu"))}))
    assert len(caught.value.problems) == 1


def test_missing_fmus_are_one_problem(tmp_path, probe):
    gone = {"a": "A.fmu", "b": "B.fmu", "c": "B.fmu"}
    parts = {n: bare(n, SourceKind.FMU, str(tmp_path / f)) for n, f in gone.items()}
    parts |= {"p": fmu(probe), "q": bare("q", SourceKind.BLOCK, "none")}
    (tmp_path.parent / "B.toml").touch()  # its recipe
    with pytest.raises(DescriptionError) as caught:
        resolve(System("s", {n: replace(part, name=n) for n, part in parts.items()}))
    missing, other = caught.value.problems
    listed = f"{tmp_path / 'A.fmu'} ('a'), {tmp_path / 'B.fmu'} ('b', 'c')"
    assert missing.startswith(f"3 components need FMUs that do not exist: {listed}; build them")
    assert f"`softdock build {tmp_path.parent / 'B.toml'}`" in missing
    assert other.startswith("component 'q'")


def test_fmu_component(probe):
    component = fmu(probe)
    assert component.source == Source(SourceKind.FMU, str(probe))
    assert component.connectors["u"].unit == "N"
    assert component.direct_inputs("g") == ("u",)
    assert component.direct_inputs("y") == ()


def test_the_class_of_a_block_is_looked_for_once_in_all_nested_systems(monkeypatch):
    asked = []

    def class_of(source):
        asked.append(str(source))
        return found(source)

    found = registry.class_of
    monkeypatch.setattr(registry, "class_of", class_of)
    part = Component("part", Source(SourceKind.BLOCK, "gain"))
    inner = System("inner", {"part": part, "other": replace(part, name="other")})
    top = System("top", {"part": part}, systems={"inner": inner})
    resolved = resolve(top)
    assert asked == ["block:gain"]
    assert resolved.systems["inner"].components["other"].connectors["u"]
    resolve(top)
    assert asked == ["block:gain"] * 2  # the next call looks again: a file may have changed
