"""What of a case goes into which files: all that it records, and what its recorders choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.errors import DescriptionError
from orchestrator.master import recordable
from orchestrator.recording import (
    LARGEST_MATRIX,
    Journal,
    Result,
    format_names,
    writer,
)
from orchestrator.system import System, nanoseconds, seconds

FORMATS = ("parquet", "csv")
FLUSH = "1 s"


@dataclass(frozen=True, slots=True)
class View:
    """Files of one content.

    Parameters
    ----------
    stem
        Name of the files without the ending.
    names
        Signals, as the result names them.
    every
        Of how many rows of the case's result one is kept.
    formats
        Registered names, which end the files.
    """

    stem: str
    names: tuple[str, ...]
    every: int
    formats: tuple[str, ...]


def signal_names(system: System, record: Sequence[str] | None) -> list[str]:
    """Names in the result of what is recorded: one for each element of an array.

    Raises
    ------
    DescriptionError
        If a name or pattern fits no output.
    """
    names = []
    for output in recordable(system, record):
        component, _, connector = output.partition(".")
        size = system.components[component].connectors[connector].size
        names += [output] if size == 1 else [f"{output}[{i}]" for i in range(size)]
    return names


def views(name: str, case: Case, options: RunOptions, system: System) -> list[View]:
    """List the contents that a case's files shall have, its whole result first.

    Parameters
    ----------
    name, case, options
        The case, and its options completed by the defaults.
    system
        Prepared.

    Raises
    ------
    DescriptionError
        If a recorder asks for what the case does not record, or a format does not exist; all
        together.
    """
    problems: list[str] = []
    whole = _chosen(system, options.record, f"case '{name}'", problems)
    every, formats = options.every or 1, options.formats or FORMATS
    found = [View(name, tuple(whole), 1, formats)]
    for key, recorder in case.recorder.items():
        where = f"case '{name}', recorder '{key}'"
        names = whole
        if recorder.record is not None:
            names = _chosen(system, recorder.record, where, problems)
        missing = [signal for signal in names if signal not in whole]
        if missing:
            problems.append(f"{where}: the case does not record {', '.join(missing)}")
        apart = recorder.every or every
        if apart % every:
            problems.append(
                f"{where}: every: expected a multiple of the case's {every}, found {apart}"
            )
        if key == "partial":
            problems.append(f"{where}: this name ends the files of runs that fail: choose another")
        view = View(f"{name}.{key}", tuple(names), apart // every, recorder.formats or formats)
        found.append(view)
    for kind in dict.fromkeys(kind for view in found for kind in view.formats):
        if kind not in format_names():
            known = ", ".join(format_names())
            problems.append(f"case '{name}': no format '{kind}'; registered: {known}")
    if problems:
        raise DescriptionError(*problems)
    return found


def _chosen(
    system: System, record: Sequence[str] | None, where: str, problems: list[str]
) -> list[str]:
    try:
        return signal_names(system, record)
    except DescriptionError as error:
        problems += [f"{where}: {text}" for text in error.problems]
        return []


def expect_room(view: View, steps: int, every: int) -> Iterator[str]:
    """Say before a run whether a MAT file could hold what it records."""
    size = 8 * (1 + len(view.names)) * (steps // (every * view.every) + 2)
    if "mat" in view.formats and size > LARGEST_MATRIX:
        yield (
            f"'{view.stem}': a MAT file would hold {size / 2**30:.3g} GiB of signals; expected less"
            " than 2 GiB: record fewer outputs or every n-th step, or choose parquet"
        )


def flush_seconds(options: RunOptions, where: str) -> float:
    """Seconds of wall time between two writings of the journal.

    Raises
    ------
    DescriptionError
        If it is no time, or not above 0.
    """
    flush = FLUSH if options.flush is None else options.flush
    interval = nanoseconds(flush, f"{where}: flush")
    if interval <= 0:
        raise DescriptionError(f"{where}: flush: expected > 0 s, found {flush!r}")
    return seconds(interval)


def journal_of(name: str, options: RunOptions, output: Path) -> Journal:
    """Return the journal of a case: ``NAME.partial`` in the folder of the results."""
    return Journal(output / f"{name}.partial", flush_seconds(options, f"case '{name}'"))


def write_views(result: Result, chosen: Sequence[View], output: Path, *, whole: bool) -> list[Path]:
    """Write all files of a case; those of a run that failed end in ``.partial`` and the format.

    Files of an earlier run that failed go when a whole run is written.
    """
    written = []
    for view in chosen:
        content = result if view is chosen[0] else result.part(view.names, view.every)
        for kind in view.formats:
            path = output / f"{view.stem}{'' if whole else '.partial'}.{kind}"
            writer(kind)(content, path)
            written.append(path)
        if whole:
            for kind in format_names():
                (output / f"{view.stem}.partial.{kind}").unlink(missing_ok=True)
    return written
