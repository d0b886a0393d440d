"""modelDescription.xml: what both versions of FMI say of an FMU, and how each of them writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lxml import etree

from orchestrator.core.structs import Struct

GENERATOR = "Softdock"
Attributes = dict[str, str]


class Unit(Struct):
    """A unit: its definition in SI base units where it has one, and units to display it in."""

    name: str
    base: Attributes | None = None
    displayed: tuple[Attributes, ...] = ()


class TypeDefinition(Struct):
    """A type that variables are declared with; ``items`` are those of an enumeration."""

    name: str
    tag: str
    attributes: Attributes
    items: tuple[tuple[str, int], ...] = ()


class DescribedVariable(Struct):
    """One variable.

    tag: Its type, as the version calls it.
    identity: Name, value reference, description, causality, variability, initial.
    details: Declared type, quantity, unit, limits, start.
    shape, texts: Of FMI 3.0: dimensions, and start values of strings and binaries.
    """

    tag: str
    identity: Attributes
    details: Attributes
    shape: Sequence[int] = ()
    texts: Sequence[str] = ()


def time_variable(reference: int, name: str = "time") -> DescribedVariable:
    """The independent variable, which FMI 3.0 has in the list."""
    identity = {
        "name": name,
        "valueReference": str(reference),
        "description": "Simulation time",
        "causality": "independent",
        "variability": "continuous",
    }
    return DescribedVariable("Float64", identity, {"unit": "s"})


class Unknown(Struct):
    """An unknown of ModelStructure: index (FMI 2.0) or value reference (FMI 3.0), and knowns."""

    key: int
    dependencies: Sequence[int] | None
    kinds: Sequence[str] | None = None

    def attributes(self, key: str) -> dict[str, str]:
        """Attributes of its element; ``key`` is what the version calls its number."""
        attributes = {key: str(self.key)}
        if self.dependencies is not None:
            attributes["dependencies"] = " ".join(map(str, self.dependencies))
        if self.kinds is not None:
            attributes["dependenciesKind"] = " ".join(self.kinds)
        return attributes


class ExportedDescription(Struct):
    """What a model description says, in the words of one version of FMI.

    name, description, token: Of the model; the token is FMI 2.0's guid.
    interfaces: By tag, what the FMU can; a tag that is not there is an interface that it has not.
    structured: Whether all names of variables follow the structured naming convention.
    indicators: Number of event indicators (an attribute of FMI 2.0).
    source_file: What a compiler of the sources starts from (an element of FMI 2.0).
    input_order: Highest derivative of its inputs that it uses (FMI 2.0, where an annotation says
        it).
    structure: Groups of ModelStructure in FMI 2.0, kinds of unknowns in FMI 3.0.
    """

    name: str
    description: str
    token: str
    interfaces: Mapping[str, Attributes]
    units: Sequence[Unit]
    types: Sequence[TypeDefinition]
    log_categories: Attributes
    experiment: Attributes
    variables: Sequence[DescribedVariable]
    structure: Sequence[tuple[str, Sequence[Unknown]]]
    structured: bool = True
    indicators: int | None = None
    source_file: str | None = None
    input_order: int = 0


def write(exported: ExportedDescription, fmi: str) -> bytes:
    """Text of modelDescription.xml of a version of FMI, in UTF-8."""
    is_old = fmi == "2.0"
    attributes = {"fmiVersion": fmi, "guid" if is_old else "instantiationToken": exported.token}
    if exported.indicators is not None:
        attributes["numberOfEventIndicators"] = str(exported.indicators)
    attributes |= {
        "modelName": exported.name,
        "generationTool": GENERATOR,
        "variableNamingConvention": "structured" if exported.structured else "flat",
    }
    if exported.description:
        attributes["description"] = exported.description
    root = etree.Element("fmiModelDescription", attributes)
    for tag, able in exported.interfaces.items():
        interface = etree.SubElement(root, tag, able)
        if exported.source_file is not None:
            files = etree.SubElement(interface, "SourceFiles")
            etree.SubElement(files, "File", name=exported.source_file)
    _write_units(root, exported.units)
    _write_types(root, exported.types, is_old=is_old)
    categories = _group(root, "LogCategories", exported.log_categories)
    for name, description in exported.log_categories.items():
        etree.SubElement(categories, "Category", name=name, description=description)
    etree.SubElement(root, "DefaultExperiment", exported.experiment)
    if exported.input_order:
        tool = etree.SubElement(etree.SubElement(root, "VendorAnnotations"), "Tool", name=GENERATOR)
        etree.SubElement(tool, "InputDerivatives", maximumOrder=str(exported.input_order))
    _write_variables(root, exported.variables, is_old=is_old)
    structure = etree.SubElement(root, "ModelStructure")
    for tag, unknowns in exported.structure:
        group = _group(structure, tag, unknowns) if is_old else structure
        for unknown in unknowns:
            listed = unknown.attributes("index" if is_old else "valueReference")
            etree.SubElement(group, "Unknown" if is_old else tag, listed)
    return encoded(root)


def encoded(root: etree._Element) -> bytes:
    """Text of an XML file, in UTF-8."""
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text


def _group(parent: etree._Element, tag: str, content: Iterable[object]) -> etree._Element:
    """Add an element that must have content in FMI, if there is some."""
    return etree.SubElement(parent, tag) if content else etree.Element(tag)


def _write_units(root: etree._Element, units: Sequence[Unit]) -> None:
    definitions = _group(root, "UnitDefinitions", units)
    for unit in units:
        element = etree.SubElement(definitions, "Unit", name=unit.name)
        if unit.base is not None:
            etree.SubElement(element, "BaseUnit", unit.base)
        for attributes in unit.displayed:
            etree.SubElement(element, "DisplayUnit", attributes)


def _write_types(root: etree._Element, types: Sequence[TypeDefinition], *, is_old: bool) -> None:
    group = _group(root, "TypeDefinitions", types)
    for definition in types:
        if is_old:
            simple = etree.SubElement(group, "SimpleType", name=definition.name)
            element = etree.SubElement(simple, definition.tag, definition.attributes)
        else:
            attributes = {"name": definition.name, **definition.attributes}
            element = etree.SubElement(group, f"{definition.tag}Type", attributes)
        for name, value in definition.items:
            etree.SubElement(element, "Item", name=name, value=str(value))


def _write_variables(
    root: etree._Element, variables: Sequence[DescribedVariable], *, is_old: bool
) -> None:
    listed = etree.SubElement(root, "ModelVariables")
    for variable in variables:
        if is_old:
            scalar = etree.SubElement(listed, "ScalarVariable", variable.identity)
            etree.SubElement(scalar, variable.tag, variable.details)
            continue
        attributes = {**variable.identity, **variable.details}
        element = etree.SubElement(listed, variable.tag, attributes)
        for size in variable.shape:
            etree.SubElement(element, "Dimension", start=str(size))
        for text in variable.texts:
            etree.SubElement(element, "Start", value=text)
