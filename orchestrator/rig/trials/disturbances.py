"""Every disturbance of a wire, in both directions, and what a run has to make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from orchestrator.core.structs import Struct
from orchestrator.rig.devices import device_class, read_settings
from orchestrator.rig.devices.conformance import Bench, Wiring, bench_of
from orchestrator.rig.trials import wire_rules
from orchestrator.rig.trials.wire_rules import Forge, Rule, Way

#: Whether a run has to end, may end, or has to go on.
Ending = Literal["must", "may", "never"]


class Disturbance(Struct):
    """What happens to a wire.

    name: In tables.
    kind: Key of the table of transports that cannot have it.
    up, down: Make the rules of both directions, given a forger; ``None``: all passes.
    from_first: It acts from the first content on; else from SIGUSR1 on.
    restart: The fault of the emulator that goes with it.
    ends: Whether the run has to end, may end, or has to go on.
    causes: Words of which one is in the error of a run that ends.
    answers_end: The same of a device that takes a command as the answer to a frame only, if in its
        cycle: a delay makes all answers useless, and it ends the motion itself. Empty: as others.
    silent_ends: The same of a device that does not say which commands it took, and so cannot show
        what it lost. Empty: as others.
    hides_s: Age that nobody can know from the wire, s.
    reasons: Names of the faults that a supervisor may find, if the limits of its rig are so narrow.
    """

    name: str
    kind: str
    up: Callable[[Forge], Rule] | None = None
    down: Callable[[Forge], Rule] | None = None
    from_first: bool = False
    restart: str = ""
    ends: Ending = "never"
    causes: tuple[str, ...] = ()
    answers_end: Ending | None = None
    silent_ends: Ending | None = None
    hides_s: float = 0.0
    reasons: tuple[str, ...] = ()

    def expected(self, *, in_cycle: bool, says_taken: bool) -> tuple[Ending, tuple[str, ...]]:
        """Return whether a run of a device ends, and words of which one is in its error.

        in_cycle: Whether it takes commands as answers in their cycle only.
        says_taken: Whether it says which commands it took.
        """
        if in_cycle and self.answers_end is not None:
            return self.answers_end, (*self.causes, *_DEAF)
        if not says_taken and self.silent_ends is not None:
            return self.silent_ends, self.causes
        return self.ends, self.causes

    def rules(self, forge: Forge) -> dict[Way, Rule]:
        """Make the rules of both directions."""
        return {
            "up": wire_rules.untouched if self.up is None else self.up(forge),
            "down": wire_rules.untouched if self.down is None else self.down(forge),
        }


def _rule(make: Callable[..., Rule], *numbers: float) -> Callable[[Forge], Rule]:
    return lambda _: make(*numbers)


def _fixed(rule: Rule) -> Callable[[Forge], Rule]:
    return lambda _: rule


_STALE = (
    "stale",
    "silent",
    "no sample came",
    "older by its own clock",
    "held on their way",
    "old or repeat",
)
_DEAF = (
    *("no command that was sent", "does not take its commands", "ignores its commands"),
    *("no command for", "confirmed no"),
)
_GONE = ("has ended", "closed", "connection", "lost", "Connection", "gone", *_STALE)
_ANEW = ("restarted", "started again", "not in the same motion", *_STALE)
_ANOTHER_RUN = ("of another run", "no answer", "does not answer", "no sample came within")
_FOREIGN = ("more than one sends", "refused", "do not follow", *_STALE)

#: Faults of a supervisor. A robot counts answers that came too late, and reports them as status.
_OLD, _UNTAKEN, _NEW = ("sensor_stale",), ("command_lost", "status"), ("device_restarted", "clock")
_FEW, _ODD = ("sensor_lost",), ("malformed",)
_AWAY = ("device_lost", *_OLD)

#: All of them, in the order of the table.
DISTURBANCES = (
    Disturbance("none", "nothing"),
    Disturbance(
        "30 % lost",
        "loss",
        _rule(wire_rules.lost, 0.3, 1),
        reasons=(*_FEW, *_OLD),
    ),
    Disturbance(
        "50 ms late from the first on",
        "delay",
        _rule(wire_rules.late_by, 0.05),
        from_first=True,
        answers_end="must",
        hides_s=0.06,
        reasons=(*_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "0.5 s late from the first on",
        "delay",
        _rule(wire_rules.late_by, 0.5),
        from_first=True,
        ends="may",
        causes=(*_DEAF, *_STALE, "no answer", "does not answer", "no sample came within"),
        hides_s=0.55,
        reasons=(*_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "later by 0.2 s in each second",
        "delay",
        _rule(wire_rules.growing, 0.2),
        ends="must",
        causes=(*_STALE, *_DEAF),
        reasons=(*_OLD, *_UNTAKEN),
    ),
    Disturbance("each twice at once", "repeat", _rule(wire_rules.again, 0.0)),
    Disturbance("each again 20 ms later", "replay", _rule(wire_rules.again, 0.02)),
    Disturbance("each again 1 s later", "replay", _rule(wire_rules.again, 1.0)),
    Disturbance("five old ones in a row", "replay", _rule(wire_rules.old_ones, 5, 1.0)),
    Disturbance(
        "each fifth 15 ms late",
        "overtake",
        _rule(wire_rules.overtaken, 5, 0.015),
        reasons=_UNTAKEN,
    ),
    Disturbance(
        "jitter of 30 ms, a fifth lost",
        "loss",
        _rule(wire_rules.jitter, 0.03, 0.2, 2),
        answers_end="may",
        reasons=(*_FEW, *_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "jitter of 30 ms in order",
        "delay",
        _rule(wire_rules.jitter, 0.03, 0.0, 2),
        answers_end="may",
        reasons=(*_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "each fourth cut",
        "cut",
        _rule(wire_rules.cut, 4),
        ends="may",
        causes=_STALE,
        reasons=(*_ODD, *_FEW, *_OLD),
    ),
    Disturbance(
        "all in four parts",
        "split",
        _rule(wire_rules.split, 4),
        ends="may",
        causes=(*_STALE, "none of its protocol"),
        reasons=(*_ODD, *_FEW, *_OLD),
    ),
    Disturbance(
        "held for 50 ms",
        "delay",
        _rule(wire_rules.held, 0.05),
        reasons=(*_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "held for 80 ms",
        "delay",
        _rule(wire_rules.held, 0.08),
        ends="may",
        causes=_STALE,
        reasons=(*_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "held for 0.3 s",
        "delay",
        _rule(wire_rules.held, 0.3),
        ends="must",
        causes=_STALE,
        reasons=_OLD,
    ),
    Disturbance(
        "held for 2 s",
        "delay",
        _rule(wire_rules.held, 2.0),
        ends="must",
        causes=_STALE,
        reasons=_OLD,
    ),
    Disturbance(
        "nothing comes",
        "silence",
        _fixed(wire_rules.nothing),
        ends="must",
        causes=(*_STALE, *_GONE),
        reasons=_AWAY,
    ),
    Disturbance(
        "one old one in place of each",
        "same",
        _rule(wire_rules.same),
        ends="must",
        causes=(*_STALE, *_DEAF, *_ANEW),
        reasons=(*_OLD, *_UNTAKEN, *_NEW),
    ),
    Disturbance(
        "half closed",
        "close",
        _fixed(wire_rules.once(wire_rules.HALF_CLOSE)),
        ends="must",
        causes=_GONE,
        reasons=_AWAY,
    ),
    Disturbance(
        "reset",
        "close",
        _fixed(wire_rules.once(wire_rules.RESET)),
        ends="must",
        causes=_GONE,
        reasons=_AWAY,
    ),
    Disturbance("a stranger sends forged ones", "stranger", wire_rules.stranger(first=False)),
    Disturbance(
        "a stranger sends forged ones first",
        "stranger",
        wire_rules.stranger(first=True),
        from_first=True,
        ends="may",
        causes=_FOREIGN,
    ),
    Disturbance("one far ahead, from its own address", "ahead", wire_rules.ahead),
    Disturbance(
        "one of another run first",
        "ahead",
        lambda forge: wire_rules.before(lambda content: forge(content, 10_000)),
        from_first=True,
    ),
    Disturbance(
        "one of another run in place of each, from the first on",
        "same",
        lambda _: wire_rules.same(),
        from_first=True,
        ends="must",
        causes=_ANOTHER_RUN,
    ),
    Disturbance("its clock runs 1 % fast", "clock", restart="clock-fast:0.01"),
    Disturbance(
        "its clock jumps back by 1 s",
        "clock",
        restart="clock-back:1",
        ends="must",
        causes=_ANEW,
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "from another port",
        "stranger",
        _fixed(wire_rules.moved),
        ends="must",
        causes=(*_STALE, *_FOREIGN),
        reasons=_OLD,
    ),
    Disturbance(
        "30 % of commands lost",
        "commands lost",
        down=_rule(wire_rules.lost, 0.3, 3),
        reasons=_UNTAKEN,
    ),
    Disturbance(
        "all commands lost",
        "commands lost",
        down=_fixed(wire_rules.nothing),
        ends="must",
        causes=(*_DEAF, *_STALE),
        reasons=_UNTAKEN,
    ),
    Disturbance(
        "each command again 0.2 s later", "commands again", down=_rule(wire_rules.again, 0.2)
    ),
    Disturbance(
        "each fifth command 15 ms late",
        "commands overtake",
        down=_rule(wire_rules.overtaken, 5, 0.015),
        reasons=_UNTAKEN,
    ),
    Disturbance(
        "commands held for 90 ms",
        "commands held",
        down=_rule(wire_rules.held, 0.09),
        ends="may",
        causes=(*_DEAF, *_STALE),
        reasons=(*_UNTAKEN, *_OLD),
    ),
    Disturbance(
        "commands held for 0.5 s",
        "commands held",
        down=_rule(wire_rules.held, 0.5),
        ends="may",
        causes=(*_DEAF, *_STALE),
        reasons=(*_UNTAKEN, *_OLD),
    ),
    Disturbance(
        "first three requests lost",
        "requests lost",
        down=_rule(wire_rules.first_lost, 3),
        from_first=True,
    ),
    Disturbance(
        "both ways: a tenth lost, a tenth twice, up to 10 ms late",
        "both",
        _rule(wire_rules.mixed, 4),
        _rule(wire_rules.mixed, 5),
        ends="may",
        causes=(*_STALE, "repeats old frames"),  # those of CAN have no number
        answers_end="may",
        reasons=(*_FEW, *_OLD, *_UNTAKEN),
    ),
    Disturbance(
        "restart, counts as at power-on",
        "restart",
        restart="restart-after:0.001",
        ends="must",
        causes=_ANEW,
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "restart, counts go on",
        "counted restart",
        restart="restart-on:0.001",
        ends="must",
        silent_ends="may",
        causes=(*_ANEW, *_DEAF),
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "restart, counts 40 s ahead",
        "counted restart",
        restart="restart-ahead:0.001",
        ends="must",
        causes=_ANEW,
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "restart, counts 0.5 s back",
        "counted restart",
        restart="restart-back:0.001",
        ends="must",
        causes=_ANEW,
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "restart, counts go on, after 60 ms of silence",
        "counted restart",
        restart="restart-on:0.001,restart-pause:0.06",
        ends="must",
        silent_ends="may",
        causes=(*_ANEW, *_DEAF),
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "restart after 1 s of silence",
        "restart",
        restart="restart-after:0.001,restart-pause:1",
        ends="must",
        causes=_ANEW,
        reasons=(*_NEW, *_OLD),
    ),
    Disturbance(
        "restart at another port",
        "other port",
        _fixed(wire_rules.moved),
        restart="restart-after:0.001",
        ends="must",
        causes=(*_ANEW, *_FOREIGN),
        reasons=(*_NEW, *_OLD),
    ),
)

_TCP = "TCP loses, repeats and reorders nothing"
_NO_SENDER = {
    "tcp": "a stranger cannot send in a connection of others",
    "serial": "a frame of CAN has no sender",
    "memory": "only programs of the same account can write into the block",
}
_NO_PORT = {
    "tcp": "a connection has one port",
    "serial": "a serial line has no ports",
    "memory": "memory has no ports",
}
_ONE_LINE = "a serial line keeps its order"
_NO_STORE = "a CAN line stores no frame, and PDOs have no number"
_NEWEST = "memory holds the newest only: none can overtake"
#: Why a transport cannot have a kind of disturbance.
CANNOT: Mapping[tuple[str, str], str] = {
    **{
        ("tcp", kind): _TCP
        for kind in ("loss", "repeat", "replay", "overtake", "cut", "commands lost")
    },
    **{("tcp", kind): _TCP for kind in ("commands again", "commands overtake", "requests lost")},
    ("tcp", "both"): _TCP,
    ("tcp", "same"): _TCP,
    ("tcp", "ahead"): "in a connection only the device itself can send it",
    **{("serial", kind): _ONE_LINE for kind in ("overtake", "commands overtake")},
    **{("serial", kind): _NO_STORE for kind in ("replay", "commands again")},
    **{("memory", kind): _NEWEST for kind in ("overtake", "commands overtake")},
    ("memory", "split"): "a record has parts already; a torn one is 'each fourth cut'",
    ("memory", "requests lost"): "it asks for nothing",
    **{(transport, "stranger"): why for transport, why in _NO_SENDER.items()},
    **{(transport, "other port"): why for transport, why in _NO_PORT.items()},
    **{
        (transport, "close"): "there is no connection to close"
        for transport in ("udp", "serial", "memory")
    },
}


def impossible(bench: Bench, wiring: Wiring, disturbance: Disturbance, *, commanded: bool) -> str:
    """Say why a wire cannot have a disturbance; empty: it can.

    commanded: Whether the device takes commands.
    """
    if wiring.relay is None:
        return "its bench has no wiring with a relay"
    reason = bench.without.get("clock-jump", "") if disturbance.kind == "clock" else ""
    if reason := reason or CANNOT.get((wiring.relay.transport, disturbance.kind), ""):
        return reason
    if disturbance.kind.startswith("commands") and not commanded:
        return "it takes no commands"
    if disturbance.kind in {"ahead", "stranger"} and bench.forged is None:
        return "its samples have neither number nor time"
    if disturbance.kind == "counted restart" and not bench.counts_on:
        return "its count is that of a connection or of this machine, which cannot go on"
    return ""


def possible_disturbances(adapter: str) -> list[Disturbance]:
    """Return what a relay can do before an adapter while it runs; none without a relay."""
    bench = bench_of(adapter)
    if bench.relayed is None:
        return []
    wiring, kind = bench.relayed(), device_class(adapter)
    ports = kind.connectors(read_settings(kind, wiring.settings, adapter))
    commanded = bool(ports.inputs)
    return [
        entry
        for entry in DISTURBANCES[1:]
        if not entry.from_first and not impossible(bench, wiring, entry, commanded=commanded)
    ]


def disturbance(name: str) -> Disturbance:
    """Return the one of a name that is known."""
    return next(entry for entry in DISTURBANCES if entry.name == name)
