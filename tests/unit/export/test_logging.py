"""Messages come in the categories that the importer has asked for, errors always."""

from __future__ import annotations

import ctypes
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fmpy import extract, fmi2, fmi3, read_model_description
from fmpy.fmi1 import FMICallException
from lxml import etree

from orchestrator.export import build_model

MODEL = """model Jumper
  parameter Real limit = 10;
  Real x(start=0, fixed=true);
  Real '100% #1'(start=0, fixed=true);
  discrete Real n(start=0, fixed=true);
equation
  der(x) = 1;
  der('100% #1') = if x < 1.25 then 1 else 0;
  when x > 0.5 then reinit(x, 1); end when;
  when sample(0.25, 1) then n = pre(n) + 1; end when;
  when time >= 0.625 then terminate("enough at " + String(n)); end when;
  assert('100% #1' < 0.125, "risen", AssertionLevel.warning);
end Jumper;
"""
Said = list[tuple[int, str, str]]


@pytest.fixture(scope="module")
def jumpers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Jumper.mo").write_text(MODEL, encoding="utf-8")
    built = build_model("Jumper", root, tmp_path_factory.mktemp("b"), fmi=("2.0", "3.0"))
    return dict(built.files)


@dataclass
class Rig:
    """One instance of either version, with what it has said."""

    fmu: Any
    second: bool
    references: dict[str, int]
    said: Said = field(default_factory=list)

    def initialize(self) -> Rig:
        if self.second:
            self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        return self

    def run(self) -> None:
        """Three steps; the third ends the simulation, which FMI 2.0 says by a discard."""
        for i in range(2):
            self.fmu.doStep(i * 0.25, 0.25)
        if self.second:
            with pytest.raises(FMICallException, match="fmi2DoStep failed with status 2"):
                self.fmu.doStep(0.5, 0.25)
        else:
            assert self.fmu.doStep(0.5, 0.25)[1], "the simulation ends"

    def of(self, category: str) -> list[str]:
        return [text for _, name, text in self.said if name == category]


@pytest.fixture(params=["2.0", "3.0"])
def open_rig(
    request: pytest.FixtureRequest, jumpers: dict[str, Path], tmp_path: Path
) -> Iterator[Callable[..., Rig]]:
    opened: list[Rig] = []

    def open_one(*, logging: bool) -> Rig:
        file = jumpers[request.param]
        description = read_model_description(str(file))
        second = request.param == "2.0"
        arguments = {
            "guid": description.guid,
            "unzipDirectory": extract(str(file), str(tmp_path / str(len(opened)))),
            "modelIdentifier": description.coSimulation.modelIdentifier,
            "instanceName": "rig",
        }
        references = {v.name: v.valueReference for v in description.modelVariables}
        rig = Rig((fmi2.FMU2Slave if second else fmi3.FMU3Slave)(**arguments), second, references)

        def log2(environment: Any, name: Any, status: int, category: bytes, text: Any) -> None:
            raw = ctypes.string_at(text) if isinstance(text, int) else text
            rig.said.append((status, category.decode(), raw.decode()))

        def log3(environment: Any, status: int, category: bytes, text: bytes) -> None:
            rig.said.append((status, category.decode(), text.decode()))

        if second:
            rig.callbacks = fmi2.fmi2CallbackFunctions()
            rig.callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(log2)
            rig.fmu.instantiate(callbacks=rig.callbacks, loggingOn=logging)
        else:
            rig.fmu.instantiate(logMessage=log3, loggingOn=logging)
        opened.append(rig)
        return rig

    yield open_one
    for rig in opened:
        rig.fmu.freeInstance()


def select(rig: Rig, on: bool, *categories: str) -> None:
    names = (ctypes.c_char_p * len(categories))(*(name.encode() for name in categories))
    function = rig.fmu.fmi2SetDebugLogging if rig.second else rig.fmu.fmi3SetDebugLogging
    function(rig.fmu.component, on, len(categories), names)


EVENTS = [
    "t = 0 s: initial event",
    "t = 0.25 s: time event: sample(0.25, 1)",
    "t = 0.5 s: state event: 'x > 0.5' becomes true",
    "t = 0.5 s: reinit() sets 'x' to 1",
    "t = 0.625 s: time event: 'time >= 0.625' becomes true",
]
#: Why a run ends its importer shall know, also where no events are told.
ENDS = "t = 0.625 s: the model ends the simulation: enough at 1"


def test_everything_is_said_when_logging_is_on(open_rig: Callable[..., Rig]) -> None:
    rig = open_rig(logging=True).initialize()
    rig.run()
    assert rig.of("logEvents") == EVENTS
    assert {status for status, category, _ in rig.said if category == "logEvents"} == {0}
    risen, ends = rig.of("logStatusWarning")
    assert "risen" in risen
    assert ends == ENDS
    assert rig.of("logStatusError") == []


def test_when_it_is_off_fmi_2_warns_and_ends_are_told(open_rig: Callable[..., Rig]) -> None:
    rig = open_rig(logging=False).initialize()
    rig.run()
    assert {category for _, category, _ in rig.said} == {"logStatusWarning"}
    assert len(rig.said) == (2 if rig.second else 1)
    assert rig.said[-1][2] == ENDS


def test_categories_are_chosen_one_by_one(open_rig: Callable[..., Rig]) -> None:
    rig = open_rig(logging=False)
    select(rig, False)
    select(rig, True, "logEvents")
    rig.initialize().run()
    assert [text for _, _, text in rig.said] == [*EVENTS, ENDS]
    rig = open_rig(logging=True)
    select(rig, False, "logEvents", "logStatusError")
    rig.initialize().run()
    assert [category for _, category, _ in rig.said] == ["logStatusWarning"] * 2


def test_errors_are_said_whatever_is_chosen(open_rig: Callable[..., Rig]) -> None:
    rig = open_rig(logging=False)
    select(rig, False)
    with pytest.raises(FMICallException):
        select(rig, True, "logEvent")
    assert "no log category 'logEvent'; there are logStatusError, " in rig.said[-1][2]
    select(rig, False, "logStatusError")
    rig.initialize()
    setter = rig.fmu.setReal if rig.second else rig.fmu.setFloat64
    with pytest.raises(FMICallException):
        setter([rig.references["der('100% #1')"]], [1.0])
    status, category, text = rig.said[-1]
    assert (status, category) == (3, "logStatusError")
    # FMI gives '#' a meaning in messages, and FMI 2.0, whose text is a printf format, '%' too.
    name = "100%% ##1" if rig.second else "100% ##1"
    assert f"'der('{name}')' is calculated by the model" in text


def test_the_choice_survives_a_reset(open_rig: Callable[..., Rig]) -> None:
    rig = open_rig(logging=False).initialize()
    select(rig, True, "logEvents")
    rig.fmu.reset()
    rig.initialize().run()
    assert rig.of("logEvents") == EVENTS


def test_the_description_lists_what_is_sent(jumpers: dict[str, Path]) -> None:
    for file in jumpers.values():
        with zipfile.ZipFile(file) as archive:
            root = etree.fromstring(archive.read("modelDescription.xml"))
        listed = {c.get("name"): c.get("description") for c in root.iter("Category")}
        assert set(listed) == {
            "logStatusError",
            "logStatusWarning",
            "logStatusDiscard",
            "logEvents",
        }
        assert all(listed.values())
