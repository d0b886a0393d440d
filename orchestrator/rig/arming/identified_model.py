"""Models in the place of devices for arming, with the dynamics and gains that were identified."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.linalg import expm

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block, Input, Output, State, block
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Component,
    LinearTransformation,
    SourceKind,
    System,
    TransportDelay,
)
from orchestrator.loops import LinearSystem
from orchestrator.loops.loop_account import signal_names
from orchestrator.rig.arming.tables import ArmingTable
from orchestrator.rig.hardware.twin_file import Lag, SignalPair, TwinFile
from orchestrator.study.prepare.prepare import prepare_with
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings, SystemReader

#: A model whose response is a smaller share of the identified one does not follow that command.
_FOLLOWS = 1e-9


class GainRatio(Struct):
    """An identified gain and the model's, at the slowest frequency that the record shows.

    component, response, command: Whose it is.
    identified, model: Of the response per command, complex; they are gains at rest but for what
        integrates.
    is_sure: Whether the interval of the gain leaves no doubt about its sign.
    """

    component: str
    response: str
    command: str
    identified: complex
    model: complex
    is_sure: bool

    @property
    def factor(self) -> float:
        """Return by how much the device moves farther than its model, below 0: the other way."""
        if abs(self.model) <= _FOLLOWS * abs(self.identified):
            return math.nan
        ratio = self.identified / self.model
        return math.copysign(abs(ratio), ratio.real)

    def objection(self, within: float) -> str:
        """Say why margins of the model say nothing of this device; empty: they do."""
        factor = self.factor
        model = math.copysign(abs(self.model), self.model.real)
        subject = f"{self.component}.{self.response} was identified to follow {self.command}"
        if math.isnan(factor):
            return f"{subject}, but its model does not: check whether axes are exchanged"
        gains = f"{subject} with a gain of {factor * model:.4g}, its model has {model:.4g}"
        if not self.is_sure:
            return f"{gains}: its interval has both signs; identify it with a larger amplitude"
        if factor < 0.0:
            return f"{gains}, of the other sign: correct the direction of the axis, or the model"
        if not 1.0 / within <= factor <= within:
            return (
                f"{gains}, which is {factor:.4g} times that, expected 1/{within:g} to {within:g}"
                " times (arming.gain_within): correct a unit, or the model"
            )
        return ""


def gain_ratios(linear: LinearSystem, run: System, twin: TwinFile) -> Iterator[GainRatio]:
    """Yield the ratios of the pairs of a twin that a loop through the device can have in it."""
    name = twin.component
    used = used_responses(linear.system, name)
    wired = wired_commands(run, name)
    for pair in twin.pair:
        if pair.response.partition("[")[0] not in used:
            continue
        frequency = pair.sample_rate.value / pair.samples
        if pair.command is None:
            for command in sorted(wired):
                model = _model(linear, name, command, pair.response, frequency)
                if abs(model) > _FOLLOWS:
                    yield GainRatio(name, pair.response, command, 0.0, model, is_sure=False)
        elif pair.command.partition("[")[0] in wired:
            assert pair.gain is not None  # noqa: S101 - a command is present
            model = _model(linear, name, pair.command, pair.response, frequency)
            after: complex = 1.0  # the delay
            if pair.lag is not None:
                after = complex(pair.lag.transfer(np.array([frequency]))[0])
            factor_found = pair.gain.value * after
            is_sure = pair.gain.low * pair.gain.high > 0.0
            yield GainRatio(name, pair.response, pair.command, factor_found, model, is_sure)


def with_gains(system: System, ratios: Sequence[GainRatio]) -> tuple[System, tuple[str, ...]]:
    """Turn up what is commanded of models by the identified gains, and say so.

    Of several responses of one command, the one whose gain is farthest off counts.
    """
    largest: dict[str, GainRatio] = {}
    for gain_ratio in (ratio for ratio in ratios if ratio.factor and math.isfinite(ratio.factor)):
        end = f"{gain_ratio.component}.{gain_ratio.command}"
        if end not in largest or _off(gain_ratio) > _off(largest[end]):
            largest[end] = gain_ratio
    lines = []
    for line in system.connections:
        line_ratio = largest.get(str(line.target))
        transformation = line.transformation or LinearTransformation()
        if line_ratio is not None and isinstance(transformation, LinearTransformation):
            by = line_ratio.factor
            turned = LinearTransformation(by * transformation.factor, by * transformation.offset)
            line = replace(line, transformation=turned)  # noqa: PLW2901
        lines.append(line)
    remarks = (
        f"{gain_ratio.component}.{gain_ratio.response} was identified with {gain_ratio.factor:.4g}"
        " times its model's"
        f" gain from {gain_ratio.command}; margins are those with it"
        for gain_ratio in largest.values()
    )
    return replace(system, connections=tuple(lines)), tuple(remarks)


def used_responses(system: System, name: str) -> set[str]:
    """Name the outputs of a component that something reads."""
    lines = system.connections
    return {line.source.connector for line in lines if line.source.component == name}


def wired_commands(system: System, name: str) -> set[str]:
    """Name the inputs of a component that something is connected to."""
    lines = system.connections
    return {line.target.connector for line in lines if line.target.component == name}


def _off(ratio: GainRatio) -> float:
    return abs(math.log(abs(ratio.factor)))


def _model(
    linear: LinearSystem, name: str, command: str, response: str, frequency: float
) -> complex:
    """Return what a model's response is of a command of a frequency in Hz; 0: it has no such."""
    member = next(member for member in linear.schedule().members if member.name == name)
    connectors = linear.system.components[name].connectors
    inputs = signal_names(name, [connectors[connector_name] for connector_name in member.inputs])
    outputs = signal_names(name, [connectors[output] for output in member.outputs])
    ends = _signal(name, command), _signal(name, response)
    if ends[0] not in inputs or ends[1] not in outputs:
        return 0.0
    step_ns = member.ticks * linear.step_ns
    model = linear.models[name]
    transition, n = model.transition(step_ns, order=0), len(model.states)
    into, out_of = n + inputs.index(ends[0]), n + outputs.index(ends[1])
    turn = cmath.exp(2j * math.pi * frequency * step_ns * 1e-9)
    inner = np.linalg.solve(turn * np.eye(n) - transition[:n, :n], transition[:n, into])
    return complex(transition[out_of, into] + transition[out_of, :n] @ inner)


def _signal(component: str, scalar: str) -> str:
    """Name a scalar of a twin as those of linear models are: elements are counted from 1."""
    name, _, element = scalar.partition("[")
    return f"{component}.{name}[{int(element[:-1]) + 1}]" if element else f"{component}.{name}"


def with_identified_dynamics(
    system: System, run: System, twins: Sequence[TwinFile], step_ns: int
) -> tuple[System, tuple[str, ...]]:
    """Put the lag and the gain that were identified of devices in the place of their models.

    A device takes a command and holds it from then on; a model that is stepped after what commands
    it has the command of the step's end all over the step. So lines that begin at a model that was
    exchanged are a step later; a model that follows at once needs none.
    """
    remarks = []
    for twin in twins:
        entries = {p.response: (p, lag) for p in twin.pair if (lag := p.lag)}
        if not entries:
            continue
        name = twin.component
        used, wired = used_responses(system, name), wired_commands(run, name)
        lags = ", ".join(f"{response}: {_words(lag)}" for response, (_, lag) in entries.items())
        subject = f"'{name}' was identified with a lag ({lags})"
        if unknown := sorted(used - set(entries)):
            remarks.append(
                f"{subject}, but its model has {unknown[0]!r} as well, of which none was"
                " identified: the model is left unchanged"
            )
            continue
        commands = {str(entries[response][0].command) for response in used}
        if unpaired := sorted(commands ^ wired):
            remarks.append(
                f"{subject}, but not how {', '.join(sorted(used))} follow {unpaired[0]!r} as well"
                " as"
                " the others: the model is left unchanged"
            )
            continue
        system = _exchanged(
            system, name, {response: entries[response] for response in used}, step_ns
        )
        remarks.append(f"margins are those with the identified lag of '{name}' ({lags})")
    return system, tuple(remarks)


def _words(lag: Lag) -> str:
    damping = "" if lag.damping is None else f", damping {lag.damping:.4g}"
    return f"{lag.frequency:.4g} Hz{damping}"


def _exchanged(
    system: System, name: str, pairs: Mapping[str, tuple[SignalPair, Lag]], step_ns: int
) -> System:
    old = system.components[name]
    lagged = block(lag_block(old, pairs))
    unwired = wired_commands(system, name) - set(lagged.connectors)
    components = {**system.components, name: replace(lagged, name=name)}
    lines = []
    for line in system.connections:
        if line.target.component == name and line.target.connector in unwired:
            continue
        if line.source.component == name:
            nominal = line.delay.nominal_ns if line.delay else 0
            later = replace(line.delay, nominal_ns=nominal + step_ns) if line.delay else None
            line = replace(line, delay=later or TransportDelay(nominal + step_ns))  # noqa: PLW2901
        lines.append(line)
    return replace(system, components=components, connections=tuple(lines))


def lag_block(model: Component, pairs: Mapping[str, tuple[SignalPair, Lag]]) -> type[Block]:
    """Return a block whose outputs follow commands by identified lags, exactly over a step."""
    commands = sorted({str(pair.command) for pair, _ in pairs.values()})

    def step(self: Block, t: float, h: float) -> None:  # noqa: ARG001 - the signature of steps
        """Let each response relax to its command, which is held."""
        for name, (pair, lag) in pairs.items():
            assert pair.gain is not None  # noqa: S101 - a lag is present
            end = np.array([pair.gain.value * getattr(self, str(pair.command)), 0.0])
            at = np.array([getattr(self, f"at_{name}"), getattr(self, f"rate_{name}")])
            at = end + expm(_matrix(lag) * h) @ (at - end)
            setattr(self, f"at_{name}", float(at[0]))
            setattr(self, f"rate_{name}", float(at[1]))
            setattr(self, name, float(at[0]))

    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": "A device as it was identified.",
        "step": step,
    }
    states = [f"{kind}_{name}" for name in pairs for kind in ("at", "rate")]
    members["__annotations__"] = dict.fromkeys([*commands, *pairs, *states], float)
    for command in commands:
        members[command] = Input(unit=str(model.connectors[command].unit))
    for name in pairs:
        unit = str(model.connectors[name].unit)
        members[name] = Output(unit=unit, depends_on=tuple(commands))
    members |= {name: State(start=0.0) for name in states}
    return type("Identified", (Block,), members)


def _matrix(lag: Lag) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    w = 2.0 * math.pi * lag.frequency
    if lag.damping is None:  # the rate is no state of the first order: it dies down, unseen
        return np.array([[-w, 0.0], [0.0, -w]])
    return np.array([[0.0, 1.0], [-w * w, -2.0 * lag.damping * w]])


_DEVICE = f"{SourceKind.DEVICE}:"


def model_system(
    prepared: PreparedCase, reader: SystemReader, settings: RunSettings, table: ArmingTable
) -> System:
    """Prepare a case as it is where no device stands in it, with the values for its arming.

    Its lines that hardware makes are there, with their delays.
    """
    name, case = prepared.name, prepared.case
    plain = case.model_copy(
        update={
            "devices": {},
            "physical": (),
            "swap": {**_modelled(case.swap), **table.models},
            "set": {**case.set, **table.set},
            "delays": {**case.delays, **table.delays},
        }
    )
    model_settings = replace(settings, swaps=_modelled(settings.swaps))
    system = prepare_with(name, plain, reader, model_settings, case)
    for component, part in system.components.items():
        if part.source.kind is SourceKind.DEVICE:
            raise DescriptionError(
                f"case '{name}': component '{component}' is a device without a model of its"
                f" dynamics: name one in arming.models, as '{component} = \"FILE.fmu\"'"
            )
    return system


def _modelled(swaps: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in swaps.items() if not text.startswith(_DEVICE)}
