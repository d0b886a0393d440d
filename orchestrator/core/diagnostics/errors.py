"""The errors that Softdock raises, in one hierarchy, and how they name keys and near misses.

Every error carries its diagnostics as data; its text is made from them. Each says what is wrong,
where (file, component, connector), what was expected, what was found and what to do. Problems of
a description are collected and raised together, as one :class:`DescriptionError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Self

from orchestrator.core.structs import Struct


class Severity(StrEnum):
    """How bad a finding is.

    ``error``: it cannot be used so. ``warning``: it can, but may not do what its author meant.
    ``note``: worth knowing.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(Struct):
    """One kind of finding.

    name: Letters of the family and three digits; its meaning never changes.
    title: In a few words.
    explanation: What is looked at, why it matters, what to do.
    clause: Of the standard that says so.
    severity: Of every finding of this kind; ``None``: it depends.
    """

    name: str
    title: str
    explanation: str
    clause: str = ""
    severity: Severity | None = Severity.ERROR

    def __str__(self) -> str:
        clause = f" ({self.clause})" if self.clause else ""
        severity = "" if self.severity is None else f" {self.severity}"
        return f"{self.name}{severity}: {self.title}\n\n{self.explanation}{clause}"


#: Codes of what cannot be used so, may not do what its author meant, or is worth knowing.
error = Code
warning = partial(Code, severity=Severity.WARNING)
note = partial(Code, severity=Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    code: One of the table of codes, such as ``"SSP203"``, whose meaning never changes; else the
        name of the class of errors that it was raised as.
    severity: See :class:`Severity`.
    message: What was expected, what was found, what to do. It does not say again what the other
        fields up to ``place`` say.
    file: As the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    line: From 1; ``None`` if it is about no line.
    place: Component, connector or connection, in words.
    key: Under which it stands: a key of a TOML file, ``"case.a.set"``, or the path of an element of
        a system, ``"arm/motor.torque"`` or ``"a.y -> arm/motor.u"``.
    hint: The name that was meant, perhaps; the message asks whether it was.
    clause: Of the standard that says so, such as ``"SSP 1.0, 5.3.2"``.
    context: What was being done, such as ``"case 'ideal'"``, from the outside in; the text begins
        so.
    """

    code: str
    severity: Severity
    message: str
    file: str = ""
    line: int | None = None
    place: str = ""
    key: str = ""
    hint: str = ""
    clause: str = ""
    context: tuple[str, ...] = ()

    def __str__(self) -> str:
        at = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(filter(None, (*self.context, at, self.text)))

    @property
    def text(self) -> str:
        """The message without file, line and context."""
        clause = f" ({self.clause})" if self.clause else ""
        return ": ".join(filter(None, (self.place, f"{self.message}{clause}")))

    @property
    def inner(self) -> Diagnostic:
        """The same without what was being done outermost."""
        return replace(self, context=self.context[1:])

    def within(self, context: str) -> Diagnostic:
        """Return the same, found while something else was being done."""
        return replace(self, context=(context, *self.context))

    def as_json(self) -> dict[str, str | int | None]:
        """Return its fields."""
        return {**asdict(self), "context": ": ".join(self.context)}


Problem = str | Diagnostic


class SoftdockError(Exception):
    """Base of all errors that a user of Softdock can meet.

    Parameters
    ----------
    *problems
        One or more, as data or in words; they are raised together so that a user mends them in
        one go.

    Attributes
    ----------
    diagnostics
        The problems as data; the code of one in words is the name of the class.
    """

    def __init__(self, *problems: Problem) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(map(self._diagnostic, problems))
        super().__init__(*problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.diagnostics), self.__dict__

    @classmethod
    def in_file(cls, file: object, message: str, line: int | None = None) -> Self:
        """Make an error about a file, or a line of it."""
        return cls(Diagnostic(cls.__name__, Severity.ERROR, message, str(file), line))

    @classmethod
    def about(
        cls,
        message: str,
        *,
        code: str = "",
        file: str = "",
        place: str = "",
        key: str = "",
        hint: str = "",
    ) -> Self:
        """Make an error of one problem; see :class:`Diagnostic`."""
        code = code or cls.__name__
        diagnostic = Diagnostic(
            code, Severity.ERROR, message, file, place=place, key=key, hint=hint
        )
        return cls(diagnostic)

    @classmethod
    def _diagnostic(cls, problem: Problem) -> Diagnostic:
        if isinstance(problem, Diagnostic):
            return problem
        return Diagnostic(cls.__name__, Severity.ERROR, problem)

    def of_file(self, file: object) -> Self:
        """Return the same about a file, where none is known."""
        return type(self)(*(replace(f, file=f.file or str(file)) for f in self.diagnostics))

    def within(self, context: str) -> Iterator[Diagnostic]:
        """Return the diagnostics, found while something else was being done."""
        return (diagnostic.within(context) for diagnostic in self.diagnostics)


def _restored(kind: type[SoftdockError], diagnostics: Iterable[Diagnostic]) -> SoftdockError:
    """Make an error that comes from another process."""
    error = kind.__new__(kind)
    SoftdockError.__init__(error, *diagnostics)
    return error


class DescriptionError(SoftdockError):
    """A system, experiment or unit is described wrongly."""

    @property
    def problems(self) -> tuple[str, ...]:
        """The texts of the diagnostics."""
        return tuple(map(str, self.diagnostics))

    @classmethod
    def collect(cls, problems: Iterable[SoftdockError]) -> SoftdockError:
        """Join several problems into one; a single problem keeps its own class."""
        listed = list(problems)
        if len(listed) == 1:
            return listed[0]
        return DescriptionError(*_joined([f for problem in listed for f in problem.diagnostics]))


#: Contexts of this kind that a joined problem lists; of more it gives the number.
_MOST_LISTED = 3


def _joined(problems: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield each problem once; one of several cases names them."""
    contexts: dict[Diagnostic, list[str]] = {}
    for problem in problems:
        contexts.setdefault(problem.inner, []).append(problem.context[0] if problem.context else "")
    for inner, outer in contexts.items():
        names = list(dict.fromkeys(outer))
        if len(names) == 1 or not all(name.startswith("case ") for name in names):
            yield from (inner.within(name) if name else inner for name in names)
            continue
        listed = [name.removeprefix("case ") for name in names]
        more = len(listed) - _MOST_LISTED
        text = ", ".join(listed[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
        yield inner.within(f"cases {text}")


class UnknownNameError(DescriptionError):
    """A component, connector, parameter, block or algorithm of that name does not exist."""


class ConnectorMismatchError(DescriptionError):
    """Two connected connectors differ in causality, type or shape, or one has two sources."""


class UnitMismatchError(DescriptionError):
    """Two connected connectors have units that do not convert."""


class AlgebraicLoopError(DescriptionError):
    """Components with direct feed-through form a loop that no delay cuts."""


class CapabilityError(DescriptionError):
    """A unit cannot do what the chosen algorithm or step needs."""


class LoadError(SoftdockError):
    """A file could not be read; what was loaded before is untouched."""


class FmuError(LoadError):
    """An FMU is missing, damaged or not usable on this machine."""


class SspError(LoadError):
    """An .ssd or .ssp file is missing, damaged, unsafe or not valid SSP."""


class ModelicaError(LoadError):
    """A Modelica model could not be read or uses what the exporter does not support."""


class PluginError(LoadError):
    """A registered block or device could not be imported."""


class DeviceError(SoftdockError):
    """A device is absent, refuses, or was lost; recorded rows are kept."""


class ArmingError(DeviceError):
    """Devices may not move: their loop has too little margin."""


class CommandStaleError(DeviceError):
    """A run gave its device no new command for too long: the commands were brought to rest."""


class RestartedError(DeviceError):
    """A device restarted during a run; it gets no further commands until it is opened again."""


class NeverEngagedError(DeviceError):
    """Nobody engaged the rig of a run, so no device moved."""


class WireFormatError(DeviceError):
    """Received data does not belong to the expected protocol."""


class StepError(SoftdockError):
    """A unit failed while stepping; the results up to then are kept."""


class BusyError(SoftdockError):
    """An Execution was called while another thread or a step used it; nothing was changed."""


class RunEndedError(StepError):
    """A unit asked for the end of the run, as a model does by ``terminate``; nothing failed."""


class ConvergenceError(StepError):
    """The outputs of a loop of components did not converge."""


class StepSizeUnderflowError(StepError):
    """No step is short enough for the tolerances."""


class DeadlineError(StepError):
    """A run in real time missed too many deadlines, or its clock fell silent."""


class ForeignExitError(RuntimeError):
    """Code of a user or of another package called for the end of the program."""


@contextmanager
def exits_are_errors() -> Iterator[None]:
    """Let an exit of foreign code be an error of it: SystemExit, and all that is no Exception.

    Ctrl-C stays what it is.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        raise ForeignExitError(text).with_traceback(error.__traceback__) from error


def class_name(error: SoftdockError) -> str:
    """Return the name of an error's class, or of the nearest above that :func:`error_named` has."""
    return next(base.__name__ for base in type(error).__mro__ if error_named(base.__name__) is base)


def error_named(name: str) -> type[SoftdockError] | None:
    """Return the class of a name, for errors that come from another process."""
    kind = globals().get(name)
    return kind if isinstance(kind, type) and issubclass(kind, SoftdockError) else None


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(*parts: object) -> str:
    """Write a key from its parts; parts that are no bare words are quoted."""
    return ".".join(map(_part, map(str, parts)))


def parts_of(key: str) -> tuple[str, ...]:
    """Return the parts of a key; none if it is no key."""
    import tomllib

    try:
        inner: object = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts: list[str] = []
    while isinstance(inner, dict) and len(inner) == 1:
        name, inner = next(iter(inner.items()))
        parts.append(name)
    return tuple(parts) if inner == 0 else ()


def _part(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
