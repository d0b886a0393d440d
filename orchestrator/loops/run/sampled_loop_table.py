"""The figures of a rig's sampled loop: numbers, or the parameters that hold them."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import System

#: A number, or the parameter that holds it: ``"component.parameter"``.
Quantity = float | str


class SampledLoopSpec(BaseModel):
    """A chain of bodies that meets hardware at samples, to predict how fast a run grows.

    See :class:`orchestrator.loops.contact.SampledContactLoop` for the figures; each is a number, or
    the parameter that holds it. ``force_line`` is the connection on which the measured force comes
    back to the bodies or to the compensation; with a compensation, ``position_line`` brings it the
    robot's position and ``desired_line`` that of the bodies. The delays of the loops through these
    lines, as the run reports them, are the loop's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    masses: tuple[Quantity, ...] = Field(min_length=2)
    link_stiffness: tuple[Quantity, ...] = ()
    link_damping: tuple[Quantity, ...] = ()
    stiffness: Quantity
    damping: Quantity
    bandwidth: Quantity
    zeta: Quantity
    sensor_lag: Quantity
    lead_rest: Quantity = 1.0
    believed_stiffness: Quantity | None = None
    believed_damping: Quantity | None = None
    half_sample: bool | str = True
    force_line: str
    position_line: str | None = None
    desired_line: str | None = None

    @property
    def _compensation(self) -> tuple[Quantity | None, ...]:
        return (
            self.believed_stiffness,
            self.believed_damping,
            self.position_line,
            self.desired_line,
        )

    def problems(self, system: System) -> Iterator[str]:
        """Say what keeps the figures from being read off a system."""
        given = [part is not None for part in self._compensation]
        if any(given) and not all(given):
            yield (
                "believed_stiffness, believed_damping, position_line and desired_line: expected"
                " all of them with a compensation, else none"
            )
        for name in type(self).model_fields:
            found = getattr(self, name)
            figures = found if isinstance(found, tuple) else (found,)
            if name.endswith("_line"):
                if found is not None and found not in map(str, system.connections):
                    yield f"{name}: no connection '{found}'"
                continue
            for figure in figures:
                if isinstance(figure, str):
                    try:
                        number_of(figure, system)
                    except DescriptionError as error:
                        yield f"{name}: {error}"


def number_of(figure: Quantity, system: System) -> float:
    """Give a figure as a number."""
    value = system.value(figure) if isinstance(figure, str) else figure
    if isinstance(value, str | tuple):
        raise DescriptionError(f"'{figure}': expected a number, found {value!r}")
    return float(value)
