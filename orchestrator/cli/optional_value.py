"""Options whose value may be left out, which the parser of the command line has not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperCommand

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def completed(arguments: Sequence[str], option: str, value: str) -> Iterator[str]:
    """Yield arguments of a command, an option without a number after it with a value.

    ``--realtime 2`` and ``--realtime=2`` say the same; of ``--realtime FILE`` the file is the next
    argument. What stands behind ``--`` is no option.
    """
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            yield argument
            yield from rest
            return
        if argument != option:
            yield argument
        elif rest and _NUMBER.fullmatch(rest[0]):
            yield f"{option}={rest.pop(0)}"
        else:
            yield f"{option}={value}"


class RealTimeCommand(TyperCommand):
    """A command whose ``--realtime`` is that of the wall without a factor."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        return super().parse_args(ctx, list(completed(args, "--realtime", "1")))
