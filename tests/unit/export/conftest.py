"""FMUs for the tests, and a small importer that finds variables by name."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from compile_cache import CachedCompiler
from fmpy import extract, read_model_description
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
    fmi2StepFinishedTYPE,
)

from orchestrator.core.diagnostics import FmuError
from orchestrator.export import Solver, build_model
from orchestrator.export.codegen import compiler
from orchestrator.export.codegen.compiler import _run, sundials_libraries
from orchestrator.export.dae.explicit_ode import ExplicitOde, make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten_source


class Slave:
    """One instance of an FMU, variables by name, messages collected."""

    def __init__(self, fmu: Path, folder: Path, name: str = "unit") -> None:
        self.path = fmu
        self.description = read_model_description(str(fmu))
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.messages: list[str] = []
        self.time = 0.0
        self.fmu = FMU2Slave(
            guid=self.description.guid,
            unzipDirectory=extract(str(fmu), str(folder)),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        self._callbacks = fmi2CallbackFunctions()
        self._callbacks.logger = fmi2CallbackLoggerTYPE(self._log)
        self._callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(lambda count, size: None)
        self._callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(lambda place: None)
        self._callbacks.stepFinished = fmi2StepFinishedTYPE(lambda environment, status: None)
        self.fmu.instantiate(callbacks=self._callbacks)

    def _log(self, environment: Any, name: Any, status: int, category: Any, text: Any) -> None:
        self.messages.append(
            ctypes.string_at(text).decode() if isinstance(text, int) else text.decode()
        )

    def initialize(self, stop_time: float | None = None, **values: float) -> Slave:
        self.fmu.setupExperiment(startTime=0.0, stopTime=stop_time)
        self.set(**values)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        return self

    def set(self, **values: float) -> None:
        for name, value in values.items():
            reference = [self.references[name]]
            if isinstance(value, bool):
                self.fmu.setBoolean(reference, [value])
            elif isinstance(value, int):
                self.fmu.setInteger(reference, [value])
            else:
                self.fmu.setReal(reference, [value])

    def get(self, *names: str) -> list[float]:
        return list(self.fmu.getReal([self.references[name] for name in names]))

    def step(self, size: float, count: int = 1) -> None:
        for _ in range(count):
            self.fmu.doStep(self.time, size)
            self.time += size

    def free(self) -> None:
        self.fmu.freeInstance()


@pytest.fixture
def sundials() -> tuple[str, ...]:
    """Options that link SUNDIALS; skips where it is not installed."""
    try:
        return sundials_libraries()
    except FmuError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def _solver_is_installed(request: pytest.FixtureRequest) -> None:
    """Tests that take each solver as a parameter leave out the one that cannot be built here."""
    call = getattr(request.node, "callspec", None)
    if call is not None and "cvode" in (call.params.get("method"), call.params.get("made")):
        request.getfixturevalue("sundials")


@pytest.fixture
def checked_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds end with an empty library, once the compiler has checked the sources."""
    monkeypatch.setattr(compiler, "_run", CachedCompiler(checks_only=True))


@pytest.fixture
def uncached_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken from the cache of compiled sources: equal bytes are the compiler's."""
    monkeypatch.setattr(compiler, "_run", _run)


@pytest.fixture
def open_fmu(tmp_path: Path) -> Iterator[Callable[..., Slave]]:
    """Instantiate an FMU; freed after the test."""
    opened: list[Slave] = []

    def open_one(fmu: Path, name: str = "unit") -> Slave:
        slave = Slave(fmu, tmp_path / f"unzipped-{len(opened)}", name)
        opened.append(slave)
        return slave

    yield open_one
    for slave in opened:
        slave.free()


@pytest.fixture
def build_text(tmp_path: Path) -> Callable[..., Path]:
    """Build the FMU of a class given as text."""

    def build(
        model: str, text: str, max_step: float | None = None, method: str = "rk4", **options: Any
    ) -> Path:
        root = tmp_path / f"root-{model}"
        root.mkdir()
        (root / f"{model}.mo").write_text(text, encoding="utf-8")
        solver = Solver(method, max_step, **options)
        return build_model(model, root, tmp_path / "build", solver=solver).path

    return build


@pytest.fixture
def explicit() -> Callable[[str], ExplicitOde]:
    """The explicit ODE of a model ``A`` given by its declarations and equations."""

    def make(body: str, before: str = "") -> ExplicitOde:
        return make_explicit(read(flatten_source("A", f"{before}\nmodel A\n{body}\nend A;")))

    return make


@pytest.fixture
def evaluate() -> Callable[..., dict[str, float]]:
    """Values of all derivatives, outputs and locals of an explicit ODE, names to numbers."""
    import casadi as ca

    def values(ode: ExplicitOde, time: float = 0.0, **given: float) -> dict[str, float]:
        t, u, x, p, c, q = ode.arguments
        start = ca.Function("start", [p, c], [ode.start])
        calculated = ca.Function("calculated", [p], [ode.c])
        right = ca.Function("right", [t, u, x, p, c, q], [ode.xdot, ode.y, ode.w])
        p_values = [given.get(v.name, float(v.start)) for v in ode.parameters]
        c_values = calculated(p_values)
        x_values = start(p_values, c_values)
        for index, state in enumerate(ode.states):
            if state.name in given:
                x_values[index] = given[state.name]
        u_values = [given.get(v.name, 0.0) for v in ode.inputs]
        xdot, y, w = right(time, u_values, x_values, p_values, c_values, 0)
        names = [f"der({v.name})" for v in ode.states]
        names += [v.name for v in (*ode.outputs, *ode.locals, *ode.calculated, *ode.states)]
        columns = (xdot, y, w, c_values, x_values)
        numbers = [float(v) for column in columns for v in column.full().ravel()]
        return dict(zip(names, numbers, strict=True))

    return values
