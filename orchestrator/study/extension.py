"""What a run has beside stepping: extensions, which are found by entry points.

An entry point of the group ``softdock.extensions`` is called ``WHEN.NAME``. ``WHEN`` says which
runs load it: ``run`` all; ``device`` those with a device; ``table`` those whose experiment has a
table ``[NAME]``, or ``[extension.NAME]`` where it is not one of this package; ``option`` those that
are asked for ``NAME`` (:class:`~orchestrator.study.prepare.prepared_case.RunSettings`). One
extension may be loaded for several reasons. A run that does not need one does not import it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ValidationError

from orchestrator.core.diagnostics import (
    DescriptionError,
    PluginError,
    Problem,
    SoftdockError,
    choices_for,
    exits_are_errors,
)
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.optional_packages import MissingPartError
from orchestrator.core.plugins import PluginGroup, failure, is_own, package_of, plugin_errors
from orchestrator.core.simulation import RunStop, Share, Steer, Watch, Where
from orchestrator.core.structs import Struct
from orchestrator.core.system import SourceKind
from orchestrator.study.content import Section
from orchestrator.study.experiment import Case, Experiment
from orchestrator.study.measure.outcome import SUMMARY, CaseSummary, ExperimentOutcome
from orchestrator.study.prepare.prepared_case import PreparedCase, RunSettings, SystemReader

if TYPE_CHECKING:
    from pydantic import BaseModel

    from orchestrator.core.realtime import RealTime
    from orchestrator.core.recording import Draft, Result

#: Called with the name of a job and the share of it that is done, 0 to 1.
Progress = Callable[[str, float], None]
#: Is called with the name of a case, what else a terminal shows of it, and how far it is.
Look = Callable[[str, Callable[[], str] | None, Where], AbstractContextManager[None]]


@dataclass(slots=True)
class Run:
    """The run of an experiment, as extensions see and change it.

    Parameters
    ----------
    experiment, settings
        What is run, and what is asked of it beyond the file.
    reader
        Of its systems; ``reader.folder`` is what paths are relative to.
    cases
        Those that are run, by name, ready.
    output
        Folder of the results, absolute.
    draft
        Where files are written until all is done, from the first case on.
    tell, announce
        Told what share of a job is done, and in sentences what is going to move.
    look
        Entered for the steps of a case, with what else is to be said of it and how far it is.
    outcome
        What came of it; problems that are added are reported and make the exit code 2.
    notes
        Sentences for the result of each case, before those of its run.
    remarks
        Those that stand behind them.
    realtime
        How cases are kept to real time; ``None``: they are not.
    sections
        What was found, by case.
    """

    experiment: Experiment
    settings: RunSettings
    reader: SystemReader
    cases: dict[str, PreparedCase]
    output: Path
    tell: Progress
    announce: Callable[[str], None]
    outcome: ExperimentOutcome
    look: Look | None = None
    draft: Draft = field(init=False)
    notes: dict[str, list[str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    realtime: RealTime | None = None
    sections: dict[str, list[Section]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.cases:
            for of_cases in (self.notes, self.remarks, self.sections):
                of_cases.setdefault(name, [])

    def add(self, case: str, section: Section) -> None:
        """Say what was found in a case.

        Raises
        ------
        ValueError
            If there is no such case, if its entry of the summary has that key, or if the section
            is none: see :meth:`Section.check`.
        """
        sections = self.sections
        if case not in sections:
            raise ValueError(f"no case '{case}'{choices_for(case, sections, 'case')}")
        section.check()
        taken = {*CaseSummary.__annotations__, *(present.key for present in sections[case])}
        if section.key in taken:
            raise ValueError(
                f"section '{section.key}': case '{case}' has an entry of that key; use another"
            )
        sections[case].append(section)

    def write(self, name: str, writer: Callable[[Path], None]) -> None:
        """Let a file of the results be written; it takes its place with the others.

        Raises
        ------
        ValueError
            If the name leads out of the folder of the results or is one that the run has already,
            or if the writer writes nothing.
        """
        path = self.draft.folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"file '{name}': expected a name in the folder of the results")
        if path.exists() or name == SUMMARY:
            raise ValueError(f"file '{name}': the run writes a file of this name; choose another")
        writer(path)
        if not path.exists():
            raise ValueError(f"file '{name}': its writer has not written it")
        self.outcome.files.append(path)

    def value(self, case: str, key: str) -> Any:
        """Return the object that was found in a case under a key; ``None``: there is none yet."""
        return next(
            (section.value for section in self.sections.get(case, ()) if section.key == key), None
        )


class Steps(Struct):
    """The steps of a case, and what is called at both ends of them.

    ``begin`` is called when all is ready for the first step, which is done when it returns; ``end``
    as soon as the last was done or one failed, before devices are closed; it returns who stopped
    the run, or ``None``. ``watch`` is given new
    rows a few times a second; a sentence that it returns ends the run. ``share`` is given the
    memory of all rows before the first step, for a process that reads them meanwhile. ``steer`` is
    called between chunks of steps, in real time when somebody asks for it, and may wait. ``status``
    returns what else a terminal shows of the case while it goes on. It is pickled, as the process
    of the terminal's line calls it.
    """

    case: PreparedCase
    begin: Callable[[], None] = lambda: None
    end: Callable[[], RunStop | None] = lambda: None
    watch: Watch | None = None
    share: Share | None = None
    steer: Steer | None = None
    status: Callable[[], str] | None = None


class Extension:
    """An addition to a run through hooks, all of which are optional.

    It reports findings by :meth:`Run.add`. An error before the steps of a case ends the run, as
    does a SoftdockError after them and in ``end``. Any other error is a problem of the outcome
    that names the extension, and all results are kept.
    """

    #: Names of those whose hooks are called before its own, if they are loaded; ``"*"``: of all.
    follows: ClassVar[tuple[str, ...]] = ()
    #: What its table ``[extension.NAME]`` may hold; ``None``: it has no table of that kind.
    table: ClassVar[type[BaseModel] | None] = None

    def __init__(self, name: str) -> None:
        self.name = name

    def check(
        self,
        experiment: Experiment,
        cases: Mapping[str, PreparedCase],
        recorded: Mapping[str, Collection[str]],
    ) -> Iterable[Problem]:
        """Return the problems of its table, for ``softdock check`` and before a run.

        cases, recorded: The cases that could be prepared, and the signals that each records. The
            key of a :class:`Diagnostic` is relative to the table.
        """
        return ()

    def begin(self, run: Run) -> None:
        """Check what is asked of it, before anything is written, and what may not run refuse."""

    def prepare(self, run: Run, case: PreparedCase) -> PreparedCase:
        """Return a case as it is to be run; nothing of it has been opened."""
        return case

    def around(self, run: Run, steps: Steps) -> AbstractContextManager[Steps]:
        """Return what is entered before devices are opened and left when they are closed."""
        return nullcontext(steps)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Return the result of a case with what is to be said of it, before it is written."""
        return result

    def end(self, run: Run) -> None:
        """Do what needs all cases; their outcomes are there."""


GROUP: PluginGroup[Extension] = PluginGroup("softdock.extensions", "extension", lambda: Extension)


def loaded(
    experiment: Experiment,
    settings: RunSettings,
    cases: Mapping[str, PreparedCase],
    *,
    without: Sequence[str] = (),
) -> tuple[list[Extension], list[str]]:
    """Load the extensions that a run needs, in the order of their hooks.

    ``without`` names extensions to leave out. Of those that every run has, one whose part of
    Softdock is not installed is left out; the second list has a sentence for each.
    """
    sentences: list[str] = []
    conditions: dict[str, Callable[[str], bool]] = {
        "run": lambda _name: True,
        "device": lambda _name: any(
            item.source.kind is SourceKind.DEVICE
            for case in cases.values()
            for item in case.system.components.values()
        ),
        "table": lambda name: has_table(experiment, name),
        "option": lambda name: getattr(settings, name, None) not in {None, False},
    }
    extensions: dict[str, Extension] = {}
    for entry, (when, name) in _names().items():
        if name in extensions or name in without or not conditions[when](name):
            continue
        try:
            extensions[name] = _made(entry, name)
        except MissingPartError as error:
            if when != "run":
                raise
            sentences.append(str(error))
    order = TopologicalSorter(
        {
            name: extensions.keys() - {name} if "*" in item.follows else set(item.follows)
            for name, item in extensions.items()
        }
    )
    try:
        return [extensions[name] for name in order.static_order() if name in extensions], sentences
    except ValueError as error:
        raise PluginError(f"extensions depend on each other in a cycle: {error.args[1]}") from None


def has_table(experiment: Experiment, name: str) -> bool:
    """Whether an experiment, or a case of it, has the table of an extension."""
    return (
        name in experiment.extension
        or bool(getattr(experiment, name, None))
        or any(getattr(case, name, None) for case in experiment.case.values())
    )


def of_tables(experiment: Experiment) -> list[Extension]:
    """Load the extensions whose tables an experiment has."""
    return [
        _made(entry, name)
        for entry, (when, name) in _names().items()
        if when == "table" and has_table(experiment, name)
    ]


def _names() -> dict[str, tuple[str, str]]:
    """Return when each registered extension is loaded, and its name, by its entry point."""
    values: dict[str, str] = {}
    tables: dict[str, tuple[str, str]] = {}
    for entry, point in GROUP.entry_points.items():
        when, _, name = entry.partition(".")
        if when not in {"run", "device", "table", "option"} or not name:
            raise PluginError(
                f"extension '{entry}' ({point.value}): expected a name such as 'table.NAME', with"
                " 'run', 'device', 'table' or 'option' before the dot"
            )
        GROUP.require_unique(entry)
        if values.setdefault(name, point.value) != point.value:
            raise PluginError(
                f"two extensions are called '{name}': {values[name]} and {point.value}; remove one"
            )
        tables[entry] = when, name
    return tables


def _made(entry: str, name: str) -> Extension:
    """Make an extension of an entry point, which leaves the tables of Softdock to Softdock."""
    kind, title = GROUP.class_of(entry), GROUP.title(entry)
    if entry.startswith("table.") and kind.table is not None and name in _own_tables():
        raise PluginError(
            f"{title} reads a table of its own, and [{name}] is a table of Softdock: register it"
            " under another name"
        )
    follows: object = kind.follows  # what is written there, whatever its type
    if not isinstance(follows, tuple | list) or not all(isinstance(f, str) for f in follows):
        raise PluginError(
            f"{title}: follows: expected a tuple of names of extensions, found {follows!r}"
        )
    with plugin_errors(title):
        extension = kind(name)
    extension.name = name
    return extension


@cache
def foreign_package(name: str) -> str:
    """Return the package of an extension, by name and version; empty: it is one of Softdock."""
    entries = (GROUP.entry_points[key] for key, (_, own) in _names().items() if own == name)
    entry = next(entries, None)
    return "" if entry is None or is_own(entry) else package_of(entry)


def title_of(name: str) -> str:
    """Return what messages call an extension, with its package if that is another one."""
    package = foreign_package(name)
    return f"extension '{name}' of the package {package}" if package else f"extension '{name}'"


def _own_tables() -> set[str]:
    return {*Experiment.model_fields, *Case.model_fields}


def table_of(name: str) -> type[BaseModel] | None:
    """Return what ``[extension.NAME]`` may hold; ``None``: no package has registered it."""
    if name not in _of_packages():
        return None
    table = GROUP.class_of(f"table.{name}")
    location = f"{title_of(name)}: {table.__module__}.{table.__qualname__}"
    if table.table is None:
        raise PluginError(f"{location} has no 'table' that declares its keys")
    from pydantic import BaseModel

    if not (isinstance(table.table, type) and issubclass(table.table, BaseModel)):
        raise PluginError(
            f"{location}: table: expected a subclass of pydantic.BaseModel, found {table.table!r}"
        )
    return table.table


def _of_packages() -> list[str]:
    """Names of extensions with a table that is not one of an experiment itself."""
    own_tables = _own_tables()
    return sorted(
        name for when, name in _names().values() if when == "table" and name not in own_tables
    )


def named(error: SoftdockError, title: str) -> SoftdockError:
    """Return the same error, raised by an extension of another package."""
    error = copy(error)
    error.diagnostics = tuple(error.within(title))
    return error


def with_own_tables(experiment: Experiment, path: Path) -> Experiment:
    """Return an experiment whose ``[extension.NAME]`` are read by those who registered them."""
    read: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, content in experiment.extension.items():
        model = table_of(name)
        if model is None:
            tables = _of_packages()
            problems.append(
                f"extension.{name}: no extension with a table of this name is installed"
                f"{choices_for(name, tables, 'installed extension')}"
            )
            continue
        try:
            with exits_are_errors():
                read[name] = model.model_validate(content)
        except ValidationError as error:
            for diagnostic in format_validation_error(error, model, path):
                key = f"extension.{name}.{diagnostic.key}"
                problems.append(
                    replace(diagnostic, key=key, message=f"[extension.{name}] {diagnostic.message}")
                )
        except SoftdockError as error:
            raise named(error, title_of(name)) from error
        except Exception as error:
            raise PluginError(f"{title_of(name)}: {failure(error)}") from error
    if problems:
        raise DescriptionError(*problems).of_file(path)
    return experiment.model_copy(update={"extension": read})
