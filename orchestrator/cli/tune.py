"""``softdock tune`` and ``softdock mark``: a run that goes on in another process."""

from __future__ import annotations

import getpass
import json as json_text
import os
import socket
import sys
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Annotated
from urllib.parse import SplitResult, urlencode, urlsplit

import typer

from orchestrator.cli.console import print_message
from orchestrator.core.accounts import connect_to_name, page_name
from orchestrator.core.diagnostics import DescriptionError

RunAddress = Annotated[
    str, typer.Argument(metavar="RUN", help="Port or address that --live printed")
]
#: Holds the token of a run of another account or machine.
TOKEN = "SOFTDOCK_TOKEN"  # noqa: S105 - the name of a variable
#: s; the margins of a rig may take a while.
_PATIENCE = 120.0


def tune(
    run: RunAddress,
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE..", help="component.name=value, or 'a.y -> b.u=delay'"),
    ],
    ramp: Annotated[
        str | None,
        typer.Option(
            help="Duration of the ramp to the new value, such as '0.5 s'; default: a step"
        ),
    ] = None,
) -> None:
    """Set inputs, parameters and delays of a running simulation.

    The run must have been started with --live. Inputs must be open, parameters tunable.
    """
    from orchestrator.cli.run import pairs
    from orchestrator.core.system import nanoseconds, seconds

    requested = pairs(values, "tune", "NAME=VALUE", empty=False)
    over = {} if ramp is None else {"ramp": str(seconds(nanoseconds(ramp, "--ramp")))}
    for name, value in requested.items():
        _post(run, "set", {"name": name, "value": value, **over})
        print_message(f"{name} = {value}")


def mark(run: RunAddress, text: Annotated[str, typer.Argument(help="Text for the log")]) -> None:
    """Add a text with the time to the log of a running simulation.

    The run must have been started with --live.
    """
    _post(run, "mark", {"text": text})


def _post(run: str, path: str, values: dict[str, str]) -> None:
    """Ask the process that shows a run; what it refuses is raised."""
    address = urlsplit(
        run if "//" in run else f"http://{run if ':' in run else f'127.0.0.1:{run}'}"
    )
    query = {**values, "by": f"{getpass.getuser()} on the command line"}
    try:
        if address.query:
            raise DescriptionError(
                f"{run.partition('?')[0]}: every account of this machine can read the arguments of"
                f" a command: leave the token out; on the machine of the run its port is enough,"
                f" and elsewhere {TOKEN} holds the token, or you are asked for it"
            )
        connection = _local_connection(address)
        if connection is None:
            connection = HTTPConnection(address.hostname or "", address.port, timeout=_PATIENCE)
            query["token"] = _token()
        headers = {"Origin": f"http://{address.netloc}"}
        connection.request("POST", f"/{path}?{urlencode(query)}", headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != HTTPStatus.OK:
            message = content.decode(errors="replace").strip()
            raise DescriptionError(message.removeprefix("DescriptionError: "))
        outcome = json_text.loads(content)
    except (HTTPException, OSError, ValueError) as error:
        detail = "" if isinstance(error, ValueError) else f" there ({error})"
        raise DescriptionError(
            f"{run}: no run answers{detail}; pass the port or the address that a run with --live"
            " printed"
        ) from None
    if "refused" in outcome:
        raise DescriptionError(outcome["refused"])


def _local_connection(address: SplitResult) -> HTTPConnection | None:
    """Connect to a run of this account on this machine; ``None``: there is none at that address."""
    host, port = address.hostname or "", address.port or 0
    names = {"127.0.0.1": ["0.0.0.0", "::"], "::1": ["::"]}  # noqa: S104 - where a run may listen
    at = "127.0.0.1" if host == "localhost" else host
    for name in (at, *names.get(at, [])):
        try:
            channel = connect_to_name(page_name(name, port), socket.SOCK_STREAM, _PATIENCE)
        except OSError:
            continue
        connection = HTTPConnection(host, port)
        connection.sock = channel
        return connection
    return None


def _token() -> str:
    """Return the token of a run of another account or machine."""
    if token := os.environ.get(TOKEN):
        return token
    return getpass.getpass("token of the run: ") if sys.stdin.isatty() else ""
