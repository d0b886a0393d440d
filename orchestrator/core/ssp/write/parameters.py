"""Parameter sets (.ssv) and mappings (.ssm) as files of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.ssp.common.element_names import decoded
from orchestrator.core.ssp.common.files import replacing
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.lexical import real_text
from orchestrator.core.ssp.common.names import NAMESPACES, add, file_text, full
from orchestrator.core.ssp.common.schema import VERSIONS, Schema, check
from orchestrator.core.ssp.write.values import Given, add_parameters
from orchestrator.core.system import SEPARATOR, LinearTransformation, SourceKind, System


@dataclass(frozen=True, slots=True)
class Mapped:
    """Where the value of a parameter comes from.

    Parameters
    ----------
    source
        Name in the parameter set.
    transformation
        What becomes of the value, after its unit is converted.
    """

    source: str
    transformation: LinearTransformation | None = None


def write_parameter_set(
    system: System, path: str | Path, *, name: str | None = None, version: str = "1.0"
) -> None:
    """Write the values of a system and of all that is in it as a parameter set.

    They are called by their hierarchical names, ``arm.motor.k``, as a binding of the whole system
    or ``softdock run --parameters`` takes them.

    Parameters
    ----------
    system
        Its values, and no others, are written, in the units of their connectors.
    path
        The .ssv file.
    name
        Of the set; unless told, the system's.
    version
        Of SSP: ``"1.0"`` or ``"2.0"``, which arrays need.

    Raises
    ------
    DescriptionError
        If it has no values, or this version of SSP cannot hold them: all of them together.
    SspError
        If the file cannot be written; an old one is untouched.
    """
    content = parameter_set(system, name=name, version=version)
    with replacing(Path(path)) as file:
        file.write(content)


def parameter_set(system: System, *, name: str | None = None, version: str = "1.0") -> bytes:
    """Return the text that :func:`write_parameter_set` writes."""
    given = list(_given(system, ""))
    if not given:
        raise DescriptionError(f"system '{system.name}' sets no values: there is nothing to write")
    root = _root(Schema.PARAMETER_VALUES, ("ssv", "ssc"), version)
    root.set("name", system.name if name is None else name)
    add_parameters(root, given, version)
    return _text(root, Schema.PARAMETER_VALUES)


def _given(system: System, prefix: str) -> Iterator[Given]:
    for key, value in system.values.items():
        yield Given(prefix + key, value, system.connectors.get(key))
    for name, component in system.components.items():
        before = prefix + _dotted(name)
        is_fmu = component.source.kind is SourceKind.FMU
        for key, value in component.values.items():
            connector = component.connectors.get(key)
            yield Given(f"{before}.{key}", value, connector, outputs=is_fmu)
    for name, inner in system.systems.items():
        yield from _given(inner, f"{prefix}{_dotted(name)}.")


def _dotted(key: str) -> str:
    """Write the path of an element of a flat system as SSP has it."""
    return ".".join(map(decoded, key.split(SEPARATOR)))


def write_parameter_mapping(
    entries: Mapping[str, str | Mapped], path: str | Path, *, version: str = "1.0"
) -> None:
    """Write a mapping: which parameter gets which value of a parameter set.

    Parameters
    ----------
    entries
        By the hierarchical name of the parameter: the name of the value in the set, or that with a
        transformation. What a mapping does not name is not applied.
    path
        The .ssm file.
    version
        Of SSP.

    Raises
    ------
    DescriptionError
        If there are no entries, or a name is empty.
    SspError
        If the file cannot be written; an old one is untouched.
    """
    if not entries:
        raise DescriptionError(f"{path}: a mapping without entries applies nothing")
    root = _root(Schema.PARAMETER_MAPPING, ("ssm", "ssc"), version)
    for target, found in entries.items():
        mapped = Mapped(found) if isinstance(found, str) else found
        if not (target and mapped.source):
            raise DescriptionError(
                f"{path}: expected names of a parameter and of a value, found '{target}' and"
                f" '{mapped.source}'"
            )
        entry = add(root, "ssm:MappingEntry", source=mapped.source, target=target)
        change = mapped.transformation
        if change is not None:
            texts = real_text(change.factor), real_text(change.offset)
            add(entry, "ssc:LinearTransformation", factor=texts[0], offset=texts[1])
    content = _text(root, Schema.PARAMETER_MAPPING)
    with replacing(Path(path)) as file:
        file.write(content)


def _root(schema: Schema, prefixes: tuple[str, ...], version: str) -> etree._Element:
    if version not in VERSIONS:
        raise DescriptionError(f"expected SSP version {' or '.join(VERSIONS)}, found '{version}'")
    root = etree.Element(full(schema), nsmap={each: NAMESPACES[each] for each in prefixes})
    root.set("version", version)
    return root


def _text(root: etree._Element, schema: Schema) -> bytes:
    findings = Findings(schema.value)
    check(root, schema, findings)
    findings.close()
    return file_text(root)
