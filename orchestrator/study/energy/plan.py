"""The plan of an energy ledger: who holds it, where it passes, and what lies between."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Causality,
    Component,
    Positive,
    PowerPort,
    System,
    power_ports,
    product_of,
)


class Motion(Struct):
    """Flows, and what they are the rates of.

    Parameters
    ----------
    flow
        Connectors, one for each effort; may be empty where there are displacements for all.
    displacement
        Connectors that go with the first efforts: the work is then effort times the difference of
        these, which is exact where the effort is held over a step.
    arm
        Connector of shape (3,), or empty. The second effort is then a torque about a point, and the
        second flow turns another one, which is here: the first effort's moment about that point,
        ``arm x effort``, is taken off the torque.
    """

    flow: tuple[str, ...] = ()
    displacement: tuple[str, ...] = ()
    arm: str = ""

    def __bool__(self) -> bool:
        return bool(self.flow or self.displacement)


class Bond(Struct):
    """Efforts and motion whose product is a power; all in one frame.

    An effort that is an input counts as held over each step, one that is an output as going
    straight from sample to sample.
    """

    effort: tuple[str, ...]
    motion: Motion

    def changed(self, effort: tuple[str, ...], motion: Motion) -> Bond:
        """Return the bond with other efforts or another motion, where they are given."""
        return replace(self, effort=effort or self.effort, motion=motion or self.motion)

    @property
    def connectors(self) -> tuple[str, ...]:
        """All connectors that it names, each once."""
        arm = (self.motion.arm,) if self.motion.arm else ()
        names = (*self.effort, *self.motion.flow, *self.motion.displacement, *arm)
        return tuple(dict.fromkeys(names))


class LedgerPort(Struct):
    """Where energy passes: into an account, or from what is outside of the ledger.

    Parameters
    ----------
    name
        For people.
    bond
        Efforts and motion.
    account
        Whose it is; empty: energy from outside that an interface takes up.
    positive
        Whether effort times flow is a power into the account or out of it.
    """

    name: str
    bond: Bond
    account: str = ""
    positive: Positive = Positive.IN

    @property
    def sign(self) -> int:
        """Of the work into its account."""
        return 1 if self.positive is Positive.IN else -1


class Account(Struct):
    """Who holds energy, as outputs in J, and gives it away, as outputs in W or J.

    Parameters
    ----------
    name
        For people.
    stored
        Energies that it holds.
    dissipated
        What becomes heat; none if it loses nothing. ``None``: not known; it is then what flows in
        and is not stored, and the account checks nothing.
    given
        What goes to something that the ledger does not know, such as what varies a stiffness.
    """

    name: str
    stored: tuple[str, ...] = ()
    dissipated: tuple[str, ...] | None = None
    given: tuple[str, ...] = ()

    @property
    def is_checked(self) -> bool:
        """Whether its balance can fail."""
        return self.dissipated is not None

    @property
    def outputs(self) -> tuple[str, ...]:
        """All that it names."""
        return *self.stored, *(self.dissipated or ()), *self.given


class Stage(Struct):
    """One thing on the way of an interface, and the bond behind it."""

    name: str
    effort: tuple[str, ...] = ()
    motion: Motion = Motion()


class Interface(Struct):
    """What lies between two ports and should pass all energy on.

    Parameters
    ----------
    name
        For people.
    begin, end
        Names of ports.
    stages
        What lies between, in order: the energy that each of them creates is the difference of the
        works of the bonds before and behind it.
    rest
        Name of what lies between the last stage and the end.
    sources
        Names of ports without an account, which bring energy in.
    """

    name: str
    begin: str
    end: str
    stages: tuple[Stage, ...] = ()
    rest: str = "hold"
    sources: tuple[str, ...] = ()


class LedgerPlan(Struct):
    """All of a ledger; ports that are in no interface bring energy from outside.

    Raises
    ------
    DescriptionError
        If an account or port is named that does not exist, a port is in two interfaces, or the
        powers of both ends of one with stages count the same way; all together.
    """

    accounts: tuple[Account, ...]
    ports: tuple[LedgerPort, ...]
    interfaces: tuple[Interface, ...] = ()

    def __post_init__(self) -> None:
        if problems := self._problems():
            raise DescriptionError(*problems)

    def port(self, name: str) -> LedgerPort:
        """Return a port that exists."""
        return next(port for port in self.ports if port.name == name)

    def without(self, accounts: Collection[str]) -> LedgerPlan:
        """Return the plan without some accounts: the other ends of their interfaces are outside."""
        if not accounts:
            return self
        ports = tuple(port for port in self.ports if port.account not in accounts)
        names = {port.name for port in ports}
        return LedgerPlan(
            tuple(account for account in self.accounts if account.name not in accounts),
            ports,
            tuple(
                interface
                for interface in self.interfaces
                if {interface.begin, interface.end} <= names
            ),
        )

    @property
    def connectors(self) -> tuple[str, ...]:
        """All connectors that it names, each once."""
        stages = (
            Bond(stage.effort, stage.motion)
            for interface in self.interfaces
            for stage in interface.stages
        )
        bonds = (*(port.bond for port in self.ports), *stages)
        held = (name for account in self.accounts for name in account.outputs)
        return tuple(dict.fromkeys([*held, *(name for bond in bonds for name in bond.connectors)]))

    def _problems(self) -> list[str]:
        accounts = {account.name for account in self.accounts}
        ports = {port.name: port for port in self.ports}
        problems = [
            f"port '{port.name}': no account '{port.account}'; accounts:"
            f" {', '.join(accounts) or 'none'}"
            for port in self.ports
            if port.account and port.account not in accounts
        ]
        used: set[str] = set()
        for interface in self.interfaces:
            ends = (interface.begin, interface.end)
            for name in (*ends, *interface.sources):
                if name not in ports:
                    listed_ports = ", ".join(ports) or "none"
                    problems.append(
                        f"interface '{interface.name}': no port '{name}'; ports: {listed_ports}"
                    )
                elif name in used:
                    problems.append(f"interface '{interface.name}': port '{name}' is used already")
                elif bool(ports[name].account) is (name in interface.sources):
                    has = "has one" if ports[name].account else "has none"
                    wants = "no account" if name in interface.sources else "an account"
                    problems.append(
                        f"interface '{interface.name}': port '{name}': expected {wants}, it {has}"
                    )
                used.add(name)
            same = all(name in ports for name in ends) and len({ports[e].sign for e in ends}) == 1
            if same and interface.stages:
                problems.append(
                    f"interface '{interface.name}': the powers of '{interface.begin}' and"
                    f" '{interface.end}' both"
                    f" count '{ports[interface.begin].positive}'; with stages between them"
                    " expected one"
                    " 'in' and one 'out', since one gives what the other gets"
                )
        return problems


#: Outputs that say what an account asks for, by their name, and in which unit.
_OUTPUTS = {
    "stored": ("energy", "J"),
    "dissipated": ("dissipation", "W"),
    "given": ("exchange", "W"),
}


class _Place(Struct):
    """A power port of a component."""

    component: Component
    port: PowerPort

    @property
    def name(self) -> str:
        return f"{self.component.name}.{self.port.name}"

    def at(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{self.component.name}.{name}" for name in names)

    @property
    def takes_effort(self) -> bool:
        effort = self.component.connectors[self.port.effort[0]]
        return effort.causality is Causality.INPUT

    @property
    def positive(self) -> Positive:
        return self.port.positive or (Positive.IN if self.takes_effort else Positive.OUT)

    @property
    def bond(self) -> Bond:
        port = self.port
        along = self.at(port.displacement)
        fitting = along if all(self._goes_along(i) for i in range(len(along))) else ()
        return Bond(self.at(port.effort), Motion(self.at(port.flow), fitting))

    def _goes_along(self, index: int) -> bool:
        """Whether effort times displacement is an energy: angles and quaternions need not be."""
        connectors, port = self.component.connectors, self.port
        if index >= len(port.effort):
            return False
        effort, along = connectors[port.effort[index]], connectors[port.displacement[index]]
        energy = product_of("J", effort, along) is not None
        return energy and effort.shape == along.shape


def automatic_plan(system: System, *, declared_only: bool = False) -> LedgerPlan:
    """Make a ledger of the power ports that are connected with each other.

    A port that takes its efforts, all from one port of another component that is moved by it, is
    connected with that. Components with such ports have accounts; outputs of theirs that are called
    ``energy`` (J), ``dissipation`` and ``exchange`` (W) tell what they store, lose and give away.

    Parameters
    ----------
    system
        Flat, its components resolved.
    declared_only
        Whether only ports count that the system or an FMU declares, and none by their names.
    """
    power_ports_found = [
        _Place(component, port)
        for component in system.components.values()
        for port in (component.power_ports if declared_only else power_ports(component)).values()
    ]
    feeds = {str(line.target): str(line.source) for line in system.connections}
    pairs = [  # giver and taker of an effort
        (giver, taker)
        for taker in power_ports_found
        for giver in power_ports_found
        if taker.takes_effort and not giver.takes_effort
        if giver.at(giver.port.effort)
        == tuple(feeds.get(name, "") for name in taker.at(taker.port.effort))
        if _moved(giver, taker, feeds)
    ]
    paired = [power_port for pair in pairs for power_port in pair]
    owners = dict.fromkeys(power_port.component.name for power_port in paired)
    ports = tuple(
        LedgerPort(power_port.name, power_port.bond, power_port.component.name, power_port.positive)
        for power_port in paired
    )
    interfaces = tuple(_interface(*pair) for pair in pairs)
    return LedgerPlan(
        tuple(_account(system.components[name]) for name in owners), ports, interfaces
    )


def _moved(giver: _Place, taker: _Place, feeds: Mapping[str, str]) -> bool:
    """Whether the one that gives the effort is moved by the other: by flows or displacements."""
    giving, taking = giver.port, taker.port
    for into, out in ((giving.flow, taking.flow), (giving.displacement, taking.displacement)):
        ends = zip(giver.at(into), taker.at(out), strict=False)
        fed = [feeds.get(target) == source for target, source in ends]
        if fed and all(fed):
            return True
    return False


def _interface(giver: _Place, taker: _Place) -> Interface:
    name = f"{giver.name} - {taker.name}"
    if giver.positive is taker.positive:  # the effort changes its sign on the way
        return Interface(name, giver.name, taker.name)
    stage = Stage(f"motion to {giver.name}", motion=taker.bond.motion)
    return Interface(name, giver.name, taker.name, (stage,), f"effort to {taker.name}")


def _account(component: Component) -> Account:
    outputs = {c.name: c.unit for c in component.of(Causality.OUTPUT) if not c.shape}
    by_kind: dict[str, tuple[str, ...]] = {
        key: (f"{component.name}.{name}",)
        for key, (name, unit) in _OUTPUTS.items()
        if outputs.get(name) == unit
    }
    return Account(component.name, **by_kind)
