"""One reading of a file and of all that it refers to, and what a system has no place for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.archive.sources import Place, file_bytes, inside_of
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import OWN_TYPES, PARENTS
from orchestrator.core.ssp.common.codes import Findings, RefusalError, refusal
from orchestrator.core.ssp.common.names import NAMESPACES, UNDECLARED, full, parse_ssp, tag
from orchestrator.core.ssp.common.schema import LEFT_OUT, Schema, check
from orchestrator.core.structs import MutableStruct, field

#: Systems may contain each other this deep.
DEEPEST: Final = 50
#: Components, systems and buses of a file with all that it refers to.
MOST_ELEMENTS: Final = 20_000


class Reading(MutableStruct):
    """What has been read so far.

    chain: The systems that are being read, each in the one before.
    elements: How many elements of systems there were.
    documents: Roots of all files that the first one refers to.
    dictionaries: Names that signal dictionaries have been given.
    """

    chain: list[str] = field(default_factory=list)
    elements: int = 0
    documents: dict[tuple[str, str], etree._Element] = field(default_factory=dict)
    dictionaries: set[str] = field(default_factory=set)

    def unique(self, dictionary: str) -> str:
        """Return a name for a signal dictionary that no other one has."""
        name, count = dictionary, 1
        while name in self.dictionaries:
            count += 1
            name = f"{dictionary} ({count})"
        self.dictionaries.add(name)
        return name

    @contextmanager
    def within(self, label: str) -> Iterator[None]:
        """Note that a system is being read."""
        if label in self.chain:
            ring = [*self.chain[self.chain.index(label) :], label]
            raise refusal(codes.NESTING, f"systems contain each other: {' -> '.join(ring)}")
        if len(self.chain) >= DEEPEST:
            raise refusal(codes.LIMIT, f"systems are nested more than {DEEPEST} deep")
        self.chain.append(label)
        try:
            yield
        finally:
            self.chain.pop()

    def count(self) -> None:
        """Count an element of a system."""
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise refusal(
                codes.LIMIT,
                f"the system and those that it refers to have more than {MOST_ELEMENTS} elements",
            )

    def document(
        self, source: str, location: Place, schema: Schema, findings: Findings
    ) -> tuple[etree._Element, Findings]:
        """Read and check a file that another refers to, once."""
        path = location.file(source, inside=True)
        other_findings = findings.for_file(location.file_name(source, path))
        return self._root(
            (str(path), ""), partial(file_bytes, path), schema, other_findings
        ), other_findings

    def description(self, content: bytes, findings: Findings) -> etree._Element:
        """Parse and check the text of another SSD, once."""
        key = (findings.label, "")
        if key not in self.documents:
            root = parsed(content, findings.label)
            check_description(root, findings)
            self.documents[key] = root
        return self.documents[key]

    def inner(
        self, source: str, container: Path, schema: Schema, findings: Findings
    ) -> tuple[etree._Element, Findings]:
        """Read and check a file inside of an FMU or an archive, once."""
        other_findings = findings.for_file(f"{container}:{source}")
        read = partial(inside_of, container, source)
        return self._root((str(container), source), read, schema, other_findings), other_findings

    def _root(
        self, key: tuple[str, str], read: Callable[[], bytes], schema: Schema, findings: Findings
    ) -> etree._Element:
        if key not in self.documents:
            content = read()
            try:
                root = parsed(content, findings.label)
                expect_valid(root, schema, findings)
            except RefusalError as refusal:
                raise refusal.of_file(findings.label) from None
            self.documents[key] = root
        return self.documents[key]


def check_description(root: etree._Element, findings: Findings) -> None:
    """Report what is wrong with an SSD as a document, and note what of it is not kept."""
    expect_valid(root, Schema.DESCRIPTION, findings)
    survey(root, findings)


def parsed(content: bytes, label: str) -> etree._Element:
    """Parse XML of unknown origin."""
    try:
        return parse_ssp(content, label)
    except SspError as error:
        raise refusal(codes.MALFORMED, error.diagnostics[0].message) from None


def expect_valid(root: etree._Element, schema: Schema, findings: Findings) -> None:
    """Mend the namespace of a document, report what its schema does not allow, and its encoding."""
    _mend_namespace(root, schema, findings)
    check(root, schema, findings)
    encoding = root.getroottree().docinfo.encoding or "UTF-8"
    if encoding.upper() not in {"UTF-8", "UTF8", "US-ASCII", "ASCII"}:
        findings.warning(codes.ENCODING, root, f"expected UTF-8, found {encoding}", "SSP 2.0, 5")


def _undeclared(root: etree._Element) -> dict[str, str]:
    """Return the namespaces of prefixes that a document does not declare."""
    return {name or "": uri for name, uri in root.nsmap.items() if uri.startswith(UNDECLARED)}


def _mend_namespace(root: etree._Element, schema: Schema, findings: Findings) -> None:
    """Give a document that a tool put nearly into the namespace of SSP, or into none, that one."""
    for prefix, uri in sorted(_undeclared(root).items()):
        findings.warning(codes.NAMESPACE, root, f"the prefix '{prefix}' is not declared")
        for element in root.iter(f"{{{uri}}}*") if prefix in NAMESPACES else ():
            element.tag = f"{{{NAMESPACES[prefix]}}}{etree.QName(element).localname}"
    expected = etree.QName(full(schema))
    actual = etree.QName(root)
    near = (actual.namespace or "").replace("/SSP1/", "/SSP1/SystemStructure")
    if actual.localname != expected.localname or near != expected.namespace:
        return
    findings.warning(
        codes.NAMESPACE,
        root,
        f"expected the namespace {expected.namespace}, found {actual.namespace}",
    )
    for element in root.iter(f"{{{actual.namespace}}}*"):
        element.tag = f"{{{expected.namespace}}}{etree.QName(element).localname}"


_METADATA: Final = frozenset(
    ("id", "author", "fileversion", "copyright", "license", "generationDateAndTime", "description")
)
_DESCRIBED: Final = {"ssd:System", "ssd:Connector"}
_PREFIXES: Final = {"ssd", "ssc", "ssv", "ssm", "ssb"}

_Code = TypeVar("_Code", bound=Code | str)
#: A code, what was found, and where.
Found = tuple[_Code, str, etree._Element]  # noqa: SLF001 - lxml's own name of its type


def survey(root: etree._Element, findings: Findings) -> None:
    """Note what is not kept in a system, each kind once; report annotations that are not known."""
    for code, kind, element in kinds_of(_left_out(root, findings)):
        findings.note(code, element, kind)


def kinds_of(findings: Iterable[Found[_Code]]) -> Iterator[Found[_Code]]:
    """Join what is found alike at several elements: it stands at the first."""
    elements_by_kind: dict[tuple[_Code, str], list[etree._Element]] = {}
    for code, kind, element in findings:
        elements_by_kind.setdefault((code, kind), []).append(element)
    for (code, kind), elements in elements_by_kind.items():
        times = f", {len(elements)} times" if len(elements) > 1 else ""
        yield code, kind + times, elements[0]


def _left_out(root: etree._Element, findings: Findings) -> Iterator[Found[Code]]:
    tags_kept: set[str] = set()  # tags as lxml has them, of elements that a system has a place for
    inside: set[etree._Element] = set()  # of elements that are left out with all that is in them
    for here in root.iter(etree.Element):
        if (here.tag in tags_kept and _METADATA.isdisjoint(here.keys())) or here in inside:
            continue
        name = tag(here)
        if name in LEFT_OUT:
            yield LEFT_OUT[name], name, here
        elif name == "ssc:Annotation":
            yield from _annotation(here, findings)
        elif name.partition(":")[0] not in _PREFIXES:
            yield codes.FOREIGN, f"element {name}", here
        else:
            tags_kept.add(here.tag)
            for attribute in sorted(_METADATA.intersection(here.keys())):
                if attribute != "description" or name not in _DESCRIBED:
                    yield codes.METADATA, f"{attribute} of {name}", here
            continue
        inside.update(here.iterdescendants())


def _annotation(element: etree._Element, findings: Findings) -> Iterator[Found[Code]]:
    kind = element.get("type", "")
    above = "".join(map(tag, islice(element.iterancestors(), 1, 2)))  # that its group stands in
    if not kind.startswith(OWN_TYPES):
        yield codes.ANNOTATION, f"annotation '{kind}' of {above}", element
    elif kind not in PARENTS:
        findings.error(
            codes.OWN,
            element,
            f"unknown annotation '{kind}'; Softdock's are {', '.join(PARENTS)}",
        )
    elif above not in PARENTS[kind]:
        findings.error(
            codes.OWN,
            element,
            f"annotation '{kind}' stands in {above}; expected {' or '.join(PARENTS[kind])}",
        )
