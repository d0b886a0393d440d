"""``softdock system new`` and its like: systems that are not there yet, and how they are run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.edit.edit import Inside, Target, Variant, begin, done
from orchestrator.cli.terminal.console import output as console
from orchestrator.core.diagnostics import DescriptionError

if TYPE_CHECKING:
    from orchestrator.core.system import System

_NONE = "'none': not said any more"


def new(
    target: Annotated[Path, typer.Argument(help="The new .toml, .ssd or .ssp file")],
    name: Annotated[str | None, typer.Option(help="Of the system; unless told, the file's")] = None,
    description: Annotated[str, typer.Option(help="One line for people")] = "",
) -> None:
    """Write a file with an empty system, to be edited."""
    from orchestrator.author import write_toml
    from orchestrator.core.ssp import write_ssd, write_ssp
    from orchestrator.core.system import System

    suffix = target.suffix.lower()
    if suffix not in {".toml", ".ssd", ".ssp"}:
        raise DescriptionError(f"{target}: expected a name that ends in .toml, .ssd or .ssp")
    if target.exists():
        raise DescriptionError(f"{target}: is there already; edit it, or choose another name")
    if not target.parent.is_dir():
        raise DescriptionError(f"{target}: there is no folder '{target.parent}'")
    system = System(target.stem if name is None else name, description=description)
    match suffix:
        case ".toml":
            write_toml(system, target)
        case ".ssd":
            write_ssd(system, target)
        case _:
            write_ssp(system, target)
    console.print(f"{target}: written", markup=False)


def add_system(
    target: Target,
    name: Annotated[str, typer.Argument(help="Of the nested system")],
    description: Annotated[str, typer.Option(help="One line for people")] = "",
    variant: Variant = None,
    inside: Inside = "",
) -> None:
    """Add an empty nested system; what is put into it is named with --in."""
    from orchestrator.core.system import System

    edit = begin(target, variant, inside)
    edit.change(lambda system: system.add(name, System(name, description=description)))
    done(edit, f"+ {edit.path(name)} (system)")


def experiment(
    target: Target,
    start: Annotated[str | None, typer.Option(help="Start time, such as '0 s'")] = None,
    stop: Annotated[str | None, typer.Option(help=f"Stop time, such as '60 s'; {_NONE}")] = None,
    step: Annotated[
        str | None, typer.Option(help=f"Communication step, such as '1 ms'; {_NONE}")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help=f"Master algorithm; {_NONE}")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Of the algorithm, name=value; several times")
    ] = None,
    rate: Annotated[
        list[str] | None, typer.Option(help="component=steps that it takes at once; several times")
    ] = None,
    variant: Variant = None,
) -> None:
    """Say how a system wants to be run: its default experiment."""
    from orchestrator.cli.run import options_of

    given = {"start": start, "stop": stop, "step": step, "algorithm": algorithm}
    changes: dict[str, Any] = {
        key: None if text == "none" else text for key, text in given.items() if text is not None
    }
    if option:
        changes["algorithm_options"] = options_of(option, "--option")
    if rate:
        changes["rates"] = options_of(rate, "--rate")
    if not changes:
        raise DescriptionError("experiment: expected at least one option, such as --step '1 ms'")
    edit = begin(target, variant, "")
    _expect_known(edit.system.with_experiment(**changes))
    edit.change(lambda system: system.with_experiment(**changes))
    done(edit, *(f"{key} = {'none' if v is None else v}" for key, v in changes.items()))


def _expect_known(system: System) -> None:
    """Expect that the algorithm, its options and the components with rates exist."""
    from orchestrator.core.master import ExecutionSettings, plan_of
    from orchestrator.core.system.naming import lacking

    chosen = ExecutionSettings.of(system)
    plan_of(
        chosen.algorithm,
        replace(system, components={}, connections=()),
        chosen.algorithm_options,
    )
    components = system.flat().components
    for name, steps in chosen.rates.items():
        if name not in components:
            raise lacking(f"system '{system.name}'", "component", name, components)
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise DescriptionError(f"--rate {name}={steps}: expected a whole number of steps >= 1")
