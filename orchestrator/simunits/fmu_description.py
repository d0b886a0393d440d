"""Reading of an FMU's model description, as what the system graph and the engine need."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from orchestrator.archive import open_archive, parse_xml, read_entry
from orchestrator.errors import FmuError
from orchestrator.simunits.description import Capabilities, UnitDescription
from orchestrator.system import Causality, Connector, DataType, Value

_TYPES = {
    "Real": DataType.REAL,
    "Integer": DataType.INTEGER,
    "Enumeration": DataType.INTEGER,
    "Boolean": DataType.BOOLEAN,
    "String": DataType.STRING,
}
_PLATFORMS = {("Linux", "x86_64"): "linux64", ("Linux", "i686"): "linux32"}


@dataclass(frozen=True, slots=True)
class FmuDescription:
    """An FMU on disk.

    Parameters
    ----------
    path
        The archive.
    description
        Ports, feed-through and capabilities.
    references
        FMI value reference by connector name.
    guid, library
        What fmi2Instantiate wants, and the library's path inside the archive.
    """

    path: Path
    description: UnitDescription
    references: Mapping[str, int]
    guid: str
    library: str


def read_fmu(path: Path) -> FmuDescription:
    """Read and check an FMU for co-simulation by the engine.

    Raises
    ------
    FmuError
        If the file is missing or damaged, its description is not valid, it is not an FMI 2.0
        Co-Simulation FMU, or has no binary for this platform.
    """
    described = open_description(path)
    if described.coSimulation is None:
        raise FmuError(f"{path}: has no Co-Simulation interface; the engine loads FMI 2.0 CS")
    return describe(path, described, described.coSimulation)


def open_description(path: Path) -> Any:
    """Read an FMU's model description as FMPy has it, whatever its interfaces.

    Raises
    ------
    FmuError
        If the file is missing or damaged, its description is not valid, or it is not FMI 2.0.
    """
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        raise FmuError(
            f"{path}: no such FMU; build it (`softdock build`) or correct the component's source"
        ) from None
    return _read(path, stamp)[0]


@lru_cache(maxsize=256)
def _read(path: Path, stamp: int) -> tuple[Any, frozenset[str]]:  # noqa: ARG001 - renews the cache
    with open_archive(path, FmuError) as archive:
        content = read_entry(path, archive, "modelDescription.xml", FmuError)
        names = frozenset(archive.namelist())
    root = parse_xml(content, f"{path}: modelDescription.xml", FmuError)
    version = root.get("fmiVersion", "none")
    if version != "2.0":
        raise FmuError(f"{path}: FMI version {version}; the engine loads FMI 2.0 Co-Simulation")
    return _parse(path), names


def describe(path: Path, described: Any, interface: Any) -> FmuDescription:
    """Describe one interface of an FMU that was opened.

    Raises
    ------
    FmuError
        If it has no binary for this machine.
    """
    names = _read(path, path.stat().st_mtime_ns)[1]
    system = platform.system(), platform.machine()
    folder = _PLATFORMS.get(system, "-".join(system))
    library = f"binaries/{folder}/{interface.modelIdentifier}.so"
    if library not in names:
        found = sorted({n.split("/")[1] for n in names if n.startswith("binaries/") and n[9:]})
        raise FmuError(
            f"{path}: no binary for this machine: expected '{library}',"
            f" found platforms: {', '.join(found) or 'none'}"
        )
    return FmuDescription(
        path,
        _describe(described, interface),
        {v.name: v.valueReference for v in described.modelVariables},
        described.guid,
        library,
    )


def _parse(path: Path) -> Any:
    from fmpy import read_model_description
    from fmpy.model_description import ValidationError

    try:
        with path.open("rb") as stream:  # FMPy does not close what it opens if it raises
            return read_model_description(stream)
    except ValidationError as error:
        raise FmuError(f"{path}: modelDescription.xml is not valid: {error}") from None
    except Exception as error:  # FMPy raises plain Exception for what it does not understand
        raise FmuError(f"{path}: modelDescription.xml cannot be read: {error}") from error


def _describe(described: Any, cs: Any) -> UnitDescription:
    connectors = {}
    for variable in described.modelVariables:
        if variable.causality in set(Causality) and variable.type in _TYPES:
            connectors[variable.name] = _connector(variable)
    feedthrough = {}
    for unknown in described.outputs:
        if unknown.dependencies is not None:
            feedthrough[unknown.variable.name] = tuple(
                v.name for v in unknown.dependencies if v.causality == Causality.INPUT
            )
    return UnitDescription(
        name=described.modelName,
        connectors=connectors,
        feedthrough=feedthrough,
        capabilities=Capabilities(
            can_roll_back=bool(cs.canGetAndSetFMUstate),
            can_serialize=bool(cs.canSerializeFMUstate),
            can_vary_step=bool(getattr(cs, "canHandleVariableCommunicationStepSize", True)),
            has_directional_derivatives=bool(cs.providesDirectionalDerivative),
            takes_input_slopes=bool(getattr(cs, "canInterpolateInputs", True)),
            once_per_process=bool(cs.canBeInstantiatedOnlyOncePerProcess),
        ),
        # Derivatives are listed for Model Exchange; without that interface states may be hidden.
        has_states=described.modelExchange is None or bool(described.derivatives),
        details={
            "kind": f"FMU, FMI {described.fmiVersion} Co-Simulation",
            "tool": described.generationTool or "not said",
            "guid": described.guid or "",
        },
    )


def _connector(variable: Any) -> Connector:
    kind = _TYPES[variable.type]
    declared = variable.declaredType
    unit = variable.unit or (declared.unit if declared is not None else None)
    return Connector(
        name=variable.name,
        causality=Causality(variable.causality),
        type=kind,
        unit=unit,
        description=variable.description or "",
        start=_start(kind, variable.start),
    )


def _start(kind: DataType, text: str | None) -> Value | None:
    if text is None or kind is DataType.STRING:
        return text
    if kind is DataType.BOOLEAN:
        return text in {"true", "1"}
    return int(text) if kind is DataType.INTEGER else float(text)
