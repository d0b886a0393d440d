"""What of a case goes into which files: all that it records, and what its recorders choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    Problem,
    Severity,
)
from orchestrator.core.diagnostics.extras import lacking
from orchestrator.core.diagnostics.toml_key import toml_key
from orchestrator.core.master import recordable
from orchestrator.core.recording import (
    LARGEST_MATRIX,
    Journal,
    Result,
    default_format,
    format_names,
    link,
    writer,
)
from orchestrator.core.system import System, nanoseconds, nearest, seconds
from orchestrator.study.prepare.prepared_case import PreparedCase

FLUSH = "1 s"
#: Packages that formats need which may not be installed.
_NEEDS = {"mcap": "mcap", "parquet": "pyarrow"}
#: Ends the name of what a run has recorded that did not come to its end.
_PARTIAL = ".partial"


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
    """Names in the result of what is recorded: one for each element of an array."""
    names = []
    for output in recordable(system, record):
        component, _, connector = output.partition(".")
        size = system.components[component].connectors[connector].size
        names += [output] if size == 1 else [f"{output}[{i}]" for i in range(size)]
    return names


def views(case: PreparedCase) -> list[View]:
    """List the contents that a case's files shall have, its whole result first."""
    name, options, system = case.name, case.options, case.system
    problems: list[Problem] = []
    whole = _chosen(system, options.record, f"case '{name}'", problems)
    every, formats = options.every or 1, options.formats or (default_format(),)
    found = [View(name, tuple(whole), 1, formats)]
    for key, recorder in case.case.recorder.items():
        where = f"case '{name}', recorder '{key}'"
        names = whole
        if recorder.record is not None:
            names = _chosen(system, recorder.record, where, problems)
        missing = [signal for signal in names if signal not in whole]
        if missing:
            problems.append(_wrong(key, f"{where}: the case does not record {', '.join(missing)}"))
        apart = recorder.every or every
        if apart % every:
            text = f"every: expected a multiple of the case's {every}, found {apart}"
            problems.append(_wrong(key, f"{where}: {text}"))
        if key == "partial":
            text = "this name ends the files of runs that fail: choose another"
            problems.append(_wrong(key, f"{where}: {text}"))
        view = View(f"{name}.{key}", tuple(names), apart // every, recorder.formats or formats)
        found.append(view)
    for kind in dict.fromkeys(kind for view in found for kind in view.formats):
        problems += _wrong_format(kind, f"case '{name}'")
    if problems:
        raise DescriptionError(*problems)
    return found


def _wrong_format(kind: str, where: str) -> Iterator[Problem]:
    known = format_names()
    if kind not in known:
        listed = ", ".join(known)
        yield f"{where}: no format '{kind}'{nearest(kind, known)}; registered: {listed}"
    elif kind in _NEEDS and (said := lacking(_NEEDS[kind])):
        yield f"{where}, format '{kind}': {said}"


def _wrong(recorder: str, text: str) -> Diagnostic:
    return Diagnostic("DescriptionError", Severity.ERROR, text, key=toml_key("recorder", recorder))


def _chosen(
    system: System, record: Sequence[str] | None, where: str, problems: list[Problem]
) -> list[str]:
    try:
        return signal_names(system, record)
    except DescriptionError as error:
        problems += error.within(where)
        return []


def expect_room(view: View, steps: int, every: int) -> Iterator[str]:
    """Say before a run whether a MAT file could hold what it records."""
    size = 8 * (1 + len(view.names)) * (steps // (every * view.every) + 2)
    if "mat" in view.formats and size > LARGEST_MATRIX:
        yield (
            f"'{view.stem}': a MAT file would hold {size / 2**30:.3g} GiB of signals; expected less"
            " than 2 GiB: record fewer outputs or every n-th step, or choose parquet"
        )


def flush_seconds(case: PreparedCase) -> float:
    """Seconds of wall time between two writings of the journal."""
    where = f"case '{case.name}'"
    flush = FLUSH if case.options.flush is None else case.options.flush
    interval = nanoseconds(flush, f"{where}: flush")
    if interval <= 0:
        raise DescriptionError(f"{where}: flush: expected > 0 s, found {flush!r}")
    return seconds(interval)


def journal_of(case: PreparedCase, output: Path) -> Journal:
    """Return the journal of a case: ``NAME.partial`` in the folder of the results.

    It is an MCAP file where the case is written as one.
    """
    folder = output / f"{case.name}{_PARTIAL}"
    return Journal(folder, flush_seconds(case), grows="mcap" in (case.options.formats or ()))


def write_views(
    result: Result, chosen: Sequence[View], folder: Path, output: Path
) -> Iterator[Path]:
    """Write all files of a case that has come to its end."""
    for path in _write(result, chosen, folder, ""):
        link(path, output / f"{path.stem}{_PARTIAL}{path.suffix}")
        yield path


def write_partial(result: Result, chosen: Sequence[View], output: Path) -> None:
    """Write all files of a case that failed: they end in ``.partial`` and the format."""
    for _ in _write(result, chosen, output, _PARTIAL):
        pass


def _write(result: Result, chosen: Sequence[View], folder: Path, mark: str) -> Iterator[Path]:
    for view in chosen:
        content = result if view is chosen[0] else result.part(view.names, view.every)
        for kind in view.formats:
            path = folder / f"{view.stem}{mark}.{kind}"
            writer(kind)(content, path)
            yield path


def replaced_by(name: str, chosen: Sequence[View]) -> set[str]:
    """Names of all that an earlier run of a case may have left, whole or partial."""
    endings = [f"{mark}.{kind}" for mark in ("", _PARTIAL) for kind in format_names()]
    return {f"{name}{_PARTIAL}", *(view.stem + ending for view in chosen for ending in endings)}
