"""The errors that Softdock raises, in one hierarchy.

Every message says what is wrong, where (file, component, connector), what was expected, what was
found and what to do. Problems of a description are collected and raised together, as one
:class:`DescriptionError` whose ``problems`` lists them.
"""

from __future__ import annotations

from collections.abc import Iterable


class SoftdockError(Exception):
    """Base of all errors that a user of Softdock can meet."""


class DescriptionError(SoftdockError):
    """A system, experiment or unit is described wrongly.

    Parameters
    ----------
    *problems
        One or more messages; they are raised together so that a user mends them in one go.
    """

    def __init__(self, *problems: str) -> None:
        self.problems: tuple[str, ...] = problems
        super().__init__("\n".join(problems))

    @classmethod
    def collect(cls, problems: Iterable[DescriptionError]) -> DescriptionError:
        """Join several problems into one; a single problem keeps its own class."""
        listed = list(problems)
        if len(listed) == 1:
            return listed[0]
        return DescriptionError(*(text for problem in listed for text in problem.problems))


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


class StepError(SoftdockError):
    """A unit failed while stepping; the results up to then are kept."""


class ConvergenceError(StepError):
    """The outputs of a loop of components did not come to agree."""


class StepSizeUnderflowError(StepError):
    """No step is short enough for the tolerances."""


def error_named(name: str) -> type[SoftdockError] | None:
    """Return the class of a name, for errors that come as text from another process."""
    kind = globals().get(name)
    return kind if isinstance(kind, type) and issubclass(kind, SoftdockError) else None
