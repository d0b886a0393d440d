"""Entry point of the ``softdock`` command, whose commands are each loaded when they are called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import core
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from orchestrator.cli.failure import (
    INTERRUPTED,
    REFUSED,
    USAGE,
    ClosedOutput,
    close_output,
    fail,
    fail_usage,
    fail_with,
    wants_json,
)
from orchestrator.core import operating_system
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.display import keep_output, log_to_terminal, say_everything
from orchestrator.core.operating_system.interrupts import exits_raised, interruptible
from orchestrator.core.optional_packages import missing_package
from orchestrator.core.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Is set by a shell that asks what it can complete.
_COMPLETION = "_SOFTDOCK_COMPLETE"


def _offered(name: str | None, ctx: Any, begun: str) -> list[Any] | None:
    """Complete names that stand in the file that a command is called with."""
    from orchestrator.cli.completion import NAMES, names_for

    if name is None or name not in NAMES:
        return None
    arguments = dict(ctx.params)
    if (
        arguments.get("target") is None and ctx.args
    ):  # not sorted yet, where an option ends the line
        arguments["target"] = ctx.args[0]
    from orchestrator.core.system.source import packed_code_unopened

    with packed_code_unopened(all_code=True):  # nobody has asked for a command yet
        return [vars(core)["CompletionItem"](offer) for offer in names_for(name, arguments, begun)]


class _Argument(TyperArgument):
    """An argument whose names are completed."""

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what the shell offers."""
        offers = _offered(self.name, ctx, incomplete)
        return super().shell_complete(ctx, incomplete) if offers is None else offers


class _Option(TyperOption):
    """An option that looks at no value before one is given: Typer's own adapters cost time."""

    def process_value(self, ctx: Any, value: Any) -> Any:
        """Return the value as its type, or nothing."""
        if value is None and not self.required and self.callback is None:
            return None
        return super().process_value(ctx, value)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return what the shell offers."""
        offers = _offered(self.name, ctx, incomplete)
        return super().shell_complete(ctx, incomplete) if offers is None else offers


class Home(Struct):
    """Where a command is, and what the list of commands says of it.

    module: Below this package.
    name: Of the function, or of the group of commands, in it.
    help: Its own, or the first paragraph of its docstring.
    needs_linux: It moves devices, which are Linux's.
    """

    module: str
    name: str
    help: str
    needs_linux: bool = False

    def load(self, command: str) -> Any:
        """Make the command, under the name by which it is called.

        Raises CapabilityError: if it needs Linux, and this is another system.
        """
        if self.needs_linux:
            operating_system.expect_linux(f"'softdock {command}'")
        module = import_module(f"orchestrator.cli.{self.module}")
        loaded = getattr(module, self.name)
        holder = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
        if isinstance(loaded, typer.Typer):
            holder.add_typer(loaded, name=command)
        else:
            holder.command(command, cls=getattr(module, "COMMAND", TyperCommand))(loaded)
        built = get_group(holder).commands[command]
        ours: dict[Any, Any] = {TyperOption: _Option, TyperArgument: _Argument}
        for subcommand in (built, *getattr(built, "commands", {}).values()):
            for parameter in subcommand.params:
                parameter.__class__ = ours.get(type(parameter), type(parameter))
        for name, subcommand in getattr(built, "commands", {"": built}).items():
            full_name = f"{command} {name}".strip()
            if opens_systems(full_name, subcommand):
                _let_code_be_chosen(subcommand, looks=full_name in LOOKS)
            subcommand.epilog = _exit_codes(full_name)
        return built


#: What exit codes of single commands mean. All commands share 0, 2, 130 and 143.
_EXIT_CODES: Mapping[str, Mapping[int, str]] = {
    "check": {1: "the check found an error"},
    "run": {
        3: "a component went to its safe state, or a supervisor stopped the rig; all results are"
        " written",
        4: "a supervised rig was never engaged; all results are written",
        5: "an expectation failed; all results are written",
        6: "an operator stopped the run; all results are written",
    },
    "sweep": {5: "an expectation failed; all results are written"},
    "arm": {2: "arming is refused (without --dry), or an error that you can correct"},
    "supervisor": {1: "the supervisor refused the command"},
    "diff": {1: "the systems differ"},
    "fmu check": {1: "a check failed"},
    "devices check": {1: "a check failed"},
    "devices probe": {1: "no sample arrived"},
    "devices faults": {
        1: "a force, speed or age left its limits, a wrong cause was named, or a record is damaged",
    },
}
_COMMON = {
    0: "success",
    2: "an error that you can correct; the message says how",
    130: "interrupted by Ctrl-C (143: by SIGTERM)",
}


def _exit_codes(command: str) -> str:
    """Return the last paragraph of a command's help; the first character keeps its lines apart."""
    meanings = dict(sorted({**_COMMON, **_EXIT_CODES.get(command, {})}.items()))
    return "\b\nExit codes:\n" + "\n".join(f"  {k:<3}  {text}" for k, text in meanings.items())


#: Commands that look at systems: they leave the code of archives unopened, unless --code is given.
LOOKS = {
    "check",
    "arm",
    "animate",
    "replay",
    "graph",
    "diff",
    "analyze delays",
    "analyze loop",
    "analyze step",
    "certify",
    "stubs",
    "system show",
}
#: What systems are called among the parameters of commands, and those where it is another thing.
_SYSTEMS = {"target", "targets", "of", "before", "rig"}
_NO_SYSTEMS = {"convert", "supervisor"}


def opens_systems(name: str, command: Any) -> bool:
    """Whether a command opens a system, in which Python files and modules may be named."""
    return name not in _NO_SYSTEMS and any(
        parameter.name in _SYSTEMS for parameter in command.params
    )


def _code(code: Annotated[bool | None, typer.Option("--code/--no-code")] = None) -> None:
    """Have the option that commands get."""


def _let_code_be_chosen(command: Any, *, looks: bool) -> None:
    """Give a command the option that says whether it executes Python that a system names."""
    holder = typer.Typer(add_completion=False)
    holder.command()(_code)
    option: Any = get_group(holder).commands["-code"].params[0]
    option.__class__ = _Option
    archives = "all but those in archives" if looks else "all"
    option.help = f"Run the Python files and modules that a system names; default: {archives}"
    command.params.append(option)
    callback = command.callback

    def called(*arguments: Any, code: bool | None = None, **options: Any) -> Any:
        from orchestrator.core.system.source import code_chosen

        with code_chosen(choice=code, looks=looks):
            return callback(*arguments, **options)

    command.callback = called


HOMES: Mapping[str, Home] = {
    "build": Home("fmu", "build", "Build FMUs from recipes or Modelica files."),
    "check": Home(
        "check",
        "check",
        "Check a system or all cases of an experiment; nothing is run.",
    ),
    "run": Home("run", "run", "Run an experiment or a system, and write results and a report."),
    "arm": Home(
        "supervisor",
        "arm",
        "Compute the margins of loops through commanded devices.",
        needs_linux=True,
    ),
    "animate": Home("graph", "animate", "Render the animations of finished runs again."),
    "tune": Home(
        "tune",
        "tune",
        "Set inputs, parameters and delays of a running simulation.",
    ),
    "mark": Home(
        "tune",
        "mark",
        "Add a text with the time to the log of a running simulation.",
    ),
    "replay": Home("graph", "replay", "Play a recording in a browser."),
    "convert": Home("files", "convert", "Convert a result to another file format."),
    "sweep": Home(
        "sweep",
        "sweep",
        "Run the sweeps of an experiment, or continue them.",
    ),
    "graph": Home("graph", "graph", "Draw systems as SVG and PNG, and list their loops."),
    "diff": Home("diff", "diff", "Compare two systems."),
    "analyze": Home(
        "analyze",
        "app",
        "Compute stability, delays, modes, margins and longest steps.",
    ),
    "certify": Home(
        "certify",
        "certify",
        "Show what the step of each master does to every loop.",
    ),
    "examples": Home("files", "app", "List and copy examples, recipes and the Modelica library."),
    "schema": Home(
        "files",
        "schema",
        "Print the JSON schema of a kind of TOML file.",
    ),
    "stubs": Home(
        "files",
        "stubs",
        "Write the names and types of a system as a Python module.",
    ),
    "fmu": Home("fmu", "app", "Inspect and check FMUs of any tool."),
    "devices": Home(
        "devices",
        "app",
        "List, describe, probe, emulate and check device adapters.",
        needs_linux=True,
    ),
    "dcp": Home(
        "dcp",
        "app",
        "Serve systems and FMUs as DCP slaves.",
    ),
    "supervisor": Home(
        "supervisor",
        "supervisor",
        "Show the state of a supervised rig, or send it a command.",
        needs_linux=True,
    ),
    "identify": Home(
        "identify",
        "identify",
        "Excite devices one at a time, and write twins and a report.",
        needs_linux=True,
    ),
    "system": Home("system", "app", "Show, edit and convert systems."),
    "export": Home("export", "app", "Export systems and blocks for other tools."),
}


class Commands(TyperGroup):
    """The commands; one is loaded when it is called, and a closed pipe is no error of its own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._loaded: dict[str, Any] = {}
        for name, home in HOMES.items():
            self.add_command(TyperCommand(name, help=home.help))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load the requested command."""
        if cmd_name in HOMES and cmd_name not in self._loaded:
            self._loaded[cmd_name] = HOMES[cmd_name].load(cmd_name)
        return self._loaded.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, without loading them."""
        TyperGroup(commands=dict(self.commands)).format_commands(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the requested command; Typer would make exit code 1 of a closed pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ClosedOutput from None


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        from orchestrator.cli.console import output as console

        console.print(f"softdock {version('softdock')}", markup=False)
        raise typer.Exit


app = typer.Typer(
    name="softdock",
    cls=Commands,
    help="Co-simulate FMUs, Python blocks and hardware with every delay between them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def softdock(
    version_: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_version, help="Print the version and exit"
        ),
    ] = False,
) -> None:
    """Co-simulate FMUs, Python blocks and hardware with every delay between them."""


def main() -> None:
    """Run the command line; a problem that the user can mend ends with exit code 2."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for them takes time
    log_to_terminal()
    say_everything()
    if wants_json():
        keep_output()
    try:
        with interruptible(), exits_raised():
            code = _run()
            if sys.stdout is not None:  # `>&-` leaves none
                sys.stdout.flush()
            sys.exit(code)
    except (ClosedOutput, BrokenPipeError):
        code = close_output()
    except OSError as error:
        from orchestrator.cli.console import print_error

        close_output()
        print_error(f"standard output: {error.strerror or error}")
        code = REFUSED
    sys.exit(code)


def _command() -> int:
    for word in sys.argv[1:]:
        operating_system.expect_short(word.partition("=")[2] or word)
    return app(standalone_mode=False) or 0


def _run() -> int:
    """Run the command line; return the exit code."""
    try:
        try:
            return _command()
        except SoftdockError as error:
            fail_with(error)
        except ImportError as error:
            if (reason := missing_package(error)) is None:
                raise
            fail("CapabilityError", reason)
        except USAGE as error:
            fail_usage(error)
        except SystemExit as ended:
            if _COMPLETION in os.environ:  # the shell is answered so
                raise
            fail("ForeignExitError", f"foreign code ended the command: SystemExit: {ended.code}")
        except typer.Abort:
            fail("Interrupted", "interrupted", INTERRUPTED)
        except OSError as error:
            fail("OSError", f"{error.filename or 'file system'}: {error.strerror or error}")
    except typer.Exit as end:
        return end.exit_code
