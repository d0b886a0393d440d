"""Flat Modelica, as OpenModelica prints it, in words that rumoca takes.

``instantiateModel`` prints components as ``a.b[1].c``, Base Modelica (MCP-0031) as ``'a.b[1].c'``.
Both become identifiers here, and names of the model again in what rumoca makes of them. Lines stay
where they are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct
from orchestrator.export.modelica.source.text import (
    CLASS_WORDS,
    OPENING,
    ModelicaText,
    Token,
    closing,
    edited,
    nesting,
    tokens,
)

_SECTIONS = frozenset(("equation", "algorithm", "initial", "end", "annotation", "external"))
_PREFIXES = frozenset(("protected", "public", "final", "parameter", "constant", "discrete"))
_PREFIXES |= {"input", "output", "flow", "stream", "inner", "outer"}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NAMED, _DOLLAR = "flat_name_", "flat_dollar_"
_RENAMED = re.compile(rf"{_NAMED}\d+\b")
_INDICES = re.compile(r"\[([^\]]*)\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class PlainText(Struct):
    """A flat class whose names are identifiers.

    model, title: Name of its last class in ``text``, and as it was written.
    directed: Components with inputs and outputs in them, which are those of the model.
    """

    text: str
    model: str
    title: str
    names: Mapping[str, str]
    directed: frozenset[str]

    def original(self, value: Any) -> Any:
        """Names of the model in a text, or everywhere in a tree of JSON."""
        if isinstance(value, str):
            value = _RENAMED.sub(lambda found: self.names.get(found[0], found[0]), value)
            return value.replace(_DOLLAR, "$")
        if isinstance(value, dict):
            return {self.original(key): self.original(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.original(each) for each in value]
        return value


def plain_text(text: str) -> PlainText:
    """Read a flat class, in quotes or not.

    Raises ModelicaError: if there is no class in it.
    """
    stripped = text.strip()
    if stripped.startswith('"') and stripped.endswith('"'):  # as omc prints values
        text = _ESCAPED.sub(lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), stripped)
        text = text[1:-1]
    return _Renaming(re.sub(r"\$(?=\w)", _DOLLAR, text)).run()


def read_flat(file: Path) -> PlainText:
    """Read the flat class of a file.

    Raises ModelicaError: if it is no text, or has no class.
    """
    source = ModelicaText(file).source
    try:
        return plain_text(source)
    except ModelicaError as error:
        raise ModelicaError(f"'{file}': {error}") from error


class _Path(Struct):
    """``a.b[1].c``: where it begins, and each part with its subscripts."""

    first: int
    parts: tuple[tuple[str, int], ...]  # text up to here, and the token after it

    @property
    def name(self) -> str:
        return self.parts[-1][0]

    @property
    def after(self) -> int:
        return self.parts[-1][1]


@dataclass
class _Renaming:
    text: str
    listed: list[Token] = field(init=False)
    declared: dict[str, None] = field(default_factory=dict)  # in the order of the text
    enumerations: dict[tuple[str, ...], str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    arrays: dict[str, list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)
    directed: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)  # enumerations of components
    classes: frozenset[str] = frozenset()
    begin: int = 0  # of the last class
    wrappers: set[int] = field(default_factory=set)  # tokens that name the package around all

    def __post_init__(self) -> None:
        self.listed = tokens(self.text)

    def run(self) -> PlainText:
        """Declarations first, then every name."""
        classes = list(self._classes())
        if all(word.text == "type" for word, _ in classes):
            raise ModelicaError("there is no class in it; expected flat Modelica")
        word, last = [each for each in classes if each[0].text != "type"][-1]
        self.declared |= dict.fromkeys(path.name for _, path in classes)
        self.classes = frozenset(self.declared)
        self.begin = last.first
        for statement in self._statements(last.after):
            self._declare(statement)
        self._find_arrays()
        owner = self._wrapped(classes)
        self._rename_all()
        if word.text == "class":
            self.edits.append((word.start, word.end, "model"))
        types = "".join(
            f"type {name} = enumeration({', '.join(items)}); "
            for items, name in self.enumerations.items()
        )
        place = self.listed[0].start
        self.edits.append((place, place, types))
        model = self._new(last.name)
        return PlainText(
            edited(self.text, self.edits),
            f"{owner}.{model}" if owner else model,
            last.name.strip("'"),
            {new: self._numbered(_unquoted(old)) for old, new in self.names.items()},
            frozenset(self.directed),
        )

    def _numbered(self, name: str) -> str:
        """``x[E.B]`` as ``x[2]``: names of FMI have numbers as indices."""
        found, at = "", 0
        for match in _INDICES.finditer(name):
            before = name[: match.start()]
            listed = match[1].split(",")
            for place, index in enumerate(listed):
                if not index.strip().isdecimal():
                    listed[place] = str(self._ordinal(before, place, index))
            found += name[at : match.start()] + f"[{','.join(listed)}]"
            at = match.end()
        return found + name[at:]

    def _enumerations(self) -> set[tuple[str, ...]]:
        """Items of all enumerations in the text."""
        found = set()
        for place, token in enumerate(self.listed):
            if token.text == "enumeration" and self._text(place + 1) == "(":
                inside = self.listed[place + 2 : closing(self.listed, place + 1) - 1]
                found.add(tuple(each.text for each in inside if each.kind == "name"))
        return found

    def _ordinal(self, before: str, place: int, index: str) -> int:
        """Number of an item that is an index, by its enumeration or by the order of elements."""
        indices: dict[str, None] = {}
        for declared in map(_unquoted, self.declared):
            match = _INDICES.match(declared, len(before)) if declared.startswith(before) else None
            if match is not None and place < len(match[1].split(",")):
                indices[match[1].split(",")[place]] = None
        if index in {"false", "true"}:
            return 1 + (index == "true")
        items = [each.rpartition(".")[2] for each in indices]
        types = [known for known in self._enumerations() if {*items} <= {*known}]
        order = list(types[0]) if len(types) == 1 else items
        return order.index(index.rpartition(".")[2]) + 1

    def _wrapped(self, classes: list[tuple[Token, _Path]]) -> str:
        """The package around all classes, which may be called as the model is."""
        (word, path), name = classes[0], "flat_package"
        if word.text != "package" or len(classes) == 1:
            return ""
        ends = [i for i, token in enumerate(self.listed[:-1]) if token.text == "end"]
        if not ends:
            raise ModelicaError(f"package {path.name} has no end")
        self.wrappers = {path.first, ends[-1] + 1}
        for place in self.wrappers:
            self._replace(place, place + 1, name)
        return name

    def _replace(self, first: int, after: int, new: str) -> None:
        """Let something else stand for the tokens from one up to another."""
        self.edits.append((self.listed[first].start, self.listed[after - 1].end, new))

    def _classes(self) -> Iterator[tuple[Token, _Path]]:
        depth = 0
        for place, token in enumerate(self.listed[:-1]):
            depth += nesting(token)
            before = self.listed[place - 1].text if place else ";"
            following = self.listed[place + 1]
            named = following.kind == "name" and following.text not in CLASS_WORDS
            if depth == 0 and token.text in CLASS_WORDS and before != "end" and named:
                yield token, self._path(place + 1)

    def _path(self, place: int) -> _Path:
        """The name that begins at a token; subscripts belong to it, but not after quotes."""
        parts: list[tuple[str, int]] = []
        name, at = "", place
        while True:
            name += self.listed[at].text
            quoted = self.listed[at].text.startswith("'")
            at += 1
            parts.append((name, at))
            if not quoted and self._text(at) == "[":
                end = closing(self.listed, at)
                name += "".join(token.text for token in self.listed[at:end])
                at = end
                parts.append((name, at))
            following = self.listed[at + 1 : at + 2]
            if self._text(at) != "." or not following or following[0].kind != "name":
                return _Path(place, tuple(parts))
            name += "."
            at += 1

    def _text(self, place: int) -> str:
        return self.listed[place].text if place < len(self.listed) else ""

    def _statements(self, place: int) -> Iterator[int]:
        """Where declarations of the last class begin."""
        if place < len(self.listed) and self.listed[place].kind == "text":
            place += 1
        while place < len(self.listed) and self.listed[place].text not in _SECTIONS:
            yield place
            while self._text(place) not in (";", ""):
                is_open = self.listed[place].text in OPENING
                place = closing(self.listed, place) if is_open else place + 1
            place += 1

    def _declare(self, place: int) -> None:
        """Take in a component; ``protected`` is that of its declaration alone."""
        begin, is_directed = self.listed[place], False
        if begin.text in CLASS_WORDS:  # a type that is declared in the class
            self.declared[self._path(place + 1).name] = None
            return
        while self._text(place) in _PREFIXES:
            is_directed |= self._text(place) in ("input", "output")
            place += 1
        if begin.text != "protected":
            self.edits.append((begin.start, begin.start, "public "))
        kind = ""
        if self._text(place) == "enumeration" and self._text(place + 1) == "(":
            end = closing(self.listed, place + 1)
            items = tuple(t.text for t in self.listed[place + 2 : end - 1] if t.kind == "name")
            name = self.enumerations.setdefault(items, f"flat_enumeration_{len(self.enumerations)}")
            self._replace(place, end, name)
            place, kind = end, name
        elif self.listed[place].kind == "name":
            place = self._path(place).after
        if place < len(self.listed) and self.listed[place].kind == "name":
            name = self._path(place).name
            self.declared[name] = None
            if kind:
                self.kinds[name] = kind
            if is_directed:
                self.directed.add(re.split(r"[.\[]", _unquoted(name))[0])

    def _find_arrays(self) -> None:
        """Tell elements ``x[1]``, .. of an array from ``x[3]`` that is one of that size."""
        for name in [name for name in self.declared if name.endswith("]")]:
            base, _, indices = name[:-1].rpartition("[")
            self.arrays.setdefault(base, []).append((tuple(indices.split(",")), name))
        for base, elements in list(self.arrays.items()):
            if len(elements) == 1 and set(elements[0][0]) != {"1"}:
                del self.declared[elements[0][1]]
                self.declared[base] = None
                del self.arrays[base]

    def _whole(self, base: str) -> str:
        """All elements of an array as one value."""

        def nested(elements: list[tuple[tuple[str, ...], str]]) -> str:
            if not elements[0][0]:
                return self._new(elements[0][1])
            groups: dict[str, list[tuple[tuple[str, ...], str]]] = {}
            for indices, name in elements:
                groups.setdefault(indices[0], []).append((indices[1:], name))
            return "{" + ", ".join(map(nested, groups.values())) + "}"

        return nested(self.arrays[base])

    def _rename_all(self) -> None:
        place, last = 0, _Path(0, (("", 0),))
        found: list[_Path] = []
        owners: dict[str, str] = {}  # enumerations by what stands before their items
        while place < len(self.listed):
            token = self.listed[place]
            within = self._text(place - 1) == "." and not token.text.startswith("'")
            if token.kind != "name" or within or place in self.wrappers:
                place += 1
                continue
            path = self._path(place)
            self._note_owner(last, path, owners)
            last = path
            declared = self.declared.keys() if place >= self.begin else self.classes
            known = [part for part in path.parts if part[0] in declared]
            if path.name in self.arrays and place >= self.begin:
                self._replace(place, path.after, self._whole(path.name))
                place = path.after
                continue
            name, after = known[-1] if known else (token.text, place + 1)
            if known or token.text.startswith("'"):
                self._replace(place, after, self._new(name))
            elif "." in path.name:
                found.append(path)
            place = after
        self._name_items(found, owners)

    def _name_items(self, found: Sequence[_Path], owners: Mapping[str, str]) -> None:
        """Name the enumeration of each item."""
        literals: dict[str, set[str]] = defaultdict(set)  # used, by what stands before
        for path in found:
            owner, _, item = path.name.rpartition(".")
            literals[owner].add(item)
        for path in found:
            owner, _, item = path.name.rpartition(".")
            types = [
                name for items, name in self.enumerations.items() if literals[owner] <= {*items}
            ]
            if owner in owners:
                types = [owners[owner]]
            if len(types) > 1:
                raise ModelicaError(
                    f"line {self.listed[path.first].line}: '{path.name}' may be of several"
                    f" enumerations that have an item '{item}', and flat Modelica does not say of"
                    " which"
                )
            if types:
                self._replace(path.first, path.after, f"{types[0]}.{item}")

    def _note_owner(self, last: _Path, path: _Path, owners: dict[str, str]) -> None:
        """Take down of which enumeration an item is that a component is compared with."""
        between = "".join(token.text for token in self.listed[last.after : path.first])
        if between in {"=", "==", "<>", ":="} and last.name in self.kinds:
            owners.setdefault(path.name.rpartition(".")[0], self.kinds[last.name])

    def _new(self, name: str) -> str:
        """An identifier for a name that is none; one in quotes may be one."""
        if _IDENTIFIER.fullmatch(name):
            return name
        return self.names.setdefault(_unquoted(name), f"{_NAMED}{len(self.names)}")


def _unquoted(name: str) -> str:
    """``'a.b'`` as ``a.b``."""
    if name.startswith("'") and name.endswith("'") and name.count("'") - name.count("\\'") == 2:
        return _ESCAPED.sub(r"\1", name[1:-1])
    return name
