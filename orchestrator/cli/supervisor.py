"""``softdock supervisor`` and ``arm``: margins of devices, and an operator's wishes."""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.console import print_json, print_lines, print_table
from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.display import printable
from orchestrator.rig.supervisor.wire import Operator, state_line

if TYPE_CHECKING:
    from orchestrator.rig.arming.margins import Arming


Wish = Literal["status", "arm", "engage", "disengage", "stop", "quickstop", "reset", "attend"]
#: Between two looks of a terminal that attends, s.
_PERIOD = 0.2


def supervisor(
    wish: Annotated[Wish, typer.Argument(metavar="COMMAND", help="Command to send")],
    rig: Annotated[str, typer.Argument(help="Name of the rig, as in supervisor.rig")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Show the state of a supervised rig, or send it a command.

    `attend` shows the state and takes commands by key.
    """
    with Operator(rig) as operator:
        status = operator.wish(wish)
        if wish == "attend" and not json and sys.stdin.isatty() and sys.stdout.isatty():
            attend_with_keys(operator, status)
            return
        _print(status, as_json=json)
        while wish == "attend":  # until Ctrl-C or the end of the supervisor
            time.sleep(_PERIOD)
            newest = operator.wish("status")
            if any(newest[key] != status[key] for key in ("state", "latched", "wished")):
                _print(newest, as_json=json)
            status = newest
    if "refused" in status:
        raise typer.Exit(1)


def _print(status: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(status)
        return
    if "refused" in status:
        print_lines(f"refused: {status['refused']}")
    missing = (f"missing: {fact}" for fact in status["missing"])
    print_lines(f"{status['rig']}: {status['state']}", *missing)
    if status["armed"]:
        print_lines(f"armed by {status['armed']['by']}")
    print_lines(*(f"latched: {fault}" for fault in status["latched"]))
    if status["priority"]:
        print_lines(status["priority"])


def arm(
    target: Annotated[Path, typer.Argument(help="Experiment (.toml), or a folder with one")],
    case: Annotated[
        list[str] | None, typer.Option(help="Only this case; repeatable; default: all")
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry", help="Print the table and exit 0 even if arming is refused")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Compute the margins of loops through commanded devices.

    No device is opened.
    """
    from orchestrator.cli.target import experiment_of
    from orchestrator.rig.arming.extension import armed, expect_armed
    from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
    from orchestrator.study.reader import prepared_cases

    experiment, folder = experiment_of(target)
    reader, settings = SystemReader(folder), RunSettings(only=case or ())
    experiment, cases, _ = prepared_cases(experiment, reader, settings)
    armings = armed(experiment, cases, reader, settings)
    if json:
        print_json({name: arming.as_json() for name, arming in armings.items()})
    else:
        _print_margins(armings)
    if not dry:
        expect_armed(armings)


def _print_margins(armings: dict[str, Arming]) -> None:
    if not armings:
        print_lines("no case commands a device")
        return
    from orchestrator.rig.arming.extension import COLUMNS, arming_rows
    from orchestrator.study.content import texts_of

    rows = ((name, *row) for name, arming in armings.items() for row in arming_rows(arming))
    print_table("Arming", ["case", *COLUMNS], texts_of(rows))
    for name, arming in armings.items():
        remarks = [*arming.remarks, *([] if arming.is_granted else [arming.refusal()])]
        print_lines(*(f"{name}: {text}" for text in remarks))


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
_LOOK_PERIOD = 0.1


def attend_with_keys(operator: Operator, status: dict[str, Any]) -> None:
    """Show a rig and grant wishes by key, until the operator quits or the supervisor ends."""
    keys = ", ".join(f"{'space' if key == ' ' else key} {wish}" for key, wish in KEYS.items())
    _say(f"you are {status['operator']}; keys: {keys}")
    with _single_keys() as file:
        shown_lines: list[str] = []
        try:
            while True:
                shown_lines = _show(status, shown_lines)
                ready, _, _ = select.select([file], [], [], _LOOK_PERIOD)
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


def _show(status: dict[str, Any], shown_lines: list[str]) -> list[str]:
    """Print what is new since it was last shown, and the line of what is so; return the news."""
    news = list(_news(status))
    for text in news:
        if text not in shown_lines:
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
    """Yield each text that is printed once, when it first applies."""
    yield f"the rig is in {status['state']}"
    for kind in ("missing", "latched", "alarms"):
        yield from (f"{kind}: {text}" for text in status[kind])
    others = [text for text in status["attend"] if text != status["operator"]]
    yield from (f"{text} attends, too" for text in others)
    wished = status["wished"]
    if wished and wished["by"] != status["operator"]:
        yield f"{wished['by']}: {wished['wish']} ({wished['time_s']:.1f} s of this machine's clock)"
