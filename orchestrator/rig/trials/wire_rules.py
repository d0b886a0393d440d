"""What a relay does with what passes: losses, delays, repetitions, forgeries."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal

from orchestrator.core.structs import Struct

#: From the device to the adapter, and from the adapter to the device.
Way = Literal["up", "down"]
Transport = Literal["udp", "tcp", "serial", "memory"]
#: A relay's own port, another port of the same address, or another address.
Sender = Literal["own", "port", "host"]
#: What a TCP connection can suffer, in the place of content.
HALF_CLOSE, RESET = b"\0half close", b"\0reset"


class Passing(Struct):
    """A datagram, a line, a record, or what came at once of a stream.

    content: Its bytes.
    number: How many passed in this direction before it since the disturbance began.
    seconds: Since then.
    """

    content: bytes
    number: int
    seconds: float


class Leaving(Struct):
    """What leaves the relay: how long after it came, and from where."""

    delay_s: float
    content: bytes
    sender: Sender = "own"


Rule = Callable[[Passing], Sequence[Leaving]]
#: Makes a content with an outlying value, a number of samples ahead.
Forge = Callable[[bytes, int], bytes]


def untouched(passing: Passing) -> list[Leaving]:
    """Pass it on."""
    return [Leaving(0.0, passing.content)]


def nothing(_: Passing) -> list[Leaving]:
    """Pass nothing on."""
    return []


def lost(share: float, seed: int) -> Rule:
    """Lose a share."""
    draws = random.Random(seed)  # noqa: S311 - the same losses at each run

    def rule(passing: Passing) -> list[Leaving]:
        return [] if draws.random() < share else untouched(passing)

    return rule


def first_lost(count: int) -> Rule:
    """Lose the first ones."""
    return lambda passing: [] if passing.number < count else untouched(passing)


def late_by(seconds: float) -> Rule:
    """Delay all by the same time."""
    return lambda passing: [Leaving(seconds, passing.content)]


def growing(slope: float) -> Rule:
    """Delay by more and more, s per s."""
    return lambda passing: [Leaving(slope * passing.seconds, passing.content)]


def again(seconds: float) -> Rule:
    """Pass each on, and once more so much later."""
    return lambda passing: [*untouched(passing), Leaving(seconds, passing.content)]


def overtaken(every: int, seconds: float) -> Rule:
    """Delay some, so that others overtake them."""
    return lambda passing: [Leaving(0.0 if passing.number % every else seconds, passing.content)]


def held(seconds: float) -> Rule:
    """Hold all for so long, once, and let it go at once."""
    return lambda passing: [Leaving(max(0.0, seconds - passing.seconds), passing.content)]


def old_ones(count: int, seconds: float) -> Rule:
    """Let the first ones come again in a row, so much later."""
    gap = 3e-4

    def rule(passing: Passing) -> list[Leaving]:
        if passing.number >= count:
            return untouched(passing)
        again = seconds - passing.seconds + gap * passing.number
        return [*untouched(passing), Leaving(again, passing.content)]

    return rule


def jitter(largest: float, share: float, seed: int) -> Rule:
    """Delay by up to ``most`` in order, and lose a share."""
    draws = random.Random(seed)  # noqa: S311 - the same delays at each run
    last = 0.0

    def rule(passing: Passing) -> list[Leaving]:
        nonlocal last
        if draws.random() < share:
            return []
        last = max(last, passing.seconds + largest * draws.random())
        return [Leaving(last - passing.seconds, passing.content)]

    return rule


def cut(every: int) -> Rule:
    """Cut some at another length each time."""

    def rule(passing: Passing) -> list[Leaving]:
        content = passing.content
        if passing.number % every == 0:
            content = content[: passing.number // every % max(len(content), 1)]
        return [Leaving(0.0, content)]

    return rule


def split(parts: int) -> Rule:
    """Let it come in parts, a quarter of a ms after each other."""

    def rule(passing: Passing) -> list[Leaving]:
        size = max(1, -(-len(passing.content) // parts))
        pieces = [passing.content[i : i + size] for i in range(0, len(passing.content), size)]
        return [Leaving(2.5e-4 * i, piece) for i, piece in enumerate(pieces)]

    return rule


def mixed(seed: int) -> Rule:
    """Lose a tenth, double a tenth, and delay by up to 10 ms."""
    draws = random.Random(seed)  # noqa: S311 - the same draws at each run

    def rule(passing: Passing) -> list[Leaving]:
        fate, delay, draw = draws.random(), draws.random(), draws.random()
        if fate < 0.1:
            return []
        leaving = [Leaving(0.01 * delay, passing.content)]
        return [*leaving, Leaving(0.01 * draw, passing.content)] if fate < 0.2 else leaving

    return rule


def same() -> Rule:
    """Let the first one come in the place of all."""
    first = b""

    def rule(passing: Passing) -> list[Leaving]:
        nonlocal first
        first = first or passing.content
        return [Leaving(0.0, first)]

    return rule


def once(content: bytes) -> Rule:
    """Add one content behind the first."""
    return lambda passing: [
        *untouched(passing),
        *([Leaving(0.0, content)] if passing.number == 0 else []),
    ]


def before(forge: Callable[[bytes], bytes]) -> Rule:
    """Let another content come before the first one of which one can be made."""
    done = False

    def rule(passing: Passing) -> list[Leaving]:
        nonlocal done
        forged = passing.content if done else forge(passing.content)
        if forged == passing.content:
            return untouched(passing)
        done = True
        return [Leaving(0.0, forged), Leaving(1e-3, passing.content)]

    return rule


def moved(passing: Passing) -> list[Leaving]:
    """Pass it on from another port."""
    return [Leaving(0.0, passing.content, "port")]


def ahead(forge: Forge) -> Rule:
    """Add one far ahead behind the first."""

    def rule(passing: Passing) -> list[Leaving]:
        forged = [Leaving(1e-3, forge(passing.content, 10_000))] if passing.number == 0 else []
        return [*untouched(passing), *forged]

    return rule


def stranger(first: bool) -> Callable[[Forge], Rule]:  # noqa: FBT001 - one of two cases
    """Let another host send a forged datagram before or behind each."""

    def make(forge: Forge) -> Rule:
        def rule(passing: Passing) -> list[Leaving]:
            forged = Leaving(0.0 if first else 1e-3, forge(passing.content, 1), "host")
            return [forged, Leaving(2e-3 if first else 0.0, passing.content)]

        return rule

    return make
