"""The console of an operator: one line that shows a rig, and a key for each wish."""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.terminal import printable
from orchestrator.rig.supervisor.operator import state_line

if TYPE_CHECKING:
    from orchestrator.rig.supervisor.operator import Operator

KEYS = {
    "a": "arm",
    "e": "engage",
    "d": "disengage",
    "s": "stop",
    " ": "quickstop",
    "r": "reset",
    "q": "quit",
}
#: Between two looks while no key is pressed, s.
_PERIOD = 0.1


def attend_with_keys(operator: Operator, status: dict[str, Any]) -> None:
    """Show a rig and grant wishes by key, until the operator quits or the supervisor ends."""
    keys = ", ".join(f"{'space' if key == ' ' else key} {wish}" for key, wish in KEYS.items())
    _say(f"you are {status['operator']}; keys: {keys}")
    with _single_keys() as file:
        seen: list[str] = []
        try:
            while True:
                seen = _show(status, seen)
                ready, _, _ = select.select([file], [], [], _PERIOD)
                pressed = os.read(file, 64).decode(errors="replace") if ready else None
                if pressed == "":
                    return  # the terminal is gone
                status = operator.wish("status")
                for key in pressed or "":
                    wish = KEYS.get(key.lower(), "")
                    if wish == "quit":
                        return
                    if wish:
                        status = operator.wish(wish)
                        _say(status.get("refused", f"you: {wish}"))
        except DeviceError as ended:
            _say(str(ended))
        finally:
            sys.stdout.write("\n")


@contextmanager
def _single_keys() -> Iterator[int]:
    """Let the terminal give each key at once, and show none; yield its file."""
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    tty.setcbreak(file)
    try:
        yield file
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


def _show(status: dict[str, Any], seen: list[str]) -> list[str]:
    """Print what is new since it was last shown, and the line of what is so; return the news."""
    news = list(_news(status))
    for text in news:
        if text not in seen:
            _say(text)
    width = shutil.get_terminal_size().columns - 1
    sys.stdout.write(f"\r\x1b[K{printable(state_line(status))[:width]}")
    sys.stdout.flush()
    return news


def _say(text: str) -> None:
    """Print a line that stays, above the one that changes."""
    sys.stdout.write(f"\r\x1b[K{printable(text)}\n")
    sys.stdout.flush()


def _news(status: dict[str, Any]) -> Iterator[str]:
    """Yield what is said once, as soon as it is so."""
    yield f"the rig is in {status['state']}"
    for kind in ("missing", "latched", "alarms"):
        yield from (f"{kind}: {one}" for one in status[kind])
    others = [one for one in status["attend"] if one != status["operator"]]
    yield from (f"{one} attends, too" for one in others)
    wished = status["wished"]
    if wished and wished["by"] != status["operator"]:
        yield f"{wished['by']}: {wished['wish']} ({wished['time_s']:.1f} s of this machine's clock)"
