"""Which value a parameter gets: by name, level and order, through mappings, in which unit."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp import apply_parameter_set, diagnose, read_ssd
from orchestrator.core.system import System

from .conftest import refusal

PART = (
    '<ssd:Component name="{name}" type="application/x-softdock-block" source="block:plant">'
    '<ssd:Connectors><ssd:Connector name="k" kind="parameter"><ssc:Real unit="N/m"/>'
    '</ssd:Connector><ssd:Connector name="n" kind="parameter"><ssc:Integer/></ssd:Connector>'
    '<ssd:Connector name="on" kind="parameter"><ssc:Boolean/></ssd:Connector>'
    '<ssd:Connector name="gear" kind="parameter"><ssc:Enumeration name="Gear"/></ssd:Connector>'
    "</ssd:Connectors>{bindings}</ssd:Component>"
)
GEARS = (
    '<ssd:Enumerations><ssc:Enumeration name="Gear"><ssc:Item name="low" value="1"/>'
    '<ssc:Item name="high" value="7"/></ssc:Enumeration></ssd:Enumerations>'
)


def bound(*bindings: str) -> str:
    return f"<ssd:ParameterBindings>{''.join(bindings)}</ssd:ParameterBindings>"


def nested(inside: str, bindings: str = "") -> str:
    return f'<ssd:System name="B">{bindings}<ssd:Elements>{inside}</ssd:Elements></ssd:System>'


def mapping(*entries: str) -> str:
    return (
        '<ssd:ParameterMapping><ssm:ParameterMapping version="1.0">'
        f"{''.join(entries)}</ssm:ParameterMapping></ssd:ParameterMapping>"
    )


def entry(source: str, target: str, change: str = "", attributes: str = "") -> str:
    return (
        f'<ssm:MappingEntry source="{source}" target="{target}" {attributes}>{change}'
        "</ssm:MappingEntry>"
    )


def with_mapping(ssd: Any, values: str, *entries: str, attributes: str = "") -> str:
    text: str = ssd.binding(values, attributes)
    return text.replace("</ssd:ParameterBinding>", mapping(*entries) + "</ssd:ParameterBinding>")


def values_of(system: System, path: str) -> dict[str, object]:
    return dict(system.component(path).values)


def test_higher_levels_win_and_later_ones_of_a_level(ssd: Any) -> None:
    def real(name: str, value: float) -> str:
        return ssd.binding(ssd.real(name, value))

    def k(*, top: tuple[str, ...] = (), middle: tuple[str, ...] = ()) -> object:
        own = bound(real("k", 1.0), real("k", 2.0))
        part = PART.format(name="C", bindings=own)
        system = nested(part, bound(*middle) if middle else "")
        path = ssd(elements=system, bindings="".join(top), after=GEARS)
        return read_ssd(path).systems["B"].components["C"].values["k"]

    assert k() == 2.0
    assert k(middle=(real("C.k", 3.0),)) == 3.0
    assert k(middle=(real("C.k", 3.0),), top=(real("B.C.k", 4.0),)) == 4.0
    assert k(top=(real("B.C.k", 4.0), real("B.C.k", 5.0))) == 5.0


def test_a_name_with_two_meanings_sets_both(ssd: Any) -> None:
    inside = nested(PART.format(name="C", bindings=""))
    dotted = PART.format(name="B.C", bindings="")
    values = ssd.binding(ssd.real("B.C.k", 6.0))
    system = read_ssd(ssd(elements=inside + dotted, bindings=values, after=GEARS))
    assert values_of(system, "B%2EC") == {"k": 6.0}
    assert dict(system.systems["B"].components["C"].values) == {"k": 6.0}


def test_connectors_of_a_system_take_values_by_their_plain_names(ssd: Any) -> None:
    own = '<ssd:Connectors><ssd:Connector name="u" kind="input"><ssc:Real unit="mm"/>'
    values = ssd.binding(ssd.real("u", 2.0, "m").replace("unit", "unit"))
    path = ssd(first=f"{own}</ssd:Connector></ssd:Connectors>", bindings=values)
    assert read_ssd(path).values == {"u": 2000.0}


def test_the_prefix_goes_before_names_and_before_the_mapping(ssd: Any) -> None:
    values = ssd.real("k", 1.0) + ssd.real("l", 2.0)
    plain = ssd(bindings=ssd.binding(values, 'prefix="a."'))
    assert values_of(read_ssd(plain), "a") == {"k": 1.0}
    moved = with_mapping(ssd, values, entry("q.l", "a.k"), attributes='prefix="q."')
    assert values_of(read_ssd(ssd(bindings=moved)), "a") == {"k": 2.0}


def test_a_mapping_applies_only_what_it_names(ssd: Any) -> None:
    values = ssd.real("a.k", 1.0) + ssd.real("stiff", 2.0)
    some = with_mapping(ssd, values, entry("stiff", "b.k"), entry("none", "a.k"))
    part = PART.format(name="b", bindings="")
    path = ssd(elements=part, bindings=some, after=GEARS)
    system = read_ssd(path)
    assert values_of(system, "a") == {}
    assert values_of(system, "b") == {"k": 2.0}
    assert "the parameter set has no parameter 'none'" in str(diagnose(path)[1])


def test_units_come_before_the_transformation(ssd: Any) -> None:
    values = ssd.real("s", 2.0, "kN/m")
    half = '<ssc:LinearTransformation factor="0.5" offset="1"/>'

    def k(attributes: str = "") -> object:
        binding = with_mapping(ssd, values, entry("s", "a.k", half, attributes))
        return values_of(read_ssd(ssd(bindings=binding)), "a")["k"]

    assert k() == 1001.0
    assert k('suppressUnitConversion="true"') == 2.0


@pytest.mark.parametrize(
    ("value", "change", "target", "expected"),
    [
        ('ssv:Boolean value="true"', "Boolean true false", "on", False),
        ('ssv:Boolean value="false"', "Boolean true false", "on", False),  # not in it: unchanged
        ('ssv:Integer value="3"', "Integer 3 30", "n", 30),
        ('ssv:Integer value="4"', "Integer 3 30", "n", 4),
        ('ssv:Enumeration value="slow"', "Enumeration slow low", "gear", 1),
        ('ssv:Enumeration value="high"', "Enumeration slow low", "gear", 7),
    ],
)
def test_tables(ssd: Any, value: str, change: str, target: str, expected: object) -> None:
    kind, source, mapped_to = change.split()
    table = (
        f'<ssc:{kind}MappingTransformation><ssc:MapEntry source="{source}" target="{mapped_to}"/>'
        f"</ssc:{kind}MappingTransformation>"
    )
    given = f'<ssv:Parameter name="p"><{value}/></ssv:Parameter>'
    binding = with_mapping(ssd, given, entry("p", f"b.{target}", table))
    part = PART.format(name="b", bindings="")
    system = read_ssd(ssd(elements=part, bindings=binding, after=GEARS))
    assert values_of(system, "b") == {target: expected}


def test_wrong_mappings_are_refused(ssd: Any) -> None:
    values = ssd.real("s", 2.0) + ssd.real("t", 2.0)
    twice = with_mapping(ssd, values, entry("s", "a.k"), entry("t", "a.k"))
    assert "'a.k' is mapped to more than once (SSP 2.0, 7.1)" in refusal(ssd(bindings=twice))
    table = (
        '<ssc:IntegerMappingTransformation><ssc:MapEntry source="1" target="2"/>'
        "</ssc:IntegerMappingTransformation>"
    )
    real = with_mapping(ssd, values, entry("s", "a.k", table))
    assert "a table is for values that can be listed" in refusal(ssd(bindings=real))


def test_external_sets_and_mappings(ssd: Any) -> None:
    binding = (
        '<ssd:ParameterBinding source="set.ssv"><ssd:ParameterMapping source="map.ssm"/>'
        "</ssd:ParameterBinding>"
    )
    path = ssd(bindings=binding)
    (path.parent / "set.ssv").write_text(ssd.values(ssd.real("stiff", 7.0, "N/m")))
    text = mapping(entry("stiff", "a.k")).removeprefix("<ssd:ParameterMapping>")
    text = text.removesuffix("</ssd:ParameterMapping>")
    space = 'xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"'
    (path.parent / "map.ssm").write_text(text.replace(" version", f" {space} version", 1))
    assert values_of(read_ssd(path), "a") == {"k": 7.0}


def test_a_set_inside_of_the_fmu(ssd: Any) -> None:
    binding = '<ssd:ParameterBinding source="resources/set.ssv" sourceBase="component"/>'
    part = f'<ssd:Component name="f" source="f.fmu">{bound(binding)}</ssd:Component>'
    path = ssd(elements=part)
    with zipfile.ZipFile(path.parent / "f.fmu", "w") as archive:
        archive.writestr("resources/set.ssv", ssd.values(ssd.real("k", 7.0)))
    assert values_of(read_ssd(path), "f") == {"k": 7.0}
    outside = part.replace("resources/set.ssv", "../set.ssv")
    assert "is outside of" in refusal(ssd(elements=outside))


def test_items_of_enumerations(ssd: Any) -> None:
    def gear(value: str) -> Path:
        given = f'<ssv:Parameter name="gear"><ssv:Enumeration value="{value}"/></ssv:Parameter>'
        part = PART.format(name="b", bindings=bound(ssd.binding(given)))
        return ssd(elements=part, after=GEARS)

    assert values_of(read_ssd(gear("high")), "b") == {"gear": 7}
    assert values_of(read_ssd(gear("7")), "b") == {"gear": 7}  # OMSimulator writes numbers
    assert "SSP125" in [each.code for each in diagnose(gear("7"))[1]]
    assert "item 'middle' is not known; it has: low, high" in refusal(gear("middle"))


def test_a_name_that_is_given_twice(ssd: Any) -> None:
    same = ssd.real("a.k", 1.0) * 2
    path = ssd(bindings=ssd.binding(same))
    assert values_of(read_ssd(path), "a") == {"k": 1.0}
    assert [each.code for each in diagnose(path)[1]] == ["SSP103"]
    other = ssd.real("a.k", 1.0) + ssd.real("a.k", 2.0)
    text = refusal(ssd(bindings=ssd.binding(other)))
    assert "the parameter has two different values" in text
    unused = ssd.real("z", 1.0) + ssd.real("z", 2.0)
    assert values_of(read_ssd(ssd(bindings=ssd.binding(unused))), "a") == {}


def test_a_parameter_set_from_outside(ssd: Any, tmp_path: Path, wording) -> None:
    system = read_ssd(ssd(elements=nested(PART.format(name="C", bindings="")), after=GEARS))
    text = ssd.values(ssd.real("B.C.k", 2.0, "kN/m") + ssd.real("unknown", 1.0))
    changed = apply_parameter_set(system, text.encode())
    assert changed.systems["B"].components["C"].values == {"k": 2000.0}
    flat = apply_parameter_set(system.flat(), text.encode())
    assert flat.component("B/C").values == {"k": 2000.0}
    file = tmp_path / "set.ssv"
    file.write_text(ssd.values(ssd.real("k", 3.0)))
    assert apply_parameter_set(flat, file, prefix="B.C.").component("B/C").values["k"] == 3.0
    file.write_text(ssd.values(ssd.real("k", 3.0, "s")))
    with wording.raises(SspError, code="SSP111", place="parameter 'k'"):
        apply_parameter_set(flat, file, prefix="a.")
    with wording.raises(SspError, code="SSP003"):
        apply_parameter_set(flat, b"<a")


def warned(path: Path) -> list[str]:
    return [str(d) for d in diagnose(path)[1] if d.severity == "warning" and d.code == "SSP305"]


def test_a_misspelt_parameter_is_a_warning(ssd: Any, caplog: pytest.LogCaptureFixture) -> None:
    part = PART.format(name="c", bindings=bound(ssd.binding(ssd.real("geer", 2.0))))
    top = ssd.binding(ssd.real("c.kk", 2.0))
    path = ssd(elements=part, bindings=top, after=GEARS)
    inner, outer = warned(path)
    assert "has no variable 'geer' that takes a value. Did you mean 'gear'?" in inner
    assert "has no variable 'kk' that takes a value. Did you mean 'k'?" in outer
    with caplog.at_level("WARNING"):
        read_ssd(path)  # as a run does
    assert "Did you mean 'gear'?" in caplog.text


def test_a_misspelt_target_or_source_of_a_mapping_is_a_warning(ssd: Any) -> None:
    some = with_mapping(ssd, ssd.real("stiff", 2.0), entry("stif", "a.k"), entry("stiff", "a.kk"))
    source, target = warned(ssd(bindings=some))
    told = "'stif' to 'a.k': the parameter set has no parameter 'stif'. Did you mean 'stiff'?"
    assert told in source
    assert "mapping 'stiff' to 'a.kk'" in target
    assert "Did you mean 'k'?" in target


def test_a_set_that_several_elements_share_is_no_misspelling(ssd: Any) -> None:
    shared = '<ssd:ParameterBinding source="set.ssv"/>'
    parts = "".join(
        PART.format(name=name, bindings=bound(shared)).replace('name="n"', f'name="n{name}"')
        for name in ("b", "c")
    )
    path = ssd(elements=parts, after=GEARS)
    number = '<ssv:Parameter name="nb"><ssv:Integer value="3"/></ssv:Parameter>'
    lost = '<ssv:Parameter name="nbb"><ssv:Integer value="3"/></ssv:Parameter>'
    (path.parent / "set.ssv").write_text(ssd.values(number))
    assert warned(path) == []
    assert values_of(read_ssd(path), "b") == {"nb": 3}
    (path.parent / "set.ssv").write_text(ssd.values(number + lost))
    assert len(warned(path)) == 2
    assert "Did you mean 'nb'?" in warned(path)[0]


def test_an_output_of_an_fmu_without_a_library_for_us_takes_its_start(
    ssd: Any, tmp_path: Path
) -> None:
    described = (Path(__file__).parents[4] / "fixtures" / "c_fmus" / "slave1.xml").read_text()
    before = 'name="y" valueReference="1" causality="output"><Real'
    assert before in described
    described = described.replace(before, f'{before} start="1"')
    with zipfile.ZipFile(tmp_path / "slave1.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", described)
        archive.writestr("binaries/win64/slave1.dll", b"MZ")
    part = (
        f'<ssd:Component name="b" source="{(tmp_path / "slave1.fmu").as_uri()}">'
        '<ssd:Connectors><ssd:Connector name="y" kind="output"><ssc:Real/></ssd:Connector>'
        '<ssd:Connector name="minus_y" kind="output"><ssc:Real/></ssd:Connector>'
        "</ssd:Connectors>{}</ssd:Component>"
    )
    path = ssd(elements=part.format(bound(ssd.binding(ssd.real("y", 2.0)))))
    assert values_of(read_ssd(path), "b") == {"y": 2.0}
    path = ssd(elements=part.format(bound(ssd.binding(ssd.real("minus_y", 2.0)))))
    assert "'minus_y' is an output and cannot be set" in refusal(path)
