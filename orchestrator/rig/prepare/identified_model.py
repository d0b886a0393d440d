"""Models of devices for arming, with the dynamics that were identified."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

from orchestrator.core.simunits import Block, Input, Output, State, block
from orchestrator.core.system import Component, System, TransportDelay
from orchestrator.rig.prepare.identified_gain import used_responses, wired_commands

if TYPE_CHECKING:
    from orchestrator.rig.identification.twin_file import Dynamics, SignalPair, TwinFile


def with_identified_dynamics(
    system: System, run: System, twins: Sequence[TwinFile], step_ns: int
) -> tuple[System, tuple[str, ...]]:
    """Put the lag and the gain that were identified of devices in the place of their models.

    A device takes a command and holds it from then on; a model that is stepped after what commands
    it has the command of the step's end all over the step. So lines that begin at a model that was
    exchanged are a step later; a model that follows at once needs none.
    """
    told = []
    for twin in twins:
        entries = {p.response: p for p in twin.pair if p.dynamics and p.dynamics.order}
        if not entries:
            continue
        name = twin.component
        used, wired = used_responses(system, name), wired_commands(run, name)
        lag = ", ".join(f"{each}: {_words(pair)}" for each, pair in entries.items())
        if unknown := sorted(used - set(entries)):
            told.append(
                f"'{name}' was identified with a lag ({lag}), but its model has {unknown[0]!r} as"
                " well, of which none was: the model stays as it is"
            )
            continue
        commands = {str(entries[each].command) for each in used}
        if apart := sorted(commands ^ wired):
            told.append(
                f"'{name}' was identified with a lag ({lag}), but not how {', '.join(sorted(used))}"
                f" follow {apart[0]!r} as well as the others: the model stays as it is"
            )
            continue
        system = _exchanged(system, name, {each: entries[each] for each in used}, step_ns)
        told.append(f"margins are those with the identified lag of '{name}' ({lag})")
    return system, tuple(told)


def _words(pair: SignalPair) -> str:
    dynamics = pair.dynamics
    assert dynamics is not None  # noqa: S101 - only those with a lag are told
    assert dynamics.frequency is not None  # noqa: S101
    damping = f", damping {dynamics.damping.value:.4g}" if dynamics.damping else ""
    return f"{dynamics.frequency.value:.4g} Hz{damping}"


def _exchanged(system: System, name: str, pairs: Mapping[str, SignalPair], step_ns: int) -> System:
    old = system.components[name]
    made = block(lag_block(old, pairs))
    wired = {line.target.connector for line in system.connections if line.target.component == name}
    unwired = wired - set(made.connectors)
    components = {**system.components, name: replace(made, name=name)}
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


def lag_block(model: Component, pairs: Mapping[str, SignalPair]) -> type[Block]:
    """Return a block whose outputs follow commands by identified lags, exactly over a step."""
    commands = sorted({str(pair.command) for pair in pairs.values()})

    def step(self: Block, t: float, h: float) -> None:  # noqa: ARG001 - the signature of steps
        """Let each response relax to its command, which is held."""
        for name, pair in pairs.items():
            assert pair.dynamics is not None  # noqa: S101 - only those with a lag are here
            assert pair.gain is not None  # noqa: S101
            end = np.array([pair.gain.value * getattr(self, str(pair.command)), 0.0])
            at = np.array([getattr(self, f"at_{name}"), getattr(self, f"rate_{name}")])
            at = end + expm(_matrix(pair.dynamics) * h) @ (at - end)
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
        members[command] = Input(unit=_unit(model, command))
    for name in pairs:
        members[name] = Output(unit=_unit(model, name), depends_on=tuple(commands))
    members |= {name: State(start=0.0) for name in states}
    return type("Identified", (Block,), members)


def _unit(model: Component, connector: str) -> str:
    return str(model.connectors[connector].unit)


def _matrix(dynamics: Dynamics) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    assert dynamics.frequency is not None  # noqa: S101 - only those with a lag are asked for
    w = 2.0 * math.pi * dynamics.frequency.value
    if dynamics.damping is None:  # the rate is no state of the first order: it dies down, unseen
        return np.array([[-w, 0.0], [0.0, -w]])
    return np.array([[0.0, 1.0], [-w * w, -2.0 * dynamics.damping.value * w]])
