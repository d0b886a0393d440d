"""FMUs of lines on which signals are late, for tools that know no transport delay."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.structs import Struct
from orchestrator.core.system import Connector, Interpolation, seconds
from orchestrator.export.blocks.build_block import build_sampled
from orchestrator.export.build import BuildResult
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import without_equations
from orchestrator.export.dae.residual_dae import (
    DataType,
    Kind,
    Sampled,
    Variable,
    variables_of,
)
from orchestrator.export.modelica.source.text import Experiment
from orchestrator.export.recipe import Recipe

_READINGS = {Interpolation.HOLD: 0, Interpolation.LINEAR: 1, Interpolation.CUBIC: 2}
_LEAST_SAMPLES = 64
_MOST_SAMPLES = 1_000_000
_FARTHEST = 2.3e9  # seconds: as far as times of a run may be from 0, whole
_SPARE = 8  # times as many samples as the delay needs: for steps that are shorter


class DelayLine(Struct):
    """A line whose output is late.

    Attributes
    ----------
    signal
        What comes in: type, shape, unit and description.
    delay_ns
        The delay that is declared, in nanoseconds.
    advance_ns
        How much later than that it is read, so that the loop around it has the declared delay.
    step_ns
        The step that it is made for.
    interpolation
        Between samples: hold, linear or cubic.
    initial
        The signal up to the start, one value for each element.
    factor, offset, unit
        Of the output, after the delay.
    """

    signal: Connector
    delay_ns: int
    advance_ns: int
    step_ns: int
    interpolation: Interpolation
    initial: tuple[float, ...]
    factor: float = 1.0
    offset: float = 0.0
    unit: str | None = None

    @property
    def age_ns(self) -> int:
        """How old the output is, against the end of the step that gives it."""
        return self.delay_ns - self.advance_ns

    def build(self, name: str, target: Path) -> BuildResult:
        """Build its FMU of FMI 2.0.

        Parameters
        ----------
        name
            Of the model, also its modelIdentifier.
        target
            The file.

        Raises
        ------
        CapabilityError
            If it holds back less than a step, or too many samples.
        FmuError
            If compiling or writing fails.
        """
        self._check()
        experiment = Experiment(step_size=seconds(self.step_ns))
        recipe = Recipe(name, (), name, experiment=experiment)
        description = f"What comes in, {self.delay_ns / 1e6:g} ms later"
        return build_sampled(
            Layout(without_equations(name, description, self._sampled())), recipe, {"2.0": target}
        )

    @property
    def _samples(self) -> int:
        needed = -(-self.age_ns // self.step_ns)
        return max(_LEAST_SAMPLES, _SPARE * (needed + 1))

    def _check(self) -> None:
        steps = 2 if self.interpolation is Interpolation.CUBIC else 1
        if self.age_ns < steps * self.step_ns:
            minimum = "two steps, for a cubic," if steps == 2 else "one step"
            raise CapabilityError(
                f"holds its signal back for {self.age_ns / 1e6:g} ms (delay"
                f" {self.delay_ns / 1e6:g} ms, read {self.advance_ns / 1e6:g} ms ahead of that for"
                f" the rest of its loops); expected at least {minimum} of"
                f" {self.step_ns / 1e6:g} ms: take a shorter step, or delay mode 'plain'"
            )
        if self._samples > _MOST_SAMPLES:
            raise CapabilityError(
                f"would keep {self._samples} samples; expected at most {_MOST_SAMPLES}: take a"
                " longer step"
            )

    def _sampled(self) -> Sampled:
        signal, kind = self.signal, DataType(self.signal.type.value)

        def parameter(
            name: str, value: float, text: str, kind: DataType = DataType.REAL, **facts: Any
        ) -> Variable:
            (variable,) = variables_of(
                name, (), Kind.PARAMETER, kind, [value], description=text, **facts
            )
            return variable

        signals = partial(variables_of, shape=signal.shape, data_type=kind, starts=self.initial)
        inputs = signals(
            "u", kind=Kind.INPUT, description=signal.description or "Signal", unit=signal.unit
        )
        outputs = signals("y", kind=Kind.OUTPUT, description="The signal, late", unit=self.unit)
        start = signals(
            "initial",
            kind=Kind.PARAMETER,
            description="The signal up to the start",
            unit=signal.unit,
        )
        gain = parameter("gain", self.factor, "Factor of the output")
        offset = parameter("offset", self.offset, "Added to the output")
        delay, advance = seconds(self.delay_ns), seconds(self.advance_ns)
        far: dict[str, Any] = {"unit": "s", "maximum": _FARTHEST}
        reading = float(_READINGS[self.interpolation])
        parameters = (
            parameter("delay", delay, "Declared delay", minimum=0.0, **far),
            parameter("advance", advance, "It is read so much later", minimum=-_FARTHEST, **far),
            gain,
            offset,
            parameter(
                "interpolation",
                reading,
                "Between samples: 0 hold, 1 linear, 2 cubic",
                DataType.INTEGER,
            ),
            parameter(
                "begins_with_input",
                0.0,
                "The first sample is the input at the start, not 'initial'",
                DataType.BOOLEAN,
            ),
            *start,
        )
        first = ca.vertcat(*(gain.symbol * slot.symbol + offset.symbol for slot in start))
        return Sampled(
            ca.SX.sym("t"),
            ca.SX.sym("h"),
            inputs,
            parameters,
            outputs,
            first,
            first,
            {variable.name: () for variable in outputs},
            code="delay_line.c",
            room=2 + self._samples * (1 + len(inputs)),
            fixed=frozenset(variable.name for variable in parameters),
        )
