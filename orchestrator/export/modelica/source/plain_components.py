"""Components of plain classes, and their modifications."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.export.modelica.source.class_scope import (
    Changes,
    ClassMember,
    ClassScope,
    SourcePlace,
    Value,
    merge,
)
from orchestrator.export.modelica.source.lookup import NotSpecialised, TypedComponent, rescoped
from orchestrator.export.modelica.source.record_constants import RecordConstants
from orchestrator.export.modelica.source.redeclarations import unknown_names
from orchestrator.export.modelica.source.rewording import Family, Outside, PlainClass

COMPONENT_WORDS = [
    "final",
    "inner",
    "outer",
    "flow",
    "stream",
    "parameter",
    "constant",
    "discrete",
    "input",
    "output",
]


class PlainComponents(RecordConstants):
    """Declares components without redeclarations and modified classes."""

    def _component(
        self,
        plain_class: PlainClass,
        member: ClassMember,
        family: Family,
        *,
        protected: bool,
        name: str = "",
    ) -> None:
        try:
            self._declare(
                plain_class, member, family, protected=protected, title=name or member.element.name
            )
        except Outside:
            reason = f"'{member.element.name}' names a variable of a class around"
            self._fail(NotSpecialised(member.element.location, reason))
        except NotSpecialised as error:
            self._fail(error)

    def _declare(
        self,
        plain_class: PlainClass,
        member: ClassMember,
        family: Family,
        *,
        protected: bool,
        title: str,
    ) -> None:
        typed = self._lookup.typed(member)
        element, old = typed.element, member.element
        if typed.kind is not None:
            parts = element.type_name.removeprefix(".").split(".")
            self._check_owners(typed.scope, parts, element.location)
        words = [word for word in COMPONENT_WORDS if word in element.prefixes]
        if title != old.name:  # of a package, or a member of a record there
            words = ["constant"]
        sized = element if element.sizes or element is old else old
        scope = typed.scope if sized is element else member.owner
        sizes = ", ".join(self._value_text(size, scope, family) for size in sized.sizes)
        conditional = element if element.condition or element is old else old
        condition = ""
        if conditional.condition is not None:
            scope = typed.scope if conditional is element else member.owner
            condition = f" if {self._value_text(conditional.condition, scope, family)}"
        name, changes = element.type_name, typed.changes
        modifiers = ""
        if typed.kind is None:
            modifiers = self._attributes(changes.inner, family)
        elif typed.kind.predefined:
            name = self._class(rescoped(typed.kind, Changes()))
            modifiers = self._attributes(changes.inner, family)
        else:
            outer = "outer" in words and self._lookup.around.names.get(old.name)
            name = outer or self._class(self._instance(typed, typed.kind))
            changes = merge(changes, typed.of_class, self._hoisted(typed.kind, family))
            for problem in unknown_names(typed.kind, typed.changes):
                self._fail(problem)
            modifiers = self._modifiers(changes, typed.kind, family)
        value = self._bound(plain_class, member, changes, family)
        comment = element.comment or old.comment
        note = " annotation(Evaluate=true)" if element.evaluated or old.evaluated else ""
        shape = f"[{sizes}]" if sizes else ""
        text = f"{' '.join([*words, name])} {title}{shape}{modifiers}{value}{condition}"
        visibility = "protected " if protected else "public "
        if "input" in element.prefixes and not protected:
            plain_class.inputs.append(old.name)
        self._put(plain_class.lines, element.location, f"{visibility}{text} {comment}{note};")

    def _bound(
        self, plain_class: PlainClass, member: ClassMember, changes: Changes, family: Family
    ) -> str:
        """The value of a component; that of an input may be one of the instance of a function."""
        if changes.value is None or changes.origin is None:
            return ""
        try:
            return f" = {self._value_text(changes.value, changes.origin, family)}"
        except Outside:
            if family and family[0].tree.word == "function" and "input" in member.element.prefixes:
                self.is_needed = True
                plain_class.bound.append(member.element.name)
            else:
                self._owe(changes.value.location)
            return ""

    def _owe(self, location: SourcePlace) -> None:
        self._owed[location.source, location.start] = location

    def _environment(self, changes: Changes, kind: ClassScope) -> Changes:
        """What of the modifications of a component decides which class it is an instance of."""
        inner: dict[str, Changes] = {}
        for name, change in changes.inner.items():
            member = kind.components.get(name)
            if member is None:
                if name in kind.classes or kind.local(name) is not None:
                    inner[name] = change
            elif "constant" in member.element.prefixes:
                inner[name] = change
            else:
                type_ = self._lookup.typed(member).kind if change.inner else None
                deep = Changes()
                if type_ is not None and not type_.predefined:
                    deep = self._environment(change, type_)
                if deep.inner or change.redeclared:
                    inner[name] = Changes(None, deep.inner, change.redeclared, change.location)
        return Changes(None, inner)

    def _hoisted(self, kind: ClassScope, family: Family) -> Changes:
        """Values of classes inside a component that name components which only this class has."""
        inner: dict[str, Changes] = {}
        if kind.predefined or self._keys.print_of(kind.changes) is None:
            return Changes()
        for name, member in kind.components.items():
            changed = kind.changes.at(name)
            if not changed.inner and not changed.redeclared and not kind.changes.inner:
                continue
            typed = self._lookup.typed(member)
            all_changes = merge(typed.changes, typed.of_class)
            needed = self._needing(all_changes, family)
            if typed.kind is not None:
                needed = merge(needed, self._hoisted(typed.kind, family))
            if needed.inner or needed.value:
                inner[name] = needed
        return Changes(None, inner)

    def _needing(self, changes: Changes, family: Family) -> Changes:
        """Those of these modifications that name components of this class."""
        inner = {}
        for name, change in changes.inner.items():
            needed = self._needing(change, family)
            if needed.inner or needed.value:
                inner[name] = needed
        value = changes.value
        if value is not None and changes.origin is not None:
            is_own = any(changes.origin is change for change in family)
            if not is_own or not self._names_components(value, changes.origin):
                value = None
        return Changes(value, inner, None, changes.location, changes.origin, changes.prefixes)

    def _names_components(self, value: Value, origin: ClassScope) -> bool:
        try:
            self._value_text(value, origin, ())
        except Outside:
            return True
        return False

    def _modifiers(self, changes: Changes, kind: ClassScope, family: Family) -> str:
        """Modifications of the components of a class, in brackets."""
        modifiers = []
        for name, change in changes.inner.items():
            member = kind.components.get(name)
            if member is None:
                continue
            typed = self._lookup.typed(member)
            if typed.kind is None or typed.kind.predefined:
                inner = self._attributes(change.inner, family)
            else:
                inner = self._modifiers(change, typed.kind, family)
            value = self._modified(change, family)
            if inner or value:
                modifiers.append(f"{self._words(change)}{name}{inner}{value}")
        return f"({', '.join(modifiers)})" if modifiers else ""

    def _attributes(self, inner: Mapping[str, Changes], family: Family) -> str:
        attributes = [
            f"{self._words(change)}{name}{value}"
            for name, change in inner.items()
            if (value := self._modified(change, family))
        ]
        return f"({', '.join(attributes)})" if attributes else ""

    @staticmethod
    def _words(changes: Changes) -> str:
        return "".join(f"{word} " for word in ("each", "final") if word in changes.prefixes)

    def _modified(self, changes: Changes, family: Family) -> str:
        if changes.value is None or changes.origin is None:
            return ""
        location = changes.value.location
        try:
            text = self._value_text(changes.value, changes.origin, family)
        except Outside:
            self._owe(location)
            return ""
        if any(changes.origin is class_scope for class_scope in family):
            self._paid.add((location.source, location.start))
        return f" = {text}"

    def _instance(self, typed: TypedComponent, kind: ClassScope) -> ClassScope:
        """The class of a component with what decides which class that is."""
        changes = merge(self._environment(typed.changes, kind), typed.of_class)
        return rescoped(kind, changes).expand()
