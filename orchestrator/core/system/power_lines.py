"""Power ports found by names and units of connectors, and connected by their directed lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from math import pi
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
    with_article,
)
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system.checks import compatible
from orchestrator.core.system.component import Component
from orchestrator.core.system.connection import Connection, Endpoint, LinearTransformation
from orchestrator.core.system.delay import TransportDelay, delay_of
from orchestrator.core.system.hierarchy import element
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.core.system.ports import Causality, Connector, DataType, Positive, PowerPort
from orchestrator.core.units.conversion import BaseUnit, may_lack_two_pi, meant
from orchestrator.core.units.tables import Meaning, number, without_angle

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def is_power(effort: Connector, flow: Connector) -> bool:
    """Whether the product of two connectors is a power, as that of an effort and a flow is."""
    return product_of("W", effort, flow) is not None


@cache
def product_in(target_unit: str, *units: str | None) -> float | None:
    """Return how much the product of some units is in another; ``None`` if it is none of that.

    A power of counts per minute is none: between turns and angles is a factor of 2 pi.
    """
    return _product(target_unit, [(unit, None) for unit in units])


def product_of(target_unit: str, *connectors: Connector) -> float | None:
    """Do the same for connectors; what a file defines a unit to be wins over its name."""
    if all(connector.unit_definition is None for connector in connectors):
        return product_in(target_unit, *(connector.unit for connector in connectors))
    return _product(
        target_unit, [(connector.unit, connector.unit_definition) for connector in connectors]
    )


def _product(target_unit: str, units: list[tuple[str | None, BaseUnit | None]]) -> float | None:
    product, is_counted = Meaning(), False
    for unit, definition in units:
        if unit is None:
            return None
        try:
            meaning = meant(unit, definition)
        except UnitMismatchError:
            return None
        if meaning.offset:
            return None  # a product needs a temperature that begins at zero
        product = product.times(meaning)
        is_counted = is_counted or _may_be_angular(meaning)
    goal = meant(target_unit, None)
    if product.cycles or (product.clock and is_counted):
        return None
    if without_angle(product.exponents) != without_angle(goal.exponents):
        return None
    return number(product.factor / goal.factor, product.pi - goal.pi) * (2.0 * pi) ** product.turns


def _may_be_angular(meaning: Meaning) -> bool:
    """Whether a rate does not say that it counts turns, and does so often: ``1/min``."""
    is_rate = set(meaning.exponents) == {"s"} and meaning.exponents["s"] < 0
    return is_rate and may_lack_two_pi(meaning, Meaning({"rad": 1, **meaning.exponents}))


_WORDS = {
    "effort": ("force", "torque", "voltage", "pressure", "wrench"),
    "flow": ("angular_velocity", "velocity", "speed", "current", "volume_flow", "twist"),
    "displacement": ("position", "angle", "charge", "orientation"),
}
#: Of a port whose connectors have no further name, such as ``force`` and ``velocity``.
_PLAIN = "port"


def power_ports(owner: Component | System) -> dict[str, PowerPort]:
    """Return the power ports of a component or system: declared ones, and those found by names.

    An effort and a flow are a port if their names are the same but for the words for them, as
    ``force_a`` and ``velocity_a`` are, they go in opposite directions, and the product of their
    units is a power. The port is then called by the rest of the name, ``a``, or ``port`` if there
    is none. A position of the same name goes along. Connectors of a declared port are in no other.
    """
    declared = dict(owner.power_ports)
    used = {name for port in declared.values() for name in port.connectors}
    by_stem: dict[str, dict[str, list[Connector]]] = {}
    for connector in owner.connectors.values():
        role = _role_of_name(connector.name)
        signal = connector.causality in {Causality.INPUT, Causality.OUTPUT}
        if role and signal and connector.type is DataType.REAL and connector.name not in used:
            kind, stem = role
            by_stem.setdefault(stem, {}).setdefault(kind, []).append(connector)
    for stem, kinds in by_stem.items():
        port = _port(stem or _PLAIN, kinds)
        if port is not None and port.name not in declared:
            declared[port.name] = port
    return declared


def power_port(owner: Component | System, name: str) -> PowerPort:
    """Return a power port by name, or raise UnknownNameError that lists the existing ones."""
    ports = power_ports(owner)
    if name not in ports:
        raise unknown_name_error(f"'{owner.name}'", "power port", name, ports)
    return ports[name]


def _role_of_name(name: str) -> tuple[str, str] | None:
    """Kind and rest of a connector's name, if it holds one of the words."""
    for kind, words in _WORDS.items():
        for word in words:
            parts = re.fullmatch(rf"(.*?)[_.]?{word}(?:[_.](.*))?", name)
            if parts and (not parts[1] or name[len(parts[1])] in "_."):
                return kind, "_".join(filter(None, parts.groups()))
    return None


def _port(name: str, kinds: dict[str, list[Connector]]) -> PowerPort | None:
    efforts, flows = kinds.get("effort", []), kinds.get("flow", [])
    pairs = pairs_of_power(efforts, flows)
    if not pairs or len(pairs) != max(len(efforts), len(flows)):
        return None  # none, or one that would have to be guessed
    return port_of_pairs(name, pairs, kinds.get("displacement", []))


def pairs_of_power(
    efforts: Iterable[Connector], flows: Collection[Connector]
) -> list[tuple[Connector, Connector]]:
    """Return each effort with each flow that goes the other way and makes a power with it."""
    return [
        (effort, flow)
        for effort in efforts
        for flow in flows
        if effort.shape == flow.shape
        and effort.causality is not flow.causality
        and is_power(effort, flow)
    ]


def port_of_pairs(
    name: str,
    pairs: Sequence[tuple[Connector, Connector]],
    displacements: Iterable[Connector],
    positive: Positive | None = None,
) -> PowerPort:
    """Return the port of some pairs; displacements go along that go the way of the flow."""
    along = [c.name for c in displacements if c.causality is pairs[0][1].causality]
    efforts, flows = ([pair[end].name for pair in pairs] for end in (0, 1))
    return PowerPort(name, tuple(efforts), tuple(flows), tuple(along), positive=positive)


Delay = TransportDelay | str | float | None


class _Side(Struct):
    """One of the two ports, and whose it is."""

    path: str
    owner: Component | System
    port: PowerPort

    def __str__(self) -> str:
        return f"'{self.path}.{self.port.name}'"

    def connector(self, name: str) -> Connector:
        connector_found = self.owner.connectors.get(name)
        if connector_found is None:
            raise unknown_name_error(
                f"power port {self}: '{self.path}'", "connector", name, self.owner.connectors
            )
        return connector_found

    @property
    def takes_effort(self) -> bool:
        return self.connector(self.port.effort[0]).causality is Causality.INPUT

    @property
    def positive(self) -> Positive:
        return self.port.positive or (Positive.IN if self.takes_effort else Positive.OUT)


def connect_power(
    system: System,
    first: str,
    second: str,
    *,
    delay: Delay = None,
    effort_delay: Delay = None,
    flow_delay: Delay = None,
) -> System:
    """Connect two power ports: the effort one way, the flow and what goes along the other way."""
    here, there = _side(system, first), _side(system, second)
    _fit(here, there)
    giver, taker = (there, here) if here.takes_effort else (here, there)
    turned = giver.positive is taker.positive
    location = f"power connection {first} - {second}"
    efforts = _lines(giver, taker, giver.port.effort, taker.port.effort)
    flows = _lines(taker, giver, taker.port.flow, giver.port.flow)
    for (_, effort), (_, flow) in zip(efforts, flows, strict=True):
        wrench = effort.shape == (6,) and effort.unit is flow.unit is None
        if not wrench and not is_power(effort, flow):
            raise UnitMismatchError(
                f"{location}: effort '{effort.name}' in {effort.unit or 'no unit'} times flow"
                f" '{flow.name}' in {flow.unit or 'no unit'} is not a power; expected units whose"
                " product is W"
            )
    along = _lines(taker, giver, taker.port.displacement, giver.port.displacement)
    late_delay = delay_of(delay if effort_delay is None else effort_delay)
    lines = [replace(line, delay=late_delay) for line, _ in efforts]
    if turned:
        lines = [replace(line, transformation=LinearTransformation(-1.0)) for line in lines]
    late_delay = delay_of(delay if flow_delay is None else flow_delay)
    lines += [replace(line, delay=late_delay) for line, _ in (*flows, *along)]
    return replace(system, connections=(*system.connections, *lines))


def _side(system: System, text: str) -> _Side:
    end = Endpoint.parse(text)
    owner = element(system, end.component)
    if not isinstance(owner, (Component, type(system))):
        raise DescriptionError(f"'{text}': a bus has no power ports")
    return _Side(end.component, owner, power_port(owner, end.connector))


def _fit(here: _Side, there: _Side) -> None:
    """Refuse ports of another kind, with the same causality, or in another frame."""
    both = f"power ports {here} and {there}"
    for role in ("effort", "flow", "displacement"):
        names = [getattr(side.port, role) for side in (here, there)]
        if len(names[0]) != len(names[1]):
            raise ConnectorMismatchError(
                f"{both}: {len(names[0])} and {len(names[1])} connectors of {role},"
                f" {', '.join(names[0]) or 'none'} and {', '.join(names[1]) or 'none'};"
                " expected as many"
            )
    if here.takes_effort is there.takes_effort:
        verb = "take" if here.takes_effort else "give"
        raise ConnectorMismatchError(
            f"{both}: both {verb} the effort ('{here.port.effort[0]}' and"
            f" '{there.port.effort[0]}'); put a component between them that"
            f" {'gives' if here.takes_effort else 'takes'} it on both sides, such as"
            f" {'a spring' if here.takes_effort else 'a mass'}"
        )
    if here.port.frame != there.port.frame:
        raise ConnectorMismatchError(
            f"{both}: one is in frame '{here.port.frame or 'not said'}', the other in"
            f" '{there.port.frame or 'not said'}'; put a component between them that turns efforts"
            " and flows from one frame into the other, or declare both in the same frame"
        )


def _lines(
    giver: _Side, taker: _Side, sources: Sequence[str], targets: Sequence[str]
) -> list[tuple[Connection, Connector]]:
    """Return lines from connectors of one port to those of the other, and their sources."""
    lines = []
    for output, taken in zip(sources, targets, strict=True):
        source, target = giver.connector(output), taker.connector(taken)
        line = Connection(Endpoint(giver.path, output), Endpoint(taker.path, taken))
        for end, actual, expected in (
            (line.source, source.causality, Causality.OUTPUT),
            (line.target, target.causality, Causality.INPUT),
        ):
            if actual is not expected:
                raise ConnectorMismatchError(
                    f"power ports {giver} and {taker}: '{end}' is {with_article(actual)}, expected"
                    f" {with_article(expected)}: the port that gives the effort takes the flow"
                )
        if (error := next(compatible(line, source, target), None)) is not None:
            raise error
        lines.append((line, source))
    return lines
