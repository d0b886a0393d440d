"""What a user checks: a system, an experiment, or a single file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from zipfile import is_zipfile

from orchestrator.author import is_system_file, read_toml
from orchestrator.checks.catalogue import codes
from orchestrator.checks.components import unusable
from orchestrator.checks.context import CheckContext, finding, inside
from orchestrator.checks.experiment import check, prepared, run_of
from orchestrator.checks.files import KINDS, check_portability, check_ssp_file
from orchestrator.checks.fmus import check_file, check_hashes
from orchestrator.checks.locations import Locations, locations, open_ssp_file
from orchestrator.checks.run_checks import (
    NOT_OPENED,
    CheckReport,
    Extent,
    check_case,
    check_declaration,
    is_sound,
    merged,
)
from orchestrator.checks.timing import check_devices
from orchestrator.checks.values import check_bindings
from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    LoadError,
    Severity,
    SspError,
)
from orchestrator.core.diagnostics.errors import parts_of
from orchestrator.core.files.plain_data import BYTE_ORDER_MARK
from orchestrator.core.ssp import diagnose, variants
from orchestrator.core.ssp.archive.sources import main_file
from orchestrator.core.ssp.archive.unpacking import named_as_entries
from orchestrator.core.ssp.common.names import MAIN_SSD
from orchestrator.core.structs import Struct
from orchestrator.core.system import Component, Source, SourceKind, System
from orchestrator.core.system.hierarchy import unopened_notes
from orchestrator.core.system.source import UnopenedError, packed_code_unopened
from orchestrator.rig.hardware.cases import ERRORS, Hardware, added_to_devices, told_otherwise
from orchestrator.study import Experiment, read_experiment
from orchestrator.study.experiment import Case, RunOptions
from orchestrator.study.reader import CODE

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_KEYS = rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*"
_KEY = re.compile(rf"{_KEYS}=")
_TABLE = re.compile(rf"\s*\[\[?{_KEYS}\]\]?\s*(?:#.*)?")
Keys = tuple[str, ...]


def toml_lines(path: Path) -> dict[Keys, int]:
    """Return the lines at which tables and keys begin, by their keys from the top.

    What stands inside of multi-line values is not told from keys; it does no harm, since nobody
    asks for it.
    """
    lines: dict[Keys, int] = {}
    table: Keys = ()
    text = path.read_text(encoding="utf-8").removeprefix(BYTE_ORDER_MARK)
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _TABLE.fullmatch(line):
            table = parts_of(match[1]) or table
            lines.setdefault(table, number)
        elif (match := _KEY.match(line)) and (keys := parts_of(match[1])):
            lines.setdefault((*table, *keys), number)
    return lines


def line_for(key: str, lines: Mapping[Keys, int]) -> int | None:
    """Return the line of a key, or of the nearest table around it, if there is one."""
    keys = parts_of(key) or tuple(key.split("."))
    return next((lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in lines), None)


def system_places(path: Path) -> Locations:
    """Return where the parts of a system file stand."""
    lines: dict[str, int] = {}
    for keys, line in toml_lines(path).items():
        at = _component_path(keys)
        if at is not None:
            lines.setdefault(at, line)
            if " -> " in at:
                lines.setdefault(f"-> {at.partition(' -> ')[2]}", line)
    return Locations(str(path), lines)


def place_of(key: str) -> str:
    """Return the name of what the key of a system file is about; empty for the whole."""
    keys = parts_of(key)
    for count in range(len(keys), 1, -1):
        if path := _component_path(keys[:count]):
            return path
    return ""


def _component_path(keys: Keys) -> str | None:
    """Turn keys into the name of what they describe, such as ``"arm/motor.torque"``."""
    path = ""
    remaining = list(keys)
    while len(remaining) >= 2 and remaining[0] in {"nested", "component"}:
        kind, name, *remaining = remaining
        path = f"{path}/{name}" if path else name
        if kind == "component":
            break
    match remaining:
        case []:
            return path or None
        case ["system"]:
            return ""
        case ["connectors" | "values", name]:
            return f"{path}.{name}" if path else name
        case ["connections", line] if " -> " in line:
            return inside(path, " -> ".join(end.strip() for end in line.split(" -> ", 1)))
    return None


_SYSTEMS = {".ssd", ".ssp"}


def check_target(
    target: Path, options: RunOptions | None = None, *, no_code: bool = False
) -> CheckReport:
    """Check whatever a path leads to, without running anything."""
    try:
        path = _checked_file(target)
        with packed_code_unopened(all_code=no_code):
            return _TargetCheck(target, path, options or RunOptions()).report()
    except OSError as error:
        return _nothing(target, f"cannot be read: {error.strerror or error}")
    except LoadError as error:
        return _nothing(target, *(diagnostic.text for diagnostic in error.diagnostics))


def _nothing(target: Path, *texts: str) -> CheckReport:
    findings = (Diagnostic("FIL101", Severity.ERROR, text, str(target)) for text in texts)
    return CheckReport(str(target), tuple(findings), unchecked=True)


def _checked_file(target: Path) -> Path:
    path = main_file(target)
    suffixes = {".toml", ".fmu", *_SYSTEMS, *KINDS}
    if path.suffix.lower() not in suffixes and not _is_bare_fmu(path):
        raise LoadError(f"expected a folder or a file that ends in {', '.join(sorted(suffixes))}")
    return path


def _is_bare_fmu(path: Path) -> bool:
    """Whether a file is an archive without a suffix, as components may name an FMU."""
    return not path.suffix and is_zipfile(path)


class _Read(Struct):
    """A system as its file declares it, and where everything stands.

    is_sound: Whether its connections hold, so that loops can be told.
    has_errors: Whether the target has errors; Softdock then prepares none of its cases.
    """

    context: CheckContext
    lines: Locations
    is_sound: bool
    has_errors: bool


class _TargetCheck:
    """One target under check."""

    def __init__(self, target: Path, path: Path, options: RunOptions) -> None:
        self._target, self._path, self._options = target, path, options
        #: Name of the case, empty for what belongs to none, and the diagnostic.
        self._found: list[tuple[str, Diagnostic]] = []
        self._systems: dict[str, Extent] = {}
        self._unchecked = False

    def report(self) -> CheckReport:
        """Check it."""
        suffix = self._path.suffix.lower()
        cases: list[str] = []
        if suffix == ".fmu" or _is_bare_fmu(self._path):
            self._fmu()
        elif suffix in KINDS:
            problems = check_ssp_file(open_ssp_file(self._path), KINDS[suffix])
            self._extend(problems)
        elif suffix in _SYSTEMS or is_system_file(self._path):
            self._systems_of_file()
        else:
            cases = self._experiment()
        findings = merged(self._found, cases)
        return CheckReport(str(self._target), tuple(findings), self._systems, self._unchecked)

    @property
    def _errors(self) -> int:
        """How many errors there are so far."""
        return sum(diagnostic.severity is Severity.ERROR for _, diagnostic in self._found)

    def _extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add what a reader has found, with file and line."""
        for diagnostic in diagnostics:
            self._found.append(("", replace(diagnostic, message=self._text(diagnostic.message))))

    def _add(
        self,
        diagnostics: Iterable[Diagnostic],
        lines: Locations,
        case: str = "",
        default: tuple[str, int | None] | None = None,
    ) -> None:
        """Add what checks of a case have found, and say in which file and line it stands."""
        for diagnostic in diagnostics:
            file, line = diagnostic.file, diagnostic.line
            if not file:
                file, line = lines.file, lines.of(diagnostic.place)
                if not diagnostic.place and default is not None:
                    file, line = default
            code = codes()[diagnostic.code]
            located = replace(
                diagnostic,
                severity=code.severity or Severity.ERROR,
                message=self._text(diagnostic.message),
                file=file,
                line=line,
                clause=code.clause,
            )
            self._found.append((case, located))

    def _text(self, message: str) -> str:
        """Write a message on one line, and files of an archive as entries of it."""
        return named_as_entries(" ".join(message.split()), self._path)

    def _fmu(self) -> None:
        component = Component("fmu", Source(SourceKind.FMU, str(self._path)))
        findings = [*unusable(component, ""), *check_file(self._path, "")]
        self._add(findings, Locations(str(self._path)))

    def _read(self, path: Path, variant: str | None = None) -> _Read | None:
        """Read a system, and note what the reader and the checks of its file find."""
        is_toml = path.suffix == ".toml"
        read = self._read_toml(path) if is_toml else self._read_ssp(path, variant)
        if read is None:
            return None
        system, lines = read
        before = self._errors
        context, findings = check_declaration(system)
        self._add(findings, lines)
        return _Read(context, lines, is_sound(findings), self._errors > before)

    def _read_toml(self, path: Path) -> tuple[System, Locations] | None:
        try:
            system = read_toml(path)
        except LoadError as error:
            findings = [finding("TOM102", "", diagnostic.text) for diagnostic in error.diagnostics]
            self._add(findings, Locations(str(path)))
            return None
        except DescriptionError as error:
            lines = toml_lines(path)
            findings = [
                replace(
                    diagnostic,
                    line=line_for(diagnostic.key, lines) or 1,
                    place=place_of(diagnostic.key),
                )
                for diagnostic in error.diagnostics
            ]
            self._add(findings, system_places(path))
            return None
        return system, system_places(path)

    def _read_ssp(self, path: Path, variant: str | None) -> tuple[System, Locations] | None:
        system, diagnostics = diagnose(path, variant)
        self._extend(diagnostics)
        try:
            ssp_file = open_ssp_file(path, variant)
        except SspError:  # the reader has told
            self._unchecked = path == self._path and variant is None
            return None
        lines = locations(ssp_file)
        self._add([*check_bindings(ssp_file), *check_portability(ssp_file)], lines)
        if system is None:
            return None
        self._add(check_hashes(ssp_file, system), lines)
        return system, lines

    def _systems_of_file(self) -> None:
        """Check the system of a file, or all variants of an archive."""
        names: list[str | None] = [None]
        if self._path.suffix.lower() == ".ssp":
            with suppress(LoadError):  # the reader will tell
                names += [name for name in variants(self._path) if name != MAIN_SSD]
        for variant in names:
            self._system(variant)

    def _system(self, variant: str | None) -> None:
        before = self._errors
        read = self._read(self._path, variant)
        if read is None:
            return
        name = self._path.stem if variant is None else f"{self._path.stem}:{variant}"
        case = Case(system=self._path.name, **self._options.model_dump(exclude_none=True))
        run, problems = run_of(case, RunOptions(), read.context.system)
        findings, extent = check_case(replace(read.context, run=run), is_sound_system=read.is_sound)
        findings += check_devices(read.context)
        self._add([*findings, *_times(problems)], read.lines)
        self._systems[name] = replace(extent, errors=self._errors - before)

    def _experiment(self) -> list[str]:
        path = self._path
        try:
            experiment = read_experiment(path)
        except DescriptionError as error:
            findings = []
            for diagnostic in error.diagnostics:  # of the file itself, or of a scene that it names
                line = line_for(diagnostic.key, toml_lines(Path(diagnostic.file or path)))
                findings.append(replace(diagnostic, code=CODE, line=line))
            self._add(findings, Locations(str(path)))
            return []
        overrides = self._options.model_dump(exclude_none=True)
        cases = {key: case.model_copy(update=overrides) for key, case in experiment.case.items()}
        self._cases(experiment.model_copy(update={"case": cases}))
        return list(cases)

    def _cases(self, experiment: Experiment) -> None:
        folder, lines = self._path.parent, toml_lines(self._path)
        files = dict.fromkeys((case.system, case.variant) for case in experiment.case.values())
        read = {file: self._read(folder / file[0], file[1]) for file in files}
        for base in read.values():
            if base is not None and base.has_errors:
                text = "no case of this system was checked: correct the errors first"
                self._add([finding("FIL102", "", text)], base.lines)
        ready: dict[str, System] = {}
        rig = Hardware.of(experiment, folder)
        for name, case in experiment.case.items():
            base = read[case.system, case.variant]
            if base is None or base.has_errors:
                continue  # what is wrong with the file has been told
            case_line = str(self._path), lines.get(("case", name))
            system, problems = prepared(experiment, name, folder)
            if system is None:
                findings = [_unprepared(problem, *case_line) for problem in problems]
                unopened = any(problem.code == UnopenedError.__name__ for problem in problems)
                if unopened or not base.context.is_known:  # it may only lack what its code declares
                    findings = [finding("FIL102", "", NOT_OPENED, *case_line)]
                self._add(findings, base.lines, name)
                continue
            ready[name] = system
            run, run_problems = run_of(case, experiment.defaults, system)
            context = CheckContext(system, run, frozenset(unopened_notes(system)), system)
            findings, extent = check_case(context, is_sound_system=True)
            findings += [*_times(run_problems), *told_otherwise(system, rig)]
            findings += added_to_devices(system)
            before = self._errors
            self._add(findings, base.lines, name, case_line)
            self._systems[name] = replace(extent, errors=self._errors - before)
        for diagnostic in check(experiment, ready):
            line = line_for(diagnostic.key, lines)
            self._add([replace(diagnostic, file=str(self._path), line=line)], Locations())


def _unprepared(diagnostic: Diagnostic, file: str, line: int | None) -> Diagnostic:
    """Return why a case cannot be prepared, at the line of the case."""
    if diagnostic.code in ERRORS:
        return replace(diagnostic, file=file, line=line)
    return finding("EXP103", "", str(diagnostic), file, line)


def _times(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return [replace(diagnostic, code="EXP104") for diagnostic in diagnostics]
