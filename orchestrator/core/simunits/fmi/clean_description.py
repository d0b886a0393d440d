"""Reading of model descriptions that keep all rules of FMI, without FMPy, which is slow to import.

What is read has the fields that FMPy gives it, under its names, so that the one stands for the
other. A model description that breaks a rule, or that cannot be read, is left to FMPy, which says
what is wrong with it: see :mod:`~orchestrator.core.simunits.fmi.model_description`.
"""

from __future__ import annotations

from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.clean_structure import (
    builds_of,
    complete_fmi1,
    complete_fmi2,
    complete_fmi3,
)
from orchestrator.core.simunits.fmi.clean_variables import (
    read_types,
    read_types_of_fmi3,
    read_unit,
    read_variables,
    set_shapes,
)
from orchestrator.core.simunits.fmi.description_part import Part
from orchestrator.core.simunits.fmi.description_rules import keeps_rules
from orchestrator.core.simunits.fmi.model_description import schema_of

_TEXTS: Final = (
    "fmiVersion",
    "modelName",
    "description",
    "author",
    "version",
    "copyright",
    "license",
    "generationTool",
    "generationDateAndTime",
)


def read_clean(root: etree._Element, version: int, build: bytes | None = None) -> Part | None:
    """Read a model description that keeps the rules of FMI; ``None`` if it breaks one."""
    if version != 3 and root.get("fmiVersion") != f"{version}.0":
        return None
    if not schema_of(version).validate(root) or root.find("ModelVariables") is None:
        return None
    try:
        found = _read(root, version, build if version == 3 else None)
        return found if keeps_rules(found) else None
    except (ArithmeticError, AttributeError, FmuError, LookupError, TypeError, ValueError):
        return None  # FMPy says why


def _read(root: etree._Element, version: int, build: bytes | None) -> Part:
    types = list(read_types_of_fmi3(root) if version == 3 else read_types(root, version))
    variables = list(read_variables(root, version, {None: None, **{t.name: t for t in types}}))
    by_reference = {v.valueReference: v for v in variables}
    set_shapes(variables, by_reference)
    token = root.get("instantiationToken" if version == 3 else "guid")
    found = Part(
        **{name: root.get(name) for name in _TEXTS},
        instantiationToken=token,
        guid=token,
        variableNamingConvention=root.get("variableNamingConvention", "flat"),
        numberOfContinuousStates=0,
        numberOfEventIndicators=int(root.get("numberOfEventIndicators", "0")),
        logCategories=[
            Part(name=e.get("name"), description=e.get("description"))
            for e in root.findall("LogCategories/Category")
        ],
        defaultExperiment=_experiment(root),
        coSimulation=None,
        modelExchange=None,
        scheduledExecution=None,
        buildConfigurations=[],
        unitDefinitions=[read_unit(e) for e in root.findall("UnitDefinitions/Unit")],
        typeDefinitions=types,
        modelVariables=variables,
        outputs=[],
        derivatives=[],
        clockedStates=[],
        eventIndicators=[],
        initialUnknowns=[],
    )
    if version == 1:
        complete_fmi1(found, root)
    elif version == 2:
        complete_fmi2(found, root)
    else:
        complete_fmi3(found, root, by_reference)
        found.buildConfigurations = [] if build is None else list(builds_of(build))
    return found


def _experiment(root: etree._Element) -> Part | None:
    names = ("startTime", "stopTime", "tolerance", "stepSize")
    found = root.findall("DefaultExperiment")
    return Part(**{name: found[-1].get(name) for name in names}) if found else None
