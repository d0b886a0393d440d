"""modelDescription.xml: what both versions of FMI say of an FMU, and how each of them writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

GENERATOR = "Softdock"
Attributes = dict[str, str]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its definition in SI base units where it has one, and units to display it in."""

    name: str
    base: Attributes | None = None
    displayed: tuple[Attributes, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """A type that variables are declared with; ``items`` are those of an enumeration."""

    name: str
    tag: str
    attributes: Attributes
    items: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DescribedVariable:
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


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown of ModelStructure: index (FMI 2.0) or value reference (FMI 3.0), and knowns."""

    key: int
    dependencies: Sequence[int] | None
    kinds: Sequence[str] | None = None

    def attributes(self, key: str) -> dict[str, str]:
        """Attributes of its element; ``key`` is what the version calls its number."""
        found = {key: str(self.key)}
        if self.dependencies is not None:
            found["dependencies"] = " ".join(map(str, self.dependencies))
        if self.kinds is not None:
            found["dependenciesKind"] = " ".join(self.kinds)
        return found


@dataclass(frozen=True, slots=True)
class ExportedDescription:
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


def write_fmi2(about: ExportedDescription) -> bytes:
    """Text of modelDescription.xml of FMI 2.0, in UTF-8."""
    root = _root(about, {"fmiVersion": "2.0", "guid": about.token})
    for tag, attributes in about.interfaces.items():
        interface = etree.SubElement(root, tag, attributes)
        if about.source_file is not None:
            files = etree.SubElement(interface, "SourceFiles")
            etree.SubElement(files, "File", name=about.source_file)
    _units(root, about.units)
    types = _group(root, "TypeDefinitions", about.types)
    for definition in about.types:
        simple = etree.SubElement(types, "SimpleType", name=definition.name)
        _items(etree.SubElement(simple, definition.tag, definition.attributes), definition)
    _common(root, about)
    if about.input_order:
        tool = etree.SubElement(etree.SubElement(root, "VendorAnnotations"), "Tool", name=GENERATOR)
        etree.SubElement(tool, "InputDerivatives", maximumOrder=str(about.input_order))
    listed = etree.SubElement(root, "ModelVariables")
    for variable in about.variables:
        element = etree.SubElement(listed, "ScalarVariable", variable.identity)
        etree.SubElement(element, variable.tag, variable.details)
    structure = etree.SubElement(root, "ModelStructure")
    for tag, unknowns in about.structure:
        group = _group(structure, tag, unknowns)
        for unknown in unknowns:
            etree.SubElement(group, "Unknown", unknown.attributes("index"))
    return encoded(root)


def write_fmi3(about: ExportedDescription) -> bytes:
    """Text of modelDescription.xml of FMI 3.0, in UTF-8."""
    root = _root(about, {"fmiVersion": "3.0", "instantiationToken": about.token})
    for tag, attributes in about.interfaces.items():
        etree.SubElement(root, tag, attributes)
    _units(root, about.units)
    types = _group(root, "TypeDefinitions", about.types)
    for definition in about.types:
        named = {"name": definition.name, **definition.attributes}
        _items(etree.SubElement(types, f"{definition.tag}Type", named), definition)
    _common(root, about)
    listed = etree.SubElement(root, "ModelVariables")
    for variable in about.variables:
        attributes = {**variable.identity, **variable.details}
        element = etree.SubElement(listed, variable.tag, attributes)
        for size in variable.shape:
            etree.SubElement(element, "Dimension", start=str(size))
        for text in variable.texts:
            etree.SubElement(element, "Start", value=text)
    structure = etree.SubElement(root, "ModelStructure")
    for tag, unknowns in about.structure:
        for unknown in unknowns:
            etree.SubElement(structure, tag, unknown.attributes("valueReference"))
    return encoded(root)


def encoded(root: etree._Element) -> bytes:
    """Text of an XML file, in UTF-8."""
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text


def _root(about: ExportedDescription, versioned: dict[str, str]) -> etree._Element:
    if about.indicators is not None:
        versioned["numberOfEventIndicators"] = str(about.indicators)
    convention = "structured" if about.structured else "flat"
    attributes = {
        **versioned,
        "modelName": about.name,
        "generationTool": GENERATOR,
        "variableNamingConvention": convention,
    }
    if about.description:
        attributes["description"] = about.description
    return etree.Element("fmiModelDescription", attributes)


def _group(parent: etree._Element, tag: str, content: Iterable[object]) -> etree._Element:
    """Add an element that FMI wants to have content, if there is some."""
    return etree.SubElement(parent, tag) if content else etree.Element(tag)


def _units(root: etree._Element, units: Sequence[Unit]) -> None:
    definitions = _group(root, "UnitDefinitions", units)
    for unit in units:
        element = etree.SubElement(definitions, "Unit", name=unit.name)
        if unit.base is not None:
            etree.SubElement(element, "BaseUnit", unit.base)
        for attributes in unit.displayed:
            etree.SubElement(element, "DisplayUnit", attributes)


def _items(element: etree._Element, definition: TypeDefinition) -> None:
    for name, value in definition.items:
        etree.SubElement(element, "Item", name=name, value=str(value))


def _common(root: etree._Element, about: ExportedDescription) -> None:
    categories = _group(root, "LogCategories", about.log_categories)
    for name, description in about.log_categories.items():
        etree.SubElement(categories, "Category", name=name, description=description)
    etree.SubElement(root, "DefaultExperiment", about.experiment)
