"""Builds every model of the corpus, for one version of FMI or both, and runs it in both ways.

conftest.py prints how many passed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import logging
import re
import subprocess
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rumoca
from compile_cache import CachedCompiler
from corpus.case import Case
from corpus.models import CASES
from corpus.second_importer import in_libcosim
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export import Solver, build_model
from orchestrator.export.codegen import compiler

_VERSIONS = ("2.0", "3.0")
#: Which versions a model is built for, by an eighth of all: the C code of a version is the same for
#: all models, and each has more than 200 models here.
_BUILT = (_VERSIONS, ("2.0",), ("3.0",), ("2.0",), ("3.0",), ("2.0",), ("3.0",), ("3.0",))
_WARNINGS = ("-Wall", "-Wextra", "-Werror")
_CHECKS = CachedCompiler(checks_only=True)


class _Compiler(CachedCompiler):
    """Reads all sources with warnings as errors before it makes a library of them."""

    def __call__(
        self, command: Sequence[str], *, text: str = "", folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        if folder is not None and "-shared" in command:
            done = _CHECKS([*command, *_WARNINGS], folder=folder)
            if done.returncode:
                return done
        return super().__call__(command, text=text, folder=folder)


@pytest.fixture
def versions(name: str, monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    """Return which versions a model is built for."""
    monkeypatch.setattr(compiler, "_run", _Compiler())
    return _BUILT[zlib.crc32(name.encode()) % len(_BUILT)]


# FMPy calls a discarded evaluation of derivatives from C, where an exception has nowhere to go.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CASES)
def test_model(
    name: str,
    versions: Sequence[str],
    tmp_path: Path,
    record_property: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    case = CASES[name]
    record_property("corpus", "refused" if case.refused else "passed")
    root = tmp_path / "root"
    root.mkdir()
    (root / "M.mo").write_text(case.text, encoding="utf-8")
    if case.refused:
        with pytest.raises(ModelicaError, match=re.compile(case.refused, re.DOTALL)):
            build_model("M", root, tmp_path)
        return
    files = build_model("M", root, tmp_path, fmi=versions).files
    _check_warnings(case, caplog)
    for file in files.values():
        assert validate_fmu(str(file)) == []
    wanted = case.expected | _simulated_by_rumoca(case)
    fmus = [_Unpacked.of(files[version], tmp_path / version) for version in versions]
    kinds = ("CoSimulation", "ModelExchange")
    ends = [_run(case, fmu, kind, wanted) for kind in kinds for fmu in fmus]
    if versions == _VERSIONS:
        assert ends[0] == ends[1], "FMI 2 and 3 differ in co-simulation"
    if "2.0" in versions and ends[0] and importlib.util.find_spec("libcosimpy"):
        found = in_libcosim(files["2.0"], wanted, case.start, case.stop)
        # Times are whole nanoseconds there: equal up to rounding, and where a pole is passed fast.
        once = dict(zip(wanted, ends[0], strict=True))
        for variable, value in found.items():
            assert value == pytest.approx(once[variable], rel=case.tolerance, abs=1e-7), variable
    if case.rk4:
        solver = Solver("rk4", 2e-3)
        file = build_model("M", root, tmp_path / "rk4", fmi=versions[:1], solver=solver).path
        _run(case, _Unpacked.of(file, tmp_path / "unpacked"), "CoSimulation", wanted)


def _check_warnings(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    shown = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    if case.warns:
        assert any(re.search(case.warns, message) for message in shown), shown
    else:
        assert shown == []


def _simulated_by_rumoca(case: Case) -> dict[str, float]:
    if not case.compare:
        return {}
    model = rumoca.Session(roots=[]).loads(case.text, model="M")
    result = model.simulate(t=(0.0, case.stop), dt=case.stop / 1000, config=_precise())
    return {name: float(result[name][-1]) for name in case.compare}


def _precise() -> Any:
    return rumoca.SimConfig(rtol=1e-9, atol=1e-9)


@dataclass(frozen=True)
class _Unpacked:
    """An FMU that is read and unpacked once for all its runs."""

    folder: str
    description: Any

    @classmethod
    def of(cls, file: Path, folder: Path) -> _Unpacked:
        unpacked = str(extract(str(file), str(folder)))
        return cls(unpacked, read_model_description(unpacked))


def _run(case: Case, fmu: _Unpacked, kind: str, wanted: dict[str, float]) -> tuple[float, ...]:
    """Values at the end time, after comparing them with those wanted."""
    messages: list[str] = []
    variables = fmu.description.modelVariables
    shapes = {v.name: v.shape for v in variables if v.shape}
    starts = {v.name: v.start.split() for v in variables if v.shape and v.start}

    def log(_component: Any, _name: Any, *rest: Any) -> None:
        messages.append(_text(rest[-1]))

    def simulate() -> Any:
        return simulate_fmu(
            fmu.folder,
            model_description=fmu.description,
            fmi_type=kind,
            stop_time=case.stop,
            step_size=case.stop / 10,
            output_interval=case.stop / 10,
            relative_tolerance=case.tolerance / 100,
            start_values=_whole(case.start, shapes, starts),
            output=list(dict.fromkeys(_place(name, shapes)[0] for name in wanted)),
            logger=log,
            debug_logging=bool(case.fails),  # FMI sends the text of a discard only then
        )

    if case.fails:
        with pytest.raises((FMICallException, RuntimeError)):  # the latter by CVODE
            simulate()
        assert re.search(case.fails, "\n".join(messages)), messages
        return ()
    result = simulate()
    assert messages == []
    assert result["time"][-1] == pytest.approx(case.stop)
    ends = {}
    for name, value in wanted.items():
        whole, place = _place(name, shapes)
        ends[name] = float(result[whole][-1][place])
        margin = 1e-4 if name in case.compare else case.tolerance
        assert ends[name] == pytest.approx(value, rel=margin, abs=margin), (kind, name)
    return tuple(ends.values())


def _place(name: str, shapes: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """The variable that holds an element, as FMI 3 has it, and where it is in there."""
    whole, bracket, subscripts = name.rpartition("[")
    if bracket and name.endswith("]") and whole in shapes:
        return whole, tuple(int(one) - 1 for one in subscripts[:-1].split(","))
    return name, ()


def _whole(
    chosen: dict[str, float], shapes: dict[str, Any], starts: dict[str, list[str]]
) -> dict[str, Any]:
    """Start values, those of an array's elements put together with its other ones."""
    whole: dict[str, Any] = {}
    for written, value in chosen.items():
        name, place = _place(written, shapes)
        if place:
            values = whole.setdefault(name, [float(text) for text in starts[name]])
            values[int(np.ravel_multi_index(place, shapes[name]))] = value
        else:
            whole[name] = value
    return whole


def _text(message: Any) -> str:
    raw = ctypes.string_at(message) if isinstance(message, int) else message
    return raw.decode() if isinstance(raw, bytes) else str(raw)
