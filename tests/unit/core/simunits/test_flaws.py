"""Flaws of a foreign model description: told where they do no harm, refused where they do."""

from types import SimpleNamespace

import pytest

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits import expect_flawless, flaws_of, fmu, read_fmu
from orchestrator.core.simunits.fmi import model_description
from orchestrator.core.system import Causality, System
from orchestrator.study import simulate

ENUMERATION = (
    '<TypeDefinitions><SimpleType name="Mode"><Enumeration><Item name="off" value="0"/>'
    '<Item name="on" value="1"/></Enumeration></SimpleType></TypeDefinitions><ModelVariables>'
)
HELD = {"u": 0.0, "n": 0, "flag": False}


def with_enumeration(text: str) -> str:
    """The Integer input as an enumeration without a variability."""
    text = text.replace("<ModelVariables>", ENUMERATION)
    before = 'name="n" valueReference="0" causality="input" variability="discrete"><Integer'
    assert before in text
    return text.replace(
        before,
        'name="n" valueReference="0" causality="input"><Enumeration declaredType="Mode"',
    )


def replacing(old: str, new: str):
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


def with_twins(first: str, second: str):
    """Two more variables of the name 'twin'."""
    return replacing("  </ModelVariables>", f"{first}{second}  </ModelVariables>")


LOCAL = '<ScalarVariable name="twin" valueReference="{}"><Real/></ScalarVariable>'
PARAMETER = (
    '<ScalarVariable name="twin" valueReference="{}" causality="parameter" variability="fixed">'
    '<Real start="1"/></ScalarVariable>'
)

HARMLESS = {
    "unit": (replacing('<Real unit="N"/>', '<Real unit="furlong"/>'), "furlong"),
    "display unit": (
        replacing('<Real unit="N"/>', '<Real unit="N" displayUnit="kN"/>'),
        "display unit",
    ),
    "display unit alone": (
        replacing('<Real unit="N"/>', '<Real unit="X" displayUnit="kN"/>'),
        "'X'",
    ),
    "enumeration": (with_enumeration, "variability"),
    "parameter": (
        replacing('name="gain" valueReference="3" causality="parameter" variability="fixed"',
                  'name="gain" valueReference="3" causality="parameter"'),
        "gain",
    ),
    "constant parameter": (
        replacing('name="gain" valueReference="3" causality="parameter" variability="fixed"',
                  'name="gain" valueReference="3" causality="parameter" variability="constant"'),
        "gain",
    ),
    "undefined type": (
        replacing('<Real start="2"/>', '<Real start="2" declaredType="Nowhere"/>'), "Nowhere",
    ),
    "attribute": (replacing('modelName="Probe"', 'modelName="Probe" colour="red"'), "colour"),
    "date": (
        replacing('modelName="Probe"', 'modelName="Probe" generationDateAndTime="today"'),
        "generationDateAndTime",
    ),
    "element": (replacing("<ModelStructure>", "<Extra/><ModelStructure>"), "Extra"),
    "local twins": (with_twins(LOCAL.format(0), LOCAL.format(1)), "twin"),
    "equal twins": (with_twins(PARAMETER.format(3), PARAMETER.format(3)), "twin"),
    "twin of a local": (with_twins(LOCAL.format(0), PARAMETER.format(3)), "twin"),
    "start": (replacing('<Integer start="0"/>', "<Integer/>"), "no start value"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HARMLESS)
def test_a_flaw_that_does_no_harm_is_told_and_the_fmu_runs(make_fmu, kind, wording):
    change, word = HARMLESS[kind]
    path = make_fmu(change)
    described = read_fmu(path).description
    assert described.connectors["gain"].causality is Causality.PARAMETER
    flaws = flaws_of(path)
    assert flaws
    assert word in " ".join(flaws)
    system = System("s").add("probe", fmu(path), **HELD, gain=3.0).set("probe.u", 2.0)
    result = simulate(system, step="1 ms", stop="10 ms")
    assert result["probe.g"][-1] == 6.0
    (note,) = [text for text in result.notes if "modelDescription.xml" in text]
    assert word in note
    assert str(path.name) in note
    with wording.raises(FmuError):
        expect_flawless(system)
    with wording.raises(FmuError):
        simulate(system, step="1 ms", stop="10 ms", strict=True)


def test_an_fmu_without_a_flaw_says_nothing(probe):
    assert flaws_of(probe) == ()
    system = System("s").add("probe", fmu(probe), **HELD)
    assert expect_flawless(system) is None
    assert simulate(system, step="1 ms", stop="2 ms", strict=True).notes == ()


class InOtherWords:
    """The schema, whose violations another version of libxml2 words differently."""

    def __init__(self, schema):
        self._schema = schema

    def validate(self, root):
        return self._schema.validate(root)

    @property
    def error_log(self):
        return [
            SimpleNamespace(type_name=e.type_name, line=e.line, message=e.message.replace("'", "`"))
            for e in self._schema.error_log
        ]


def test_what_does_harm_does_not_hang_on_the_words_of_libxml2(make_fmu, monkeypatch, wording):
    schema = model_description.schema_of(2)
    monkeypatch.setattr(model_description, "schema_of", lambda _: InOtherWords(schema))
    dated = replacing('modelName="Probe"', 'modelName="Probe" generationDateAndTime="today"')
    assert "`today`" in " ".join(flaws_of(make_fmu(dated)))
    low = replacing('<Real start="2"/>', '<Real start="2" min="low"/>')
    able = replacing('canGetAndSetFMUstate="true"', 'canGetAndSetFMUstate="yes"')
    with wording.raises(FmuError) as caught:
        read_fmu(make_fmu(lambda text: able(low(dated(text)))))
    assert "low" in str(caught.value)
    assert "today" not in str(caught.value)


HARMFUL = {
    "two parameters": (with_twins(PARAMETER.format(3), PARAMETER.format(4)), "twin"),
    "parameter of the name of an output": (
        replacing('name="discard_at"', 'name="y"'), "name 'y'",
    ),
    "reference": (
        replacing('name="y" valueReference="1"', 'name="y" valueReference="x"'), "valueReference",
    ),
    "no reference": (replacing('name="y" valueReference="1"', 'name="y"'), "valueReference"),
    "no name": (replacing('name="y" value', "value"), "name"),
    "no type": (replacing('<Real unit="N.s" start="0"/>', ""), "'y'"),
    "start": (replacing('<Real start="2"/>', '<Real start="two"/>'), "two"),
    "truth": (
        replacing('name="mumble" valueReference="3" causality="parameter" variability="fixed">'
                  '<Boolean start="false"/>',
                  'name="mumble" valueReference="3" causality="parameter" variability="fixed">'
                  '<Boolean start="False"/>'),
        "False",
    ),
    "bad start behind a flaw": (
        lambda text: text.replace("<ModelVariables>", "<Extra/><ModelVariables>").replace(
            '<Real start="2"/>', '<Real start="two"/>'
        ),
        "two",
    ),
    "causality": (
        replacing('name="y" valueReference="1" causality="output"',
                  'name="y" valueReference="1" causality="outlet"'),
        "outlet",
    ),
    "variability": (
        replacing('name="gain" valueReference="3" causality="parameter" variability="fixed"',
                  'name="gain" valueReference="3" causality="parameter" variability="steady"'),
        "steady",
    ),
    "identifier": (replacing(' modelIdentifier="probe"', ""), "modelIdentifier"),
    "capability": (
        replacing('canGetAndSetFMUstate="true"', 'canGetAndSetFMUstate="yes"'),
        "canGetAndSetFMUstate",
    ),
    "structure": (replacing('index="17"', 'index="99"'), "cannot be read"),
    "bound": (replacing('<Real start="2"/>', '<Real start="2" min="low"/>'), "low"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HARMFUL)
def test_what_does_harm_is_an_error(make_fmu, kind, wording):
    change, word = HARMFUL[kind]
    path = make_fmu(change)
    with wording.raises(FmuError) as caught:
        read_fmu(path)
    assert str(path) in str(caught.value)
    assert word in str(caught.value)


def test_an_output_that_shares_its_name_with_a_local_stays_what_it_is(c_fmu):
    twin = (
        '<ScalarVariable name="minus_y" valueReference="0" causality="internal"><Real/>'
        "</ScalarVariable></ModelVariables>"
    )
    description = read_fmu(c_fmu("slave1", replacing("</ModelVariables>", twin)))
    assert description.variables["minus_y"].is_negated
    assert description.references["minus_y"] == 1
    assert description.description.feedthrough["minus_y"] == ()


def test_an_alias_of_a_taken_name_does_harm(c_fmu, wording):
    def change(text: str) -> str:
        head, tail = text.split("<Float64 ", 1)
        first, rest = tail.split(">", 1)
        assert first.endswith("/")
        name = rest.split('name="', 1)[1].split('"')[0]
        return f'{head}<Float64 {first[:-1]}><Alias name="{name}"/></Float64>{rest}'

    with wording.raises(FmuError):
        read_fmu(c_fmu("relay3", change))


def test_a_flawed_fmu_of_fmi_1_and_3(c_fmu):
    twin = (
        '<ScalarVariable name="hidden" valueReference="9" causality="internal"><Real/>'
        "</ScalarVariable>"
    )
    one = c_fmu("slave1", replacing("</ModelVariables>", f"{twin}{twin}</ModelVariables>"))
    assert "hidden" in " ".join(flaws_of(one))
    three = c_fmu("relay3", replacing('fmiVersion="3.0"', 'fmiVersion="3.0" colour="red"'))
    assert "colour" in " ".join(flaws_of(three))
    assert read_fmu(three).version == 3
