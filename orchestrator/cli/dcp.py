"""``softdock dcp``: systems and FMUs as slaves of the Distributed Co-Simulation Protocol."""

from __future__ import annotations

import json as json_text
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator.cli.console import print_lines
from orchestrator.core import operating_system
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import replace

if TYPE_CHECKING:
    from orchestrator.dcp.description import SlaveDescription
    from orchestrator.dcp.unit import ServedSlave, ServeOptions

app = typer.Typer(
    help="Serve systems and FMUs as DCP slaves.",
    no_args_is_help=True,
)
Target = Annotated[
    Path,
    typer.Argument(
        help="An .fmu, an experiment (.toml), a system (.toml, .ssd, .ssp), or a folder with one"
    ),
]
Case = Annotated[
    str | None, typer.Option(help="Case of the experiment; optional if there is only one")
]
Step = Annotated[
    str | None,
    typer.Option(help="Time resolution, such as '1 ms'; default: the step of the system"),
]
TransportName = Annotated[
    Literal["udp", "tcp"], typer.Option("--transport", help="Transport protocol over IPv4")
]
Host = Annotated[str, typer.Option(help="Local address to listen on")]
Port = Annotated[
    int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free port")
]
Mode = Annotated[Literal["all", "nrt", "srt", "hrt"], typer.Option(help="Operating modes to offer")]
Heartbeat = Annotated[
    float | None,
    typer.Option(help="Stop if the master is silent for this many seconds; default: never"),
]


@app.command()
def serve(
    target: Target,
    case: Case = None,
    step: Step = None,
    transport: TransportName = "udp",
    host: Host = "127.0.0.1",
    port: Port = 8080,
    mode: Mode = "all",
    heartbeat: Heartbeat = None,
    description: Annotated[
        Path | None, typer.Option(help="Also write the description to this file, .dcpx or .dcp")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="End after this many runs; default: run until Ctrl-C")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the ready line as JSON")] = False,
) -> None:
    """Serve a system or an FMU until Ctrl-C or SIGTERM.

    The command prints one line when it is ready.
    """
    from orchestrator.dcp.server import SlaveServer
    from orchestrator.dcp.unit import ipv4

    options = _options(step, transport, host, port, mode, heartbeat)
    with ExitStack() as held:
        served = _served(held, target, case, options)
        server = SlaveServer(served.description, served.model, options.transport, host, port)
        held.callback(server.close)
        endpoint = ipv4(host, server.address[1])
        slave_description = replace(served.description, transports={options.transport: endpoint})
        server.slave.about = slave_description
        if description is not None:
            _write(description, slave_description)
        for number in operating_system.ENDINGS:
            signal.signal(number, lambda *_: server.stop())
        if json:
            facts = {"transport": transport, "host": host, "port": endpoint.port}
            typer.echo(json_text.dumps({**facts, "uuid": str(slave_description.uuid)}))
        else:
            print_lines(
                f"{slave_description.name}: DCP 1.0 slave at {transport} {host}:{endpoint.port},"
                f" uuid {slave_description.uuid}",
            )
        slave = server.slave
        server.serve(lambda: runs is not None and slave.runs >= runs and slave.master is None)
        if slave.late and not json:
            print_lines(f"steps late in real time: {slave.late}")


@app.command()
def describe(
    target: Target,
    output: Annotated[
        Path | None, typer.Option(help="File to write, .dcpx or .dcp; default: NAME.dcpx")
    ] = None,
    case: Case = None,
    step: Step = None,
    transport: TransportName = "udp",
    host: Host = "127.0.0.1",
    port: Port = 8080,
    mode: Mode = "all",
    heartbeat: Heartbeat = None,
) -> None:
    """Write the description of a DCP slave.

    It is the slave that `serve` serves with the same options.
    """
    with ExitStack() as held:
        options = _options(step, transport, host, port, mode, heartbeat)
        served = _served(held, target, case, options)
        path = output or Path(f"{served.description.name}.dcpx")
        _write(path, served.description)
        print_lines(f"{path}  (uuid {served.description.uuid})")


def _options(
    step: str | None,
    transport: str,
    host: str,
    port: int,
    mode: str,
    heartbeat: float | None,
) -> ServeOptions:
    from orchestrator.dcp.identifiers import OpMode, Transport
    from orchestrator.dcp.unit import ServeOptions

    if heartbeat is not None and not 0.001 <= heartbeat <= 3600.0:
        raise DescriptionError(f"--heartbeat: expected 0.001 to 3600 s, found {heartbeat:g}")
    modes = frozenset(OpMode) if mode == "all" else frozenset({OpMode[mode.upper()]})
    spoken = {"udp": Transport.UDP_IPV4, "tcp": Transport.TCP_IPV4}[transport]
    return ServeOptions(step, spoken, host, port, modes, heartbeat)


def _served(held: ExitStack, target: Path, case: str | None, options: ServeOptions) -> ServedSlave:
    from orchestrator.dcp.unit import served_slave

    if target.suffix == ".fmu":
        return held.enter_context(served_slave(target, options))
    from orchestrator.cli.export import chosen_case
    from orchestrator.study.experiment import RunOptions
    from orchestrator.study.prepare.prepared_case import RunSettings

    overrides = RunOptions(step=options.step)
    _, system, run_options, _ = chosen_case(target, case, overrides, RunSettings({}, {}, {}))
    return held.enter_context(served_slave(system, replace(options, step=run_options.step)))


def _write(path: Path, slave_description: SlaveDescription) -> None:
    from orchestrator.core.recording import whole_file
    from orchestrator.dcp.dcp_file import archive_of, write_dcpx

    if path.suffix not in {".dcpx", ".dcp"}:
        raise DescriptionError(f"{path}: expected a name that ends in .dcpx or .dcp")
    content = (
        archive_of(slave_description) if path.suffix == ".dcp" else write_dcpx(slave_description)
    )
    with whole_file(path) as draft:
        draft.write_bytes(content)
