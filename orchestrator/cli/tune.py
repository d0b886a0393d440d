"""``softdock tune`` and ``softdock mark``: a run that goes on in another process."""

from __future__ import annotations

import getpass
import json
from http.client import HTTPException
from typing import Annotated
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import typer

from orchestrator.cli.console import print_message
from orchestrator.core.diagnostics import DescriptionError

RunAddress = Annotated[
    str, typer.Argument(metavar="RUN", help="Port or address of its page, as --live printed it")
]
#: s; the margins of a rig may take a while.
_PATIENCE = 120.0


def tune(
    run: RunAddress,
    values: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE..", help="component.name, or 'a.y -> b.u'")
    ],
    ramp: Annotated[
        str | None, typer.Option(help="Time in which it goes there, as '0.5 s', or seconds")
    ] = None,
) -> None:
    """Set open inputs, tunable parameters and delays of a run with --live while it goes on."""
    from orchestrator.cli.run import pairs
    from orchestrator.core.system import nanoseconds, seconds

    asked = pairs(values, "tune", "NAME=VALUE", empty=False)
    over = {} if ramp is None else {"ramp": str(seconds(nanoseconds(ramp, "--ramp")))}
    for name, value in asked.items():
        _post(run, "set", {"name": name, "value": value, **over})
        print_message(f"{name} = {value}")


def mark(
    run: RunAddress, text: Annotated[str, typer.Argument(help="What is to stand in the log")]
) -> None:
    """Put an event with the present time and a text into the log of a run with --live."""
    _post(run, "mark", {"text": text})


def _post(run: str, path: str, given: dict[str, str]) -> None:
    """Ask the process that shows a run; what it refuses is raised."""
    place = urlsplit(run if "//" in run else f"http://{run if ':' in run else f'127.0.0.1:{run}'}")
    by = {"by": f"{getpass.getuser()} on the command line"}
    query = urlencode({**given, **dict(parse_qsl(place.query)), **by})
    own = {"Origin": f"http://{place.netloc}"}
    try:
        address = f"http://{place.netloc}/{path}?{query}"
        request = Request(address, method="POST", headers=own)
        with build_opener(ProxyHandler({})).open(request, timeout=_PATIENCE) as answer:
            found = json.load(answer)
    except HTTPError as refused:
        said = refused.read().decode(errors="replace").strip()
        raise DescriptionError(said.removeprefix("DescriptionError: ")) from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise DescriptionError(
            f"{run}: no run is shown there ({why}): expected the port or the address that a run"
            " with --live printed"
        ) from None
    if "refused" in found:
        raise DescriptionError(found["refused"])
