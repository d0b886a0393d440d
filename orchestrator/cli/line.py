"""The line of a run in real time, which a process of its own draws: ``python -m`` by the run.

A thread of the run's process would need the interpreter that its blocks in Python wait for.
"""

from __future__ import annotations

import base64
import json
import pickle
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import PluginError
from orchestrator.core.display import printable
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.realtime import SharedRows

if TYPE_CHECKING:
    from orchestrator.core.simulation import Where

#: s, between two looks.
_PERIOD = 0.2
_NICE = 10
_MODULE = "orchestrator.cli.line"
_CLEAR = "\r\x1b[K"


@contextmanager
def drawn_line(
    case: str, status: Callable[[], str] | None, progress: Where, rows: SharedRows
) -> Iterator[None]:
    """Let a process draw a line about a run on standard error, until it is over.

    status: Returns what else the line shows; it is pickled. ``None``: nothing.
    """
    try:
        pickled = pickle.dumps(status)
    except Exception as error:
        raise PluginError(
            f"case '{case}': the status of {getattr(status, 'title', 'an extension')} cannot be"
            f" pickled: {error}; expected an object of a class at the top of a module"
        ) from error
    order = {
        "case": case,
        "status": base64.b64encode(pickled).decode(),
        "last_ns": progress.last_ns,
        "rows": len(rows.times_ns),
        "columns": rows.values.shape[1],
        "file": rows.file,
    }
    process = OwnProcess(_MODULE, json.dumps(order), files=[rows.file], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        process.finish()
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()


def line_of(rows: SharedRows, case: str, last_ns: int, status: Callable[[], str] | None) -> str:
    """Return the status line of a run."""
    count, last = rows.written, f" of {last_ns / 1e9:g} s"
    late_steps = int(rows.told[0])
    text = (
        f"{case}: {rows.times_ns[count - 1] / 1e9:.3f}{last}, {late_steps} late steps"
        if count
        else (f"{case}: before the first step{last}")
    )
    try:
        more = status() if status is not None else ""
    except Exception as error:  # noqa: BLE001 - the line goes on, and shows it
        more = str(error)
    return printable(f"{text} | {more}" if more else text)


def main() -> None:
    """Draw until the run is over: it has the other end of standard input."""
    order: dict[str, Any] = json.loads(sys.argv[1])
    operating_system.yield_to_others(_NICE)
    rows = SharedRows(order["rows"], order["columns"], order["file"])
    status = pickle.loads(base64.b64decode(order["status"]))  # noqa: S301 - of the run that started us
    while not select.select([sys.stdin], [], [], _PERIOD)[0]:
        text = line_of(rows, order["case"], order["last_ns"], status)
        sys.stderr.write(f"{_CLEAR}{text[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
