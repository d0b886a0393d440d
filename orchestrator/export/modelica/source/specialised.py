"""Models in plain classes: one copy of each function, package constant and class for each use.

rumoca keeps one function and one constant of a name, whatever was redeclared or modified on the way
to it. So a model in which that matters is written again, without packages, redeclarations and
modified classes: what a name means is decided here (Modelica 3.6, chapters 5 and 7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from orchestrator.core.structs import Struct
from orchestrator.export.modelica.source.class_scope import (
    Changes,
    ClassMember,
    ClassScope,
    CodeSection,
    Element,
    ElementKind,
    SourcePlace,
    in_order,
    is_redeclaration,
)
from orchestrator.export.modelica.source.lookup import (
    NotSpecialised,
    Surroundings,
    rescoped,
    unabbreviated,
)
from orchestrator.export.modelica.source.plain_components import COMPONENT_WORDS, PlainComponents
from orchestrator.export.modelica.source.rewording import Family, Outside, PlainClass
from orchestrator.export.modelica.source.text import WRITTEN_IN, closing, split

_CONSTRAINT = "equalityConstraint"  # of overdetermined connectors (section 9.4)
_CLASS_WORDS = ("partial", "expandable", "pure", "impure")


class Specialised(Struct):
    """A model in plain classes.

    text, model: The classes, and the name of the model.
    lines: Number of the file and line from which each line comes.
    names: Full names of the classes by those here.
    derivatives: Functions that are partial derivatives, with the inputs by which they are taken.
    places: Where each class was written.
    """

    text: str
    model: str
    lines: Sequence[tuple[int, int]]
    names: Mapping[str, str]
    derivatives: Mapping[str, tuple[str, ...]]


class Specialiser(PlainComponents):
    """Writes one model in plain classes."""

    def write(self, scope: ClassScope) -> Specialised:
        """Write a model and all that it uses.

        Raises NotSpecialised: if it cannot be said in plain classes.
        """
        model = self._class(scope)
        for key, location in self._owed.items():
            if key not in self._paid:
                reason = "a modification of a class by a component that the class does not see"
                self.failure = self.failure or NotSpecialised(location, reason)
        if self.failure is not None:
            raise self.failure
        lines = [line for plain_class in self._written.values() for line in plain_class.lines]
        first = lines[0]
        lines = [
            first._replace(text=f"package {WRITTEN_IN}"),
            *lines,
            first._replace(text=f"end {WRITTEN_IN};"),
        ]
        return Specialised(
            "\n".join(line.text for line in lines) + "\n",
            f"{WRITTEN_IN}.{model}",
            [(line.source, line.line) for line in lines],
            self._full,
            self._derivatives,
        )

    def _class(self, scope: ClassScope) -> str:
        """Name of the plain class of a class where it is used; it is written first."""
        tree, plain = scope.tree, unabbreviated(scope)
        if tree.derivative:
            return self._derivative(scope)
        self._check_redeclarations(scope)
        if plain is not scope:
            self.is_needed |= tree.word == "function" and bool(tree.extends()[0].arguments)
            return self._class(plain)
        self._refuse_special(scope.expand())
        if scope.predefined and not tree.short and not tree.builtin:
            scope = rescoped(scope, Changes()).expand()
        self.is_needed |= self._keys.is_changed(scope)
        self.is_needed |= tree.extending and "redeclare" not in tree.prefixes
        key = (self._keys.of(scope), self._keys.around(self._lookup.around))
        if key not in self._names:
            name = self._names[key] = self._new(tree.name, scope.name)
            try:
                self._write(name, scope)
            except NotSpecialised as error:
                self._fail(error)
        return self._names[key]

    def _refuse_special(self, scope: ClassScope) -> None:
        tree = scope.tree
        if "operator" in tree.prefixes or tree.word in {"operator", "package"}:
            self._look_into(scope)
            kind = f"operator {tree.word}" if "operator" in tree.prefixes else tree.word
            raise NotSpecialised(tree.location, f"{kind} {tree.name}")
        if not scope.complete:
            reason = f"a base of {tree.name} is not found, or extends {tree.name}"
            raise NotSpecialised(tree.location, reason)

    def _look_into(self, scope: ClassScope) -> None:
        """Look whether functions of an operator record need plain classes."""
        if id(scope.tree) in self._looked_into:
            return
        self._looked_into.add(id(scope.tree))
        for name in scope.expand().classes:
            inside = scope.local(name)
            if inside is not None and inside.tree.word == "function":
                self._plain_class(name, inside.expand())
            elif inside is not None:
                self._look_into(inside)

    def _write(self, name: str, scope: ClassScope) -> None:
        self._written[name] = self._plain_class(name, scope)

    def _plain_class(self, name: str, scope: ClassScope) -> PlainClass:
        tree, plain_class = scope.tree, PlainClass()
        words = [word for word in _CLASS_WORDS if word in tree.prefixes]
        head = " ".join([*words, tree.word, name])
        location = tree.location
        with self._inside(scope):
            if tree.builtin:
                text = self._text(location)
                self._put(plain_class.lines, location, f"type {name} {text[text.index('=') :]};")
            elif tree.short:
                (base,) = tree.extends()
                self._put(plain_class.lines, location, f"{head} = {self._short(scope, base)};")
            else:
                self._put(plain_class.lines, location, f"{head} {tree.comment}")
                if tree.word == "function":
                    self._check_derivative(scope)
                self._composition(plain_class, scope, (scope,), protected=False)
                plain_class.lines += plain_class.sections
                self._put(plain_class.lines, location, f"end {name};")
        return plain_class

    @contextmanager
    def _inside(self, scope: ClassScope) -> Iterator[None]:
        """Let the inner elements of a class be those around what is in it."""
        before = self._lookup.around
        classes, components = dict(before.classes), dict(before.components)
        constants = dict(before.constants)
        for name, member in scope.classes.items():
            if "inner" in member.changed()[0].prefixes and (kind := scope.local(name)):
                classes[name] = kind
                self.is_needed = True
        inner = []
        changed = len(classes) > 0 and any(
            "inner" in member.changed()[0].prefixes for member in scope.classes.values()
        )
        for name, member in scope.components.items():
            words = member.changed()[0].prefixes
            if "inner" in words and not ("outer" in words and name in components):
                typed = self._lookup.typed(member)
                if typed.kind is not None and not typed.kind.predefined:
                    components[name] = self._instance(typed, typed.kind)
                    inner.append(name)
                elif "constant" in words:
                    constants[name] = (scope, member)
                    changed = True
        if inner or changed:
            self._lookup.around = Surroundings(components, classes, before.names, constants)
            names = {name: self._class(components[name]) for name in inner}
            self._lookup.around.names = {**before.names, **names}
        try:
            yield
        finally:
            self._lookup.around = before

    def _short(self, scope: ClassScope, base: Element) -> str:
        """What a short class stands for that adds a prefix or a size, or is a type."""
        family = (scope,)
        words = [word for word in COMPONENT_WORDS if word in base.prefixes]
        sizes = ", ".join(self._value_text(size, scope, family) for size in base.sizes)
        base_scope = scope.bases[0] if scope.bases else None
        if base_scope is None or base_scope.predefined:
            name = (
                base.type_name
                if base_scope is None
                else self._class(rescoped(base_scope, Changes()))
            )
            inner = (scope.changes if base_scope is None else base_scope.given).inner
        else:
            name, inner = self._class(base_scope), {}
        attributes = self._attributes(inner, family)
        return f"{' '.join([*words, name])}{f'[{sizes}]' * bool(sizes)}{attributes}"

    def _composition(
        self, plain_class: PlainClass, scope: ClassScope, family: Family, *, protected: bool
    ) -> None:
        bases = iter(scope.bases)
        for element in scope.tree.elements:
            hidden = protected or element.protected
            if element.kind is ElementKind.EXTENDS:
                if element.type_name in {"Real", "Integer", "Boolean", "String"}:
                    attributes = self._attributes(scope.changes.inner, family)
                    self._put(
                        plain_class.lines,
                        element.location,
                        f"extends {element.type_name}{attributes};",
                    )
                elif element.type_name != "ExternalObject":
                    self._base(plain_class, next(bases), element, family, protected=hidden)
                else:
                    self._put(plain_class.lines, element.location, "extends ExternalObject;")
            elif element.kind is ElementKind.COMPONENT and not is_redeclaration(element):
                member = family[0].components[element.name]
                if member.element is element:
                    self._component(plain_class, member, family, protected=hidden)
            elif element.name == _CONSTRAINT and (kind := scope.local(element.name)) is not None:
                plain_class.lines += self._plain_class(
                    _CONSTRAINT, kind.expand()
                ).lines  # rumoca looks for it there
        for section in scope.tree.sections:
            self._section(plain_class, section, scope, family)
        if scope.tree.external is not None:
            location = scope.tree.external
            self._put(plain_class.sections, location, self._text(location))

    def _base(
        self,
        plain_class: PlainClass,
        base: ClassScope,
        element: Element,
        family: Family,
        *,
        protected: bool,
    ) -> None:
        """A base by its name if nothing in it is modified, else what it holds."""
        base = unabbreviated(base).expand()
        visibility = "protected " if protected else "public "
        if base.predefined:
            name = self._class(rescoped(base, Changes()))
            attributes = self._attributes(base.given.inner, family)
            self._put(
                plain_class.lines, element.location, f"{visibility}extends {name}{attributes};"
            )
            return
        inside = {*base.components, *base.classes}
        inner = {
            name: changes
            for name, changes in base.changes.inner.items()
            if name in inside or base.local(name) is not None
        }
        bare = rescoped(base, Changes(None, inner))
        is_function = family[0].tree.word == "function"
        is_bare = self._keys.print_of(bare.changes) is None and not base.tree.short
        if is_bare and (not is_function or _is_interface(base)):
            name = self._class(bare)
            self._put(plain_class.lines, element.location, f"{visibility}extends {name};")
            plain_class.inputs += self._written[name].inputs
            return
        classes = [name for name in inner if name not in base.components]
        if classes or any(changes.redeclared for changes in inner.values()):
            self.is_needed = True
        if self._keys.is_changed(base.outer) or (is_function and inner):
            self.is_needed = True
        if (id(base.tree), self._keys.of(bare)) not in plain_class.bases:
            plain_class.bases.append((id(base.tree), self._keys.of(bare)))
            self._composition(plain_class, base, (*family, base), protected=protected)

    def _check_derivative(self, scope: ClassScope) -> None:
        """Refuse an annotation that names a function which cannot be the derivative."""
        for part in split(scope.tree.annotation):
            if part[0].text != "derivative" or len(part) < 3:
                continue
            at = closing(part, 1) if part[1].text == "(" else 1
            options = [token.text for token in part[1:at]]
            parts = tuple(token.text for token in part[at + 1 :] if token.text != ".")
            location = SourcePlace(scope.tree.location.source, part[0].start, part[-1].end)
            meaning = self._lookup.meaning(scope, parts, location) if parts else None
            name = ".".join(parts)
            if meaning is None or meaning.kind is None or meaning.kind.tree.word != "function":
                reason = f"derivative of {scope.tree.name}: '{name}' is no function"
                raise NotSpecialised(location, reason, invalid=True)
            inputs, derivative_inputs = (
                _inputs(scope),
                _inputs(unabbreviated(meaning.kind).expand()),
            )
            moving = [
                input_name
                for input_name, member in inputs.items()
                if input_name not in options and scope.type_of(member)[1] is not None
                if getattr(scope.type_of(member)[1], "primitive", "Real") in {"Real", ""}
            ]
            count = len(inputs) + len(moving)
            if "order" not in options and len(derivative_inputs) != count:
                reason = (
                    f"derivative of {scope.tree.name}: {name} has {len(derivative_inputs)} inputs,"
                    " expected"
                    f" {count}: those of {scope.tree.name}, and the derivatives of"
                    f" {', '.join(moving)}"
                )
                raise NotSpecialised(location, reason, invalid=True)

    def _derivative(self, scope: ClassScope) -> str:
        """A function ``der(f, x)``: a copy of ``f`` that is known as its derivative."""
        listed = [part for part in split(scope.tree.literals) if part]
        self.is_needed = True
        location = scope.tree.location
        name = "".join(token.text for token in listed[0])
        meaning = self._lookup.meaning(scope, tuple(name.split(".")), location)
        if meaning is None or meaning.kind is None or meaning.kind.tree.word != "function":
            raise NotSpecialised(location, f"'{name}' in der({name}, ..) is no function")
        of = unabbreviated(meaning.kind)
        inputs = tuple(part[0].text for part in listed[1:])
        for input_name in inputs:
            member = of.expand().components.get(input_name)
            if member is None or "input" not in member.element.prefixes:
                reason = f"'{input_name}' in der({name}, ..) is no input of {name}"
                raise NotSpecialised(location, reason, invalid=True)
        key = ("der", self._keys.of(of), inputs, self._keys.around(self._lookup.around))
        if key not in self._names:
            plain = self._names[key] = self._new(scope.tree.name, scope.name)
            self._derivatives[plain] = inputs
            self._write(plain, of)
        return self._names[key]

    def _section(
        self, plain_class: PlainClass, section: CodeSection, scope: ClassScope, family: Family
    ) -> None:
        initial = "initial " if section.initial else ""
        tokens = section.tokens
        start = tokens[0].start if tokens else scope.tree.location.start
        location = SourcePlace(section.source, start, start)
        self._put(plain_class.sections, location, f"{initial}{section.word}")
        try:
            self._put(
                plain_class.sections,
                location,
                self._reworded(tokens, section.source, scope, family),
            )
        except Outside:
            reason = (
                f"this {section.word} of {scope.tree.name} uses a variable of a class around it"
            )
            self._fail(NotSpecialised(location, reason))
        except NotSpecialised as error:
            self._fail(error)


def _is_interface(scope: ClassScope) -> bool:
    """Whether a function has nothing but inputs and outputs without defaults."""
    values = (member.changed()[2].value for member in scope.components.values())
    return not scope.tree.sections and not scope.bases and not any(values)


def _inputs(scope: ClassScope) -> dict[str, ClassMember]:
    return {name: member for name, member in in_order(scope) if "input" in member.element.prefixes}
