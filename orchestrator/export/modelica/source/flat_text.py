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
            value = _RENAMED.sub(lambda match: self.names.get(match[0], match[0]), value)
            return value.replace(_DOLLAR, "$")
        if isinstance(value, dict):
            return {self.original(key): self.original(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.original(item) for item in value]
        return value


def plain_text(text: str) -> PlainText:
    """Read a flat class, in quotes or not.

    Raises ModelicaError: if there is no class in it.
    """
    stripped = text.strip()
    if stripped.startswith('"') and stripped.endswith('"'):  # as omc prints values
        text = _ESCAPED.sub(lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), stripped)
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
        word, last = [definition for definition in classes if definition[0].text != "type"][-1]
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
        position = self.listed[0].start
        self.edits.append((position, position, types))
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
        numbered, at = "", 0
        for match in _INDICES.finditer(name):
            before = name[: match.start()]
            listed = match[1].split(",")
            for position, index in enumerate(listed):
                if not index.strip().isdecimal():
                    listed[position] = str(self._ordinal(before, position, index))
            numbered += name[at : match.start()] + f"[{','.join(listed)}]"
            at = match.end()
        return numbered + name[at:]

    def _enumerations(self) -> set[tuple[str, ...]]:
        """Items of all enumerations in the text."""
        enumerations = set()
        for position, token in enumerate(self.listed):
            if token.text == "enumeration" and self._text(position + 1) == "(":
                inside = self.listed[position + 2 : closing(self.listed, position + 1) - 1]
                enumerations.add(
                    tuple(inner_token.text for inner_token in inside if inner_token.kind == "name")
                )
        return enumerations

    def _ordinal(self, before: str, position: int, index: str) -> int:
        """Number of an item that is an index, by its enumeration or by the order of elements."""
        indices: dict[str, None] = {}
        for declared in map(_unquoted, self.declared):
            match = _INDICES.match(declared, len(before)) if declared.startswith(before) else None
            if match is not None and position < len(match[1].split(",")):
                indices[match[1].split(",")[position]] = None
        if index in {"false", "true"}:
            return 1 + (index == "true")
        items = [index.rpartition(".")[2] for index in indices]
        types = [items_known for items_known in self._enumerations() if {*items} <= {*items_known}]
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
        for wrapper in self.wrappers:
            self._replace(wrapper, wrapper + 1, name)
        return name

    def _replace(self, first: int, after: int, new: str) -> None:
        """Let something else stand for the tokens from one up to another."""
        self.edits.append((self.listed[first].start, self.listed[after - 1].end, new))

    def _classes(self) -> Iterator[tuple[Token, _Path]]:
        depth = 0
        for position, token in enumerate(self.listed[:-1]):
            depth += nesting(token)
            before = self.listed[position - 1].text if position else ";"
            following = self.listed[position + 1]
            is_named = following.kind == "name" and following.text not in CLASS_WORDS
            if depth == 0 and token.text in CLASS_WORDS and before != "end" and is_named:
                yield token, self._path(position + 1)

    def _path(self, position: int) -> _Path:
        """The name that begins at a token; subscripts belong to it, but not after quotes."""
        parts: list[tuple[str, int]] = []
        name, at = "", position
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
                return _Path(position, tuple(parts))
            name += "."
            at += 1

    def _text(self, position: int) -> str:
        return self.listed[position].text if position < len(self.listed) else ""

    def _statements(self, position: int) -> Iterator[int]:
        """Where declarations of the last class begin."""
        if position < len(self.listed) and self.listed[position].kind == "text":
            position += 1
        while position < len(self.listed) and self.listed[position].text not in _SECTIONS:
            yield position
            while self._text(position) not in (";", ""):
                is_open = self.listed[position].text in OPENING
                position = closing(self.listed, position) if is_open else position + 1
            position += 1

    def _declare(self, position: int) -> None:
        """Take in a component; ``protected`` is that of its declaration alone."""
        begin, is_directed = self.listed[position], False
        if begin.text in CLASS_WORDS:  # a type that is declared in the class
            self.declared[self._path(position + 1).name] = None
            return
        while self._text(position) in _PREFIXES:
            is_directed |= self._text(position) in ("input", "output")
            position += 1
        if begin.text != "protected":
            self.edits.append((begin.start, begin.start, "public "))
        kind = ""
        if self._text(position) == "enumeration" and self._text(position + 1) == "(":
            end = closing(self.listed, position + 1)
            items = tuple(t.text for t in self.listed[position + 2 : end - 1] if t.kind == "name")
            name = self.enumerations.setdefault(items, f"flat_enumeration_{len(self.enumerations)}")
            self._replace(position, end, name)
            position, kind = end, name
        elif self.listed[position].kind == "name":
            position = self._path(position).after
        if position < len(self.listed) and self.listed[position].kind == "name":
            name = self._path(position).name
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

    def _array_value(self, base: str) -> str:
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
        position, last = 0, _Path(0, (("", 0),))
        paths: list[_Path] = []
        owners: dict[str, str] = {}  # enumerations by what stands before their items
        while position < len(self.listed):
            token = self.listed[position]
            within = self._text(position - 1) == "." and not token.text.startswith("'")
            if token.kind != "name" or within or position in self.wrappers:
                position += 1
                continue
            path = self._path(position)
            self._note_owner(last, path, owners)
            last = path
            declared = self.declared.keys() if position >= self.begin else self.classes
            declared_parts = [part for part in path.parts if part[0] in declared]
            if path.name in self.arrays and position >= self.begin:
                self._replace(position, path.after, self._array_value(path.name))
                position = path.after
                continue
            name, after = declared_parts[-1] if declared_parts else (token.text, position + 1)
            if declared_parts or token.text.startswith("'"):
                self._replace(position, after, self._new(name))
            elif "." in path.name:
                paths.append(path)
            position = after
        self._name_items(paths, owners)

    def _name_items(self, paths: Sequence[_Path], owners: Mapping[str, str]) -> None:
        """Name the enumeration of each item."""
        literals: dict[str, set[str]] = defaultdict(set)  # used, by what stands before
        for path in paths:
            owner, _, item = path.name.rpartition(".")
            literals[owner].add(item)
        for path in paths:
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
