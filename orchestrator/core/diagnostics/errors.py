"""The errors that Softdock raises, in one hierarchy.

Every error carries its diagnostics as data; its text is made from them. Each says what is wrong,
where (file, component, connector), what was expected, what was found and what to do. Problems of
a description are collected and raised together, as one :class:`DescriptionError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Self

from orchestrator.core.diagnostics.diagnostic import Diagnostic, Severity

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
        found = Diagnostic(code, Severity.ERROR, message, file, place=place, key=key, hint=hint)
        return cls(found)

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
        return (found.within(context) for found in self.diagnostics)


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
    def collect(cls, problems: Iterable[DescriptionError]) -> DescriptionError:
        """Join several problems into one; a single problem keeps its own class."""
        listed = list(problems)
        if len(listed) == 1:
            return listed[0]
        return DescriptionError(*(found for problem in listed for found in problem.diagnostics))


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
    """A device is not there, refuses, or was lost; what was recorded until then is kept."""


class ArmingError(DeviceError):
    """Devices may not move: their loop has too little margin."""


class RestartedError(DeviceError):
    """A device was started anew in the middle of a run; it is not commanded until it is opened."""


class NeverEngagedError(DeviceError):
    """A run whose rig nobody engaged: nothing moved, and nothing was tried."""


class WireFormatError(DeviceError):
    """What came over a wire is not of the protocol that was expected."""


class StepError(SoftdockError):
    """A unit failed while stepping; the results up to then are kept."""


class RunEndedError(StepError):
    """A unit asked for the end of the run, as a model does by ``terminate``; nothing failed."""


class ConvergenceError(StepError):
    """The outputs of a loop of components did not come to agree."""


class StepSizeUnderflowError(StepError):
    """No step is short enough for the tolerances."""


class DeadlineError(StepError):
    """A run in real time missed too many deadlines, or its clock fell silent."""


def class_name(error: SoftdockError) -> str:
    """Return the name of an error's class, or of the nearest above that :func:`error_named` has."""
    return next(each.__name__ for each in type(error).__mro__ if error_named(each.__name__) is each)


def error_named(name: str) -> type[SoftdockError] | None:
    """Return the class of a name, for errors that come from another process."""
    kind = globals().get(name)
    return kind if isinstance(kind, type) and issubclass(kind, SoftdockError) else None
