"""FMUs of lines on which signals are late, for tools that know no transport delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.system import Connector, Interpolation, seconds
from orchestrator.export.blocks.block_memory import element_names
from orchestrator.export.blocks.build_block import build_sampled
from orchestrator.export.build import BuildResult
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import without_equations
from orchestrator.export.dae.residual_dae import DataType, Kind, Sampled, Variable
from orchestrator.export.modelica.source.text import Experiment
from orchestrator.export.recipe import Recipe

_READINGS = {Interpolation.HOLD: 0, Interpolation.LINEAR: 1, Interpolation.CUBIC: 2}
_LEAST_SAMPLES = 64
_MOST_SAMPLES = 1_000_000
_FARTHEST = 2.3e9  # seconds: as far as times of a run may be from 0, whole
_SPARE = 8  # times as many samples as the delay needs: for steps that are shorter


@dataclass(frozen=True, slots=True)
class DelayLine:
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
        about = f"What comes in, {self.delay_ns / 1e6:g} ms later"
        return build_sampled(
            Layout(without_equations(name, about, self._sampled())), recipe, {"2.0": target}
        )

    @property
    def _samples(self) -> int:
        needed = -(-self.age_ns // self.step_ns)
        return max(_LEAST_SAMPLES, _SPARE * (needed + 1))

    def _check(self) -> None:
        steps = 2 if self.interpolation is Interpolation.CUBIC else 1
        if self.age_ns < steps * self.step_ns:
            least = "two steps, for a cubic," if steps == 2 else "one step"
            raise CapabilityError(
                f"holds its signal back for {self.age_ns / 1e6:g} ms (delay"
                f" {self.delay_ns / 1e6:g} ms, read {self.advance_ns / 1e6:g} ms ahead of that for"
                f" the rest of its loops); expected at least {least} of"
                f" {self.step_ns / 1e6:g} ms: take a shorter step, or delay mode 'plain'"
            )
        if self._samples > _MOST_SAMPLES:
            raise CapabilityError(
                f"would keep {self._samples} samples; expected at most {_MOST_SAMPLES}: take a"
                " longer step"
            )

    def _sampled(self) -> Sampled:
        shape, own_unit = self.signal.shape, self.signal.unit
        kind = DataType(self.signal.type.value)

        def signals(
            name: str, sort: Kind, text: str, values: Sequence[float], unit: str | None
        ) -> list[Variable]:
            return [
                Variable(
                    element,
                    sort,
                    kind,
                    ca.SX.sym(element),
                    ca.SX(value),
                    array=name if shape else "",
                    description=text,
                    unit=unit,
                    shape=shape,
                )
                for element, value in zip(element_names(name, shape), values, strict=True)
            ]

        inputs = signals(
            "u", Kind.INPUT, self.signal.description or "Signal", self.initial, own_unit
        )
        outputs = signals("y", Kind.OUTPUT, "The signal, late", self.initial, self.unit)
        start = signals(
            "initial", Kind.PARAMETER, "The signal up to the start", self.initial, own_unit
        )
        own = [
            _parameter(
                "delay", seconds(self.delay_ns), "s", "Declared delay", least=0.0, most=_FARTHEST
            ),
            _parameter(
                "advance",
                seconds(self.advance_ns),
                "s",
                "It is read so much later",
                least=-_FARTHEST,
                most=_FARTHEST,
            ),
            _parameter("gain", self.factor, None, "Factor of the output"),
            _parameter("offset", self.offset, None, "Added to the output"),
            _parameter(
                "interpolation",
                float(_READINGS[self.interpolation]),
                None,
                "Between samples: 0 hold, 1 linear, 2 cubic",
                DataType.INTEGER,
            ),
            _parameter(
                "begins_with_input",
                0.0,
                None,
                "The first sample is the input at the start, not 'initial'",
                DataType.BOOLEAN,
            ),
        ]
        gain, offset = own[2].symbol, own[3].symbol
        first = ca.vertcat(*(gain * variable.symbol + offset for variable in start))
        parameters = (*own, *start)
        return Sampled(
            ca.SX.sym("t"),
            ca.SX.sym("h"),
            tuple(inputs),
            parameters,
            tuple(outputs),
            first,
            first,
            {variable.name: () for variable in outputs},
            code="delay_line.c",
            room=2 + self._samples * (1 + len(inputs)),
            fixed=frozenset(variable.name for variable in parameters),
        )


def _parameter(
    name: str,
    value: float,
    unit: str | None,
    text: str,
    kind: DataType = DataType.REAL,
    least: float | None = None,
    most: float | None = None,
) -> Variable:
    return Variable(
        name,
        Kind.PARAMETER,
        kind,
        ca.SX.sym(name),
        ca.SX(value),
        minimum=least,
        maximum=most,
        unit=unit,
        description=text,
    )
