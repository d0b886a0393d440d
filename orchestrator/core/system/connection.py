"""A connection: a signal from one output to one input, with what transforms and corrects it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system.delay import TransportDelay
from orchestrator.core.system.naming import fits_float
from orchestrator.core.system.ports import Connector, conversion_between


class Compensation(StrEnum):
    """Compensation of an undelayed connection for the error of holding its signal.

    ``nepce``
        Nearly energy-preserving coupling element: the integral of the signal over a step that the
        target did not get is added to the input of the next step.
    ``corrector``
        As ``nepce``, and the outputs on which the input acts at once are corrected after the step
        by the directional derivatives of the target: a model-based corrector.
    ``energy``
        This connection, the effort or the flow of a power bond, returns the energy that the
        coupling created there.

    References
    ----------
    Benedikt, Watzenig, Hofer: Modelling and analysis of the non-iterative coupling process for
    co-simulation, Math. Comput. Model. Dyn. Syst. 19 (2013); the idea of a model-based corrector,
    Multibody Syst. Dyn. 2022, 10.1007/s11044-022-09822-3; Rodriguez et al.: Energy-based
    monitoring and correction to enhance the accuracy and stability of explicit co-simulation,
    Multibody Syst. Dyn. 55 (2022). What of it is Softdock's own: docs/explanation/compensations.md.
    """

    NEPCE = "nepce"
    CORRECTOR = "corrector"
    ENERGY = "energy"

    @property
    def makes_up_integral(self) -> bool:
        """Whether the mean of the input over a step is not late."""
        return self is not Compensation.ENERGY


class LinearTransformation(Struct):
    """``target = factor * source + offset``, applied after the unit conversion (SSP 1.0, 5.3.2).

    Raises
    ------
    DescriptionError
        If factor or offset is not a finite number.
    """

    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not (fits_float(self.factor) and fits_float(self.offset)):
            raise DescriptionError(
                f"factor and offset: expected finite numbers, found {self.factor} and {self.offset}"
            )


class MappingTransformation(Struct):
    """A table from values of the source to values of the target.

    For Booleans (0 and 1), Integers and enumerations (the numbers of their items). A value that is
    not in the table is an error of the step.

    Parameters
    ----------
    entries
        Pairs of a source's value and the target's, each source at most once.

    Raises
    ------
    DescriptionError
        If there is no entry, or a value of the source has two entries.
    """

    entries: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        sources = [source for source, _ in self.entries]
        twice = sorted({source for source in sources if sources.count(source) > 1})
        if twice or not sources:
            fault = f"{', '.join(map(str, twice))} more than once" if twice else "no entry"
            raise DescriptionError(f"mapping: expected every source value once, found {fault}")

    def of(self, value: float) -> int | None:
        """Return the target's value; ``None`` if the table has none."""
        return dict(self.entries).get(int(value)) if value == int(value) else None


Transformation = LinearTransformation | MappingTransformation


class Endpoint(NamedTuple):
    """One end of a connection.

    component: Name of a component, a nested system or a bus; empty for the system's own connector.
    connector: Name of the connector.
    """

    component: str
    connector: str

    @classmethod
    def parse(cls, text: object) -> Endpoint:
        """Read ``"component.connector"`` (the connector's own name may hold dots)."""
        if not isinstance(text, str):
            raise DescriptionError(f"expected 'component.connector', found {text!r}")
        component, dot, connector = text.partition(".")
        if not (component and dot and connector):
            raise DescriptionError(f"expected 'component.connector', found '{text}'")
        return cls(component, connector)

    @classmethod
    def of_line(cls, text: object) -> Endpoint:
        """Read an end of a connection: as :meth:`parse`, or the name of the system's own one.

        A name of the system's own that holds a dot itself is written with a dot before it.
        """
        if not isinstance(text, str):
            return cls.parse(text)
        if text.startswith(".") and len(text) > 1:
            return cls("", text[1:])
        return cls.parse(text) if "." in text or not text else cls("", text)

    def __str__(self) -> str:
        if self.component:
            return f"{self.component}.{self.connector}"
        return f".{self.connector}" if "." in self.connector else self.connector


class Interpolation(StrEnum):
    """How a delayed signal is interpolated between two samples."""

    HOLD = "hold"
    LINEAR = "linear"
    CUBIC = "cubic"
    SLERP = "slerp"


class Extrapolation(StrEnum):
    """How an input is extrapolated beyond the newest sample."""

    HOLD = "hold"
    LINEAR = "linear"
    QUADRATIC = "quadratic"
    SMOOTHED = "smoothed"


class Connection(Struct):
    """A directed signal line.

    source, target: An output and an input; seen from inside, the system's own inputs are sources.
    delay: ``None``: the signal arrives at once.
    transformation: After the unit conversion.
    suppress_unit_conversion: Skip unit checks and conversion.
    interpolation: Of a delayed line, between samples; ``None``: what the delay mode does, ``hold``
        if plain, ``linear`` if exact, ``hold`` for all but Reals.
    extrapolation: After the newest sample. Of a line without a delay: the input over a step is
        predicted from the samples before it; ``None`` means ``hold``. Of a delayed line that is
        interpolated: where it is read ahead; ``None`` means ``linear``, and ``hold`` if its delay
        varies.
    compensation: Of a line without a delay: how it makes up for what holding its signal did.
    Raises DescriptionError: if the two do not go with each other or with the delay.
    """

    source: Endpoint
    target: Endpoint
    delay: TransportDelay | None = None
    transformation: Transformation | None = None
    interpolation: Interpolation | None = None
    extrapolation: Extrapolation | None = None
    suppress_unit_conversion: bool = False
    compensation: Compensation | None = None

    def __post_init__(self) -> None:
        if self.interpolation is None and self.extrapolation is None and self.compensation is None:
            return
        self._expect_compensable()
        if self.delay is None and self.interpolation is not None:
            raise DescriptionError(
                f"connection {self}: interpolation '{self.interpolation}' needs a delay; without"
                " one there is nothing between two samples (extrapolation predicts the input)"
            )
        if self.delay is not None and self.extrapolation is Extrapolation.SMOOTHED:
            raise DescriptionError(
                f"connection {self}: extrapolation 'smoothed' is for connections without a delay;"
                " expected hold, linear or quadratic"
            )
        held = {Interpolation.HOLD, Interpolation.SLERP}
        ahead = self.extrapolation not in {None, Extrapolation.HOLD}
        if self.interpolation in held and ahead:
            raise DescriptionError(
                f"connection {self}: extrapolation '{self.extrapolation}' does not go with"
                f" interpolation '{self.interpolation}', which holds the newest sample"
            )

    def _expect_compensable(self) -> None:
        if self.compensation is None:
            return
        subject = f"connection {self}: compensation '{self.compensation}'"
        if self.delay is not None:
            raise DescriptionError(
                f"{subject} is for connections without a delay, and this one has"
                f" {self.delay.nominal_ns / 1e6:g} ms: leave one of them out"
            )
        ways: set[Extrapolation | None] = {None, Extrapolation.HOLD}
        if self.compensation.makes_up_integral:
            ways |= {Extrapolation.LINEAR, Extrapolation.QUADRATIC}
        if self.extrapolation not in ways:
            expected = ", ".join(word for word in Extrapolation if word in ways)
            raise DescriptionError(
                f"{subject} does not go with extrapolation '{self.extrapolation}'; expected"
                f" {expected}"
            )

    def between(self, source: Endpoint, target: Endpoint) -> Connection:
        """Return the same line between other ends."""
        return replace(self, source=source, target=target)

    @property
    def ends(self) -> tuple[Endpoint, Endpoint]:
        """Source and target."""
        return self.source, self.target

    @property
    def is_predicted(self) -> bool:
        """Whether it has no delay and the target's input is predicted over the step."""
        return self.delay is None and self.extrapolation not in {None, Extrapolation.HOLD}

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"

    def __repr__(self) -> str:
        delay = "" if self.delay is None else f" ({self.delay.nominal_ns / 1e6:g} ms)"
        return f"Connection {self}{delay}"


def connection_name(text: str) -> str:
    """Write a connection that somebody named, ``"a.y->b.u"``, as ``str`` of a connection does."""
    return " -> ".join(part.strip() for part in text.split("->"))


def factor_and_offset_of(
    line: Connection, source: Connector, target: Connector
) -> tuple[float, float]:
    """Say what a connection makes of a number, apart from a table of values."""
    factor, offset = (
        (1.0, 0.0) if line.suppress_unit_conversion else conversion_between(source, target)
    )
    transformation = line.transformation
    if not isinstance(transformation, LinearTransformation):
        return factor, offset
    return transformation.factor * factor, transformation.factor * offset + transformation.offset
