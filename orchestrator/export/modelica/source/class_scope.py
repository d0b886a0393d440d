"""What Modelica classes declare, and what they are where they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property

from orchestrator.core.structs import MutableStruct, Struct, field, replace
from orchestrator.export.modelica.source.text import Token


class SourcePlace(Struct):
    """A stretch of a source file, in bytes; ``source`` is rumoca's number of the file."""

    source: int
    start: int
    end: int

    def meets(self, span: object) -> bool:
        """Whether a span of rumoca's flat model lies here, in part at least."""
        return (
            isinstance(span, dict)
            and span["source"] == self.source
            and span["start"] < self.end
            and span["end"] > self.start
        )

    @property
    def span(self) -> dict[str, int]:
        """As rumoca writes it."""
        return {"source": self.source, "start": self.start, "end": self.end}


class Value(Struct):
    """What stands behind ``=``."""

    tokens: Sequence[Token]
    location: SourcePlace

    @property
    def text(self) -> str:
        """Its tokens, without blanks."""
        return "".join(token.text for token in self.tokens)


class Argument(Struct):
    """One argument of a modification: ``a(k = 2)``, ``a.b = 3`` or ``redeclare ..``.

    prefixes: ``each`` and ``final``.
    """

    path: tuple[str, ...]
    location: SourcePlace
    value: Value | None = None
    inner: tuple[Argument, ...] = ()
    redeclared: Element | None = None
    prefixes: frozenset[str] = frozenset()


def all_arguments(arguments: Sequence[Argument]) -> Iterator[Argument]:
    """Arguments, and those inside of them."""
    for argument in arguments:
        yield argument
        yield from all_arguments(argument.inner)


class ElementKind(Enum):
    """What an element of a class is."""

    EXTENDS = "extends"
    COMPONENT = "component"
    CLASS = "class"
    IMPORT = "import"


class Element(Struct, eq=False):
    """One element of a class.

    name: Of the component or class; of an import the name that it gives, ``*`` for all.
    type_name: Class that is extended, imported, or of which the component is.
    conditional, is_array: Whether instances of it may be missing, and whether there may be several.
    dims: What stands between commas of its subscripts: of an array component those behind its type
        come last.
    constraint, constraint_name: Arguments and class of ``constrainedby C(..)``; None and empty
        without such a clause.
    protected: It stands in a protected section.
    declared: The class, of an element that is one.
    sizes: The same subscripts as ``dims``, with their places.
    condition: What stands behind ``if`` of a conditional component.
    comment: The description, as it is written.
    evaluated: Its annotation says ``Evaluate = true``.
    """

    kind: ElementKind
    name: str
    location: SourcePlace
    type_name: str = ""
    arguments: tuple[Argument, ...] = ()
    value: Value | None = None
    prefixes: frozenset[str] = frozenset()
    conditional: bool = False
    is_array: bool = False
    constraint: tuple[Argument, ...] | None = None
    declared: ClassTree | None = None
    dims: tuple[str, ...] = ()
    constraint_name: str = ""
    protected: bool = False
    sizes: tuple[Value, ...] = ()
    condition: Value | None = None
    comment: str = ""
    evaluated: bool = False


class CodeSection(Struct):
    """Equations or statements as they are written; ``word`` is ``equation`` or ``algorithm``."""

    word: str
    initial: bool
    tokens: Sequence[Token]
    source: int


class ClassTree(MutableStruct, eq=False):
    """A class as it is written; a short one, ``model A = B(..)``, extends what it names.

    word: ``model``, ``package``, ``function`` and so on.
    builtin: An enumeration, or what else has no elements.
    literals: What stands between the brackets of an enumeration or of ``der(f, x)``.
    derivative: A function that is the partial derivative of another one.
    external: The clause of an external function.
    builtin_function: The built-in function that this clause names.
    annotation: What stands between the brackets of the annotation of the class.
    comment: The description, as it is written.
    extending: ``function extends f``: it extends the inherited class of its name.
    """

    name: str
    word: str
    location: SourcePlace
    prefixes: frozenset[str] = frozenset()
    elements: list[Element] = field(default_factory=list)
    sections: list[CodeSection] = field(default_factory=list)
    builtin: bool = False
    short: bool = False
    literals: Sequence[Token] = ()
    derivative: bool = False
    external: SourcePlace | None = None
    builtin_function: str = ""
    annotation: Sequence[Token] = ()
    comment: str = ""
    extending: bool = False

    def extends(self) -> list[Element]:
        """Bases, in order."""
        return [element for element in self.elements if element.kind is ElementKind.EXTENDS]


_PREDEFINED = frozenset(
    ("Real", "Integer", "Boolean", "String", "Clock", "ExternalObject", "StateSelect")
)
#: Prefixes that a redeclaration without any has from the original (Modelica 3.6, section 7.3).
_KEPT = frozenset(
    ("flow", "stream", "input", "output", "parameter", "constant", "discrete", "inner", "outer")
)
_OWN = frozenset((ElementKind.COMPONENT, ElementKind.CLASS))


class Redeclared(Struct):
    """What takes an element's place, where that is written and where its names are looked up.

    ``before`` is the redeclaration that it takes the place of.
    """

    element: Element
    scope: ClassScope
    by_extends: bool
    depth: int
    before: Redeclared | None = None


class Changes(MutableStruct):
    """All modifications of one element, merged: the outermost wins.

    location: Where the winning value or redeclaration is written.
    origin: Class in which the names of the value are looked up.
    prefixes: ``each`` and ``final`` of the value.
    """

    value: Value | None = None
    inner: dict[str, Changes] = field(default_factory=dict)
    redeclared: Redeclared | None = None
    location: SourcePlace | None = None
    origin: ClassScope | None = None
    prefixes: frozenset[str] = frozenset()

    def at(self, name: str) -> Changes:
        """Those of an element inside."""
        return self.inner.get(name) or Changes()


def merge(outer: Changes, *others: Changes) -> Changes:
    """Merge modifications; earlier ones win."""
    for inner in others:
        names = {**outer.inner, **inner.inner}
        redeclared = outer.redeclared
        if redeclared and redeclared.before is None and inner.redeclared is not redeclared:
            redeclared = replace(redeclared, before=inner.redeclared)
        valued = outer if outer.value else inner
        outer = Changes(
            valued.value,
            {name: merge(outer.at(name), inner.at(name)) for name in names},
            redeclared or inner.redeclared,
            outer.location or inner.location,
            valued.origin,
            valued.prefixes,
        )
    return outer


def changes_of(
    arguments: Sequence[Argument], scope: ClassScope, *, by_extends: bool = False, depth: int = 1
) -> Changes:
    """The arguments of a modification that is written in a scope."""
    changes = Changes()
    for argument in arguments:
        inner = changes_of(argument.inner, scope, by_extends=by_extends, depth=depth + 1)
        change = Changes(
            argument.value, inner.inner, None, argument.location, scope, argument.prefixes
        )
        if argument.redeclared:
            change.redeclared = Redeclared(argument.redeclared, scope, by_extends, depth)
        for name in reversed(argument.path):
            change = Changes(None, {name: change})
        changes = merge(changes, change)
    return changes


def is_redeclaration(element: Element) -> bool:
    """Whether an element of a class takes the place of an inherited one."""
    return element.kind in _OWN and "redeclare" in element.prefixes


class ClassMember(Struct):
    """A component or class of a class: where it was declared, and how it is modified."""

    element: Element
    owner: ClassScope
    changes: Changes

    def changed(self) -> tuple[Element, ClassScope, Changes]:
        """What it is after redeclaration, the scope of its names, all modifications of it."""
        element, redeclared = self.element, self.changes.redeclared
        bare = replace(self.changes, redeclared=None)
        declared = _declared(element, self.owner)
        constraint = changes_of(element.constraint or (), self.owner)
        if redeclared is None:
            return element, self.owner, _with_constraint(element, bare, declared, constraint)
        if element.constraint is None:  # the type of the declaration is the constraint
            constraint = declared
        new = redeclared.element
        if element.prefixes & _KEPT and not new.prefixes & _KEPT:
            new = replace(new, prefixes=new.prefixes | (element.prefixes & _KEPT))
        declared = _declared(new, redeclared.scope)
        return new, redeclared.scope, _with_constraint(new, bare, declared, constraint)


def _with_constraint(
    element: Element, changes: Changes, declared: Changes, constraint: Changes
) -> Changes:
    """All modifications of an element; a short class has those of its declaration itself."""
    if element.kind is ElementKind.CLASS and not constraint.inner:
        return changes
    return merge(changes, declared, constraint)


def _declared(element: Element, scope: ClassScope) -> Changes:
    """Modifications in a declaration: of a component, or of what a short class extends."""
    arguments = element.arguments
    if element.declared is not None and element.declared.short and element.declared.extends():
        arguments = element.declared.extends()[0].arguments
    return Changes(element.value, changes_of(arguments, scope).inner, origin=scope)


class ClassScope:
    """A class with the modifications that hold where it is used.

    tree: The class.
    outer: The class around it; None at the top.
    changes: Modifications of its elements.
    find_top: Finds a class by its full name.
    """

    def __init__(
        self,
        tree: ClassTree,
        outer: ClassScope | None,
        changes: Changes,
        find_top: Callable[[str], ClassScope | None],
    ) -> None:
        self.tree = tree
        self.outer = outer
        self.given = changes
        self.changes = changes  # of a predefined type those of its declaration as well
        self.find_top = find_top
        self.components: dict[str, ClassMember] = {}
        self.classes: dict[str, ClassMember] = {}
        self.bases: list[ClassScope] = []
        self.hidden: set[str] = set()  # protected elements
        self.predefined = tree.builtin
        self.primitive = tree.name if tree.builtin else ""  # which predefined type it is
        self.twice: list[tuple[ClassMember, ClassMember]] = []  # elements of one name
        self.complete = True  # all bases have been found
        self.extended_by: tuple[ClassTree, ...] = ()  # classes of which it is a base
        self._expanded = False
        self._whole = False  # expanded to the end
        self._inside: dict[tuple[str, bool], ClassScope | None] = {}

    @cached_property
    def name(self) -> str:
        """Full name."""
        return f"{self.outer.name}.{self.tree.name}" if self.outer else self.tree.name

    def with_changes(self, changes: Changes) -> ClassScope:
        """The class, modified further."""
        return ClassScope(self.tree, self.outer, merge(changes, self.given), self.find_top)

    def of(self, tree: ClassTree) -> ClassScope:
        """A class that is written here, without modifications."""
        return ClassScope(tree, self, Changes(), self.find_top)

    def expand(self) -> ClassScope:
        """Find bases and members; afterwards the attributes say them."""
        if self._expanded:
            return self
        self._expanded = True
        redeclaring = Changes()
        for element in self.tree.elements:
            member = ClassMember(element, self, self.changes.at(element.name))
            if element.protected and element.name:
                self.hidden.add(element.name)
            if is_redeclaration(element):
                new = Redeclared(element, self, by_extends=True, depth=1)
                change = Changes(None, {}, new, element.location)
                redeclaring = merge(redeclaring, Changes(None, {element.name: change}))
            elif element.kind is ElementKind.COMPONENT:
                self.components.setdefault(element.name, member)
            elif element.kind is ElementKind.CLASS:
                self.classes.setdefault(element.name, member)
        around = self.outer if self.tree.short and self.outer is not None else self
        for element in self.tree.extends():
            modifiers = changes_of(element.arguments, around, by_extends=True)
            self._inherit(element, merge(self.changes, redeclaring, modifiers))
        self._whole = True
        return self

    def _inherit(self, element: Element, changes: Changes) -> None:
        if element.type_name in _PREDEFINED:
            self.predefined = True
            self.primitive = element.type_name
            self.changes = changes
            return
        kind = self._before() if self.tree.extending else None
        kind = kind or self.find(element.type_name, inherited=False)
        if kind is None or kind.tree is self.tree or kind.tree in self.extended_by:
            self.complete = False
            return
        base = kind.with_changes(changes)
        base.extended_by = (*self.extended_by, self.tree)
        base.expand()
        self.bases.append(base)
        names = {*base.components, *base.classes} if element.protected else base.hidden
        self.hidden |= names - {e.name for e in self.tree.elements if e.kind in _OWN}
        self.complete &= base.complete
        self.predefined |= base.predefined
        self.twice += base.twice
        if base.predefined:
            self.changes = base.changes
            self.primitive = base.primitive
        for own, inherited in ((self.components, base.components), (self.classes, base.classes)):
            for name, member in inherited.items():
                first = own.setdefault(name, member)
                extending = first.element.declared is not None and first.element.declared.extending
                if first.element is not member.element and not extending:
                    self.twice.append((first, member))

    def _before(self) -> ClassScope | None:
        """The class that a ``model extends M`` extends; with ``redeclare`` it takes its place."""
        member = self.outer.expand().classes.get(self.tree.name) if self.outer else None
        if self.outer is not None and member is not None and member.element.declared is self.tree:
            inherited = (base.local(self.tree.name) for base in self.outer.bases)
            return next((scope for scope in inherited if scope is not None), None)
        redeclared = member.changes.redeclared if member else None
        while redeclared is not None and redeclared.element.declared is not self.tree:
            redeclared = redeclared.before
        if member is None or redeclared is None:
            return None
        changes = replace(member.changes, redeclared=redeclared.before)
        element, scope, merged = replace(member, changes=changes).changed()
        if element.declared is None:
            return None
        return ClassScope(element.declared, scope, merged, self.find_top)

    def locations(self) -> Iterator[SourcePlace]:
        """Where the text of the class and of its bases stands."""
        yield self.tree.location
        for base in self.bases:
            yield from base.locations()

    def find(self, name: str, *, inherited: bool = True) -> ClassScope | None:
        """Look a class up as Modelica does (section 5.3); None where it is not found."""
        if name.startswith("."):
            return self.find_top(name[1:])
        first, _, inner_name = name.partition(".")
        scope: ClassScope | None = self
        scope_found = None
        while scope is not None and scope_found is None:
            scope_found = scope.local(first, inherited=inherited) or scope.imported(first)
            scope, inherited = scope.outer, True
        scope_found = scope_found or self.find_top(first)
        for part in inner_name.split(".") if inner_name else ():
            scope_found = scope_found and scope_found.local(part)
        return scope_found

    def local(self, name: str, *, inherited: bool = True) -> ClassScope | None:
        """A class inside this one."""
        if inherited:
            self.expand()
        key = (name, inherited)
        if key not in self._inside:
            self._inside[key] = None  # against classes that are looked for in themselves
            self._inside[key] = inner = self._local(name, inherited=inherited)
            if inner is None and not self._whole:
                del self._inside[key]  # a base may still bring it
            return inner
        return self._inside[key]

    def _local(self, name: str, *, inherited: bool) -> ClassScope | None:
        member = self.classes.get(name)
        if not inherited:
            same = (e for e in self.tree.elements if e.kind is ElementKind.CLASS and e.name == name)
            changes = self.changes.at(name)
            member = next((ClassMember(element, self, changes) for element in same), None)
        if member is not None:
            element, scope, changes = member.changed()
            if element.declared is None:
                return None
            return ClassScope(element.declared, scope, changes, self.find_top)
        inner = None
        filed = None if self.tree.short else self.find_top(f"{self.name}.{name}")
        is_own = filed is not None and filed.outer is not None and filed.outer.tree is self.tree
        if filed is not None and (inherited or is_own):
            inner = filed
            if self.changes.inner:
                inner = ClassScope(filed.tree, self, self.changes.at(name), self.find_top)
        for base in self.bases if inherited and inner is None else ():
            inner = inner or base.local(name)
        return inner

    def imported(self, name: str) -> ClassScope | None:
        """A class that an import clause makes known."""
        for element in self.tree.elements:
            if element.kind is not ElementKind.IMPORT or element.name not in {name, "*"}:
                continue
            package = self.find_top(element.type_name)
            if element.name == "*" and package is not None:
                package = package.local(name)
            if package is not None:
                return package
        return None

    def type_of(self, member: ClassMember) -> tuple[Element, ClassScope | None]:
        """A component after redeclaration, and the class that it is an instance of."""
        element, scope, changes = member.changed()
        if element.type_name in _PREDEFINED:
            tree = ClassTree(element.type_name, "type", element.location, builtin=True)
            return element, ClassScope(tree, None, changes, self.find_top)
        kind = scope.find(element.type_name)
        return element, kind.with_changes(changes).expand() if kind is not None else None


def with_bases(scope: ClassScope) -> Iterator[ClassScope]:
    """Yield a class and all that it extends."""
    yield scope
    for base in scope.expand().bases:
        yield from with_bases(base)


def in_order(scope: ClassScope) -> Iterator[tuple[str, ClassMember]]:
    """Components in the order of their declarations, inherited ones where their base stands."""
    bases = iter(scope.expand().bases)
    for element in scope.tree.elements:
        if element.kind is ElementKind.EXTENDS:
            base = next(bases, None)
            yield from in_order(base) if base is not None else ()
        elif element.kind is ElementKind.COMPONENT and element.name in scope.components:
            member = scope.components[element.name]
            if member.element is element:
                yield element.name, member
