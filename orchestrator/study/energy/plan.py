"""What is asked of a run's energy: who holds it, where it passes, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Positive


@dataclass(frozen=True, slots=True)
class Motion:
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


@dataclass(frozen=True, slots=True)
class Bond:
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


@dataclass(frozen=True, slots=True)
class LedgerPort:
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


@dataclass(frozen=True, slots=True)
class Account:
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


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing on the way of an interface, and the bond behind it."""

    name: str
    effort: tuple[str, ...] = ()
    motion: Motion = Motion()


@dataclass(frozen=True, slots=True)
class Interface:
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


@dataclass(frozen=True, slots=True)
class LedgerPlan:
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
        found = [
            f"port '{port.name}': no account '{port.account}'; accounts:"
            f" {', '.join(accounts) or 'none'}"
            for port in self.ports
            if port.account and port.account not in accounts
        ]
        used: set[str] = set()
        for each in self.interfaces:
            ends = (each.begin, each.end)
            for name in (*ends, *each.sources):
                if name not in ports:
                    known = ", ".join(ports) or "none"
                    found.append(f"interface '{each.name}': no port '{name}'; ports: {known}")
                elif name in used:
                    found.append(f"interface '{each.name}': port '{name}' is used already")
                elif bool(ports[name].account) is (name in each.sources):
                    has = "has one" if ports[name].account else "has none"
                    wants = "no account" if name in each.sources else "an account"
                    found.append(
                        f"interface '{each.name}': port '{name}': expected {wants}, it {has}"
                    )
                used.add(name)
            same = all(name in ports for name in ends) and len({ports[e].sign for e in ends}) == 1
            if same and each.stages:
                found.append(
                    f"interface '{each.name}': the powers of '{each.begin}' and '{each.end}' both"
                    f" count '{ports[each.begin].positive}'; with stages between them expected one"
                    " 'in' and one 'out', since one gives what the other gets"
                )
        return found
