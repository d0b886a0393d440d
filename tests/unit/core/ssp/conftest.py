"""A small system, and an SSD of it to be damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    DefaultExperiment,
    Source,
    SourceKind,
    System,
    TransportDelay,
)

NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
        "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
        "ssm": "http://ssp-standard.org/SSP1/SystemStructureParameterMapping",
        "ssb": "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary",
        "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
        "sd": "https://softdock.io/ssp/1",
    }.items()
)


def connectors(*them: Connector) -> dict[str, Connector]:
    return {connector.name: connector for connector in them}


@pytest.fixture
def fmu(tmp_path: Path) -> Path:
    path = tmp_path / "build" / "Chaser.fmu"
    path.parent.mkdir()
    path.write_bytes(b"the bytes of an FMU")
    return path


@pytest.fixture
def capture(fmu: Path) -> System:
    chaser = Component(
        "chaser",
        Source(SourceKind.FMU, str(fmu)),
        connectors(
            Connector("position", Causality.OUTPUT, unit="m", description="Position & <more>"),
            Connector("force", Causality.INPUT, unit="N"),
            Connector("m", Causality.PARAMETER, unit="kg"),
            Connector("tilt", Causality.PARAMETER, unit="deg"),
            Connector("steps", Causality.PARAMETER, DataType.INTEGER),
            Connector("label", Causality.PARAMETER, DataType.STRING),
        ),
    )
    contact = Component(
        "contact",
        Source(SourceKind.BLOCK, "spring_dashpot"),
        connectors(
            Connector("position", Causality.INPUT, unit="mm"),
            Connector("force", Causality.OUTPUT, unit="N"),
            Connector("latched", Causality.PARAMETER, DataType.BOOLEAN),
        ),
    )
    return (
        System(
            "capture",
            experiment=DefaultExperiment(0, 12_500_000_001, 1_000_000, "gauss-seidel"),
            description="A probe meets a base",
        )
        .add("chaser", chaser, m=750, tilt=0.1, steps=-3, label=" a\n<b> ", force=0.0)
        .add("contact", contact, latched=True)
        .connect(
            "chaser.position", "contact.position", delay=TransportDelay.of("16 ms", "measured")
        )
        .connect("contact.force", "chaser.force", factor=-1.0, offset=0.1)
    )


UNITS = """<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
<ssc:Unit name="N/m"><ssc:BaseUnit kg="1" s="-2"/></ssc:Unit></ssd:Units>"""


class Ssd:
    """Text of an SSD, written with the parts that a test wants wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(
        self,
        *,
        elements: str = "",
        first: str = "",
        bindings: str = "",
        connections: str = "",
        after: str = "",
        top: str = "",
        system: str = 'name="s"',
        root: str = 'version="1.0" name="s"',
        units: bool = True,
    ) -> Path:
        connections = connections and f"<ssd:Connections>{connections}</ssd:Connections>"
        units = "" if "ssd:Units" in after or not units else UNITS
        bindings = bindings and f"<ssd:ParameterBindings>{bindings}</ssd:ParameterBindings>"
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(
            f"""<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription {NAMESPACES} {root}>
  <ssd:System {system}>{first}{bindings}
    <ssd:Elements>
      <ssd:Component name="a" type="application/x-softdock-block" source="block:plant">
        <ssd:Connectors>
          <ssd:Connector name="x" kind="output"><ssc:Real unit="m"/></ssd:Connector>
          <ssd:Connector name="u" kind="input"><ssc:Real unit="mm"/></ssd:Connector>
          <ssd:Connector name="k" kind="parameter"><ssc:Real unit="N/m"/></ssd:Connector>
          <ssd:Connector name="n" kind="parameter"><ssc:Integer/></ssd:Connector>
        </ssd:Connectors>
      </ssd:Component>
{elements}
    </ssd:Elements>
{connections}
{top}
  </ssd:System>{units}
{after}
</ssd:SystemStructureDescription>
""",
            encoding="utf-8",
        )
        return self.path

    @staticmethod
    def values(content: str, after: str = "") -> str:
        """An ssv:ParameterSet."""
        return (
            f'<ssv:ParameterSet version="1.0" name="p" {NAMESPACES}>'
            f"<ssv:Parameters>{content}</ssv:Parameters>{after}</ssv:ParameterSet>"
        )

    @classmethod
    def binding(cls, content: str, attributes: str = "") -> str:
        """An ssd:ParameterBinding with inline values."""
        return (
            f"<ssd:ParameterBinding {attributes}><ssd:ParameterValues>{cls.values(content)}"
            "</ssd:ParameterValues></ssd:ParameterBinding>"
        )

    @staticmethod
    def real(name: str, value: float | str, unit: str = "") -> str:
        """An ssv:Parameter."""
        unit = unit and f'unit="{unit}"'
        return f'<ssv:Parameter name="{name}"><ssv:Real value="{value}" {unit}/></ssv:Parameter>'


@pytest.fixture
def ssd(tmp_path: Path) -> Ssd:
    return Ssd(tmp_path / "source" / "SystemStructure.ssd")
