"""``softdock supervisor``: an operator's wishes to the supervisor of a rig."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json

if TYPE_CHECKING:
    from orchestrator.rig.supervisor.operator import Operator

Wish = Literal["status", "arm", "engage", "disengage", "stop", "quickstop", "reset", "attend"]
#: Between two looks of a terminal that attends, s.
_PERIOD = 0.2


def supervisor(
    wish: Annotated[Wish, typer.Argument(help="What is wished")],
    rig: Annotated[str, typer.Argument(help="Name of the rig, supervisor.rig")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Look at a supervised rig, arm it in two steps, stop it, reset it, or attend it with keys.

    Exit code 1 if the supervisor refuses.
    """
    from orchestrator.rig.supervisor.operator import Operator

    with Operator(rig) as operator:
        found = operator.wish(wish)
        if wish == "attend" and not json and sys.stdin.isatty() and sys.stdout.isatty():
            from orchestrator.cli.rig_console import attend_with_keys

            attend_with_keys(operator, found)
            return
        _print(found, as_json=json)
        if wish == "attend":
            _attend(operator, found, as_json=json)
    if "refused" in found:
        raise typer.Exit(1)


def _attend(operator: Operator, found: dict[str, Any], *, as_json: bool) -> None:
    """Show what changes, until Ctrl-C or the end of the supervisor."""
    while True:
        time.sleep(_PERIOD)
        newest = operator.wish("status")
        if any(newest[key] != found[key] for key in ("state", "latched", "wished")):
            _print(newest, as_json=as_json)
        found = newest


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if "refused" in found:
        console.print(f"refused: {found['refused']}", markup=False)
    console.print(f"{found['rig']}: {found['state']}", markup=False)
    for missing in found["missing"]:
        console.print(f"missing: {missing}", markup=False)
    if found["armed"]:
        console.print(f"armed by {found['armed']['by']}", markup=False)
    for fault in found["latched"]:
        console.print(f"latched: {fault}", markup=False)
    if found["priority"]:
        console.print(found["priority"], markup=False)
