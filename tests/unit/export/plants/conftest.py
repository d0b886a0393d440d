"""Exported plants as functions: states and inputs in, derivatives and outputs out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Model


class Model:
    """An FMU for Model Exchange; variables by name, arrays by the name before the bracket."""

    def __init__(self, fmu: Path, folder: Path, **values: Any) -> None:
        self.description = read_model_description(str(fmu))
        self.references: dict[str, int] = {}
        self.arrays: dict[str, list[str]] = {}
        for variable in self.description.modelVariables:
            self.references[variable.name] = variable.valueReference
            self.arrays.setdefault(variable.name.partition("[")[0], []).append(variable.name)
        rates = [unknown.variable for unknown in self.description.derivatives]
        self.states = [rate.derivative.name for rate in rates]
        self.rates = [rate.name for rate in rates]
        self.fmu = FMU2Model(
            guid=self.description.guid,
            unzipDirectory=extract(str(fmu), str(folder)),
            modelIdentifier=self.description.modelExchange.modelIdentifier,
            instanceName="model",
        )
        self.fmu.instantiate()
        self.fmu.setupExperiment(startTime=0.0)
        self.set(**values)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.fmu.enterContinuousTimeMode()

    def names(self, name: str) -> list[str]:
        """Scalars of a variable, in the order of their indices."""
        return [name] if name in self.references else self.arrays[name]

    def set(self, **values: Any) -> None:
        """Set variables; ``__`` stands for the dot of a part."""
        for name, value in values.items():
            names = self.names(name.replace("__", "."))
            numbers = np.broadcast_to(np.asarray(value, dtype=float).ravel(), len(names))
            self.fmu.setReal([self.references[n] for n in names], numbers.tolist())

    def set_states(self, **values: Any) -> None:
        """Set states by name, arrays as a whole; those that are not named stay."""
        vector = np.empty(len(self.states))
        place = vector.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        self.fmu.getContinuousStates(place, len(vector))
        for name, value in values.items():
            names = self.names(name.replace("__", "."))
            numbers = np.broadcast_to(np.asarray(value, dtype=float).ravel(), len(names))
            for one, number in zip(names, numbers, strict=True):
                vector[self.states.index(one)] = number
        self.fmu.setContinuousStates(place, len(vector))

    def rate(self, state: str) -> np.ndarray:
        """Derivative of a state, arrays as a whole."""
        rates = dict(zip(self.states, self.rates, strict=True))
        names = [self.references[rates[n]] for n in self.names(state.replace("__", "."))]
        return np.array(self.fmu.getReal(names))

    def get(self, name: str) -> np.ndarray:
        """Value of a variable; a scalar has shape (1,)."""
        return np.array(self.fmu.getReal([self.references[n] for n in self.names(name)]))

    def matrix(self) -> np.ndarray:
        """Partial derivatives of all rates by all states, from directional derivatives."""
        known = [self.references[n] for n in self.states]
        unknown = [self.references[n] for n in self.rates]
        columns = [self.fmu.getDirectionalDerivative(unknown, [one], [1.0]) for one in known]
        return np.array(columns).T

    def slopes(self, output: str, direction: dict[str, float]) -> np.ndarray:
        """Derivative of an output along a direction of states and inputs."""
        known = [self.references[n] for n in direction]
        unknown = [self.references[n] for n in self.names(output)]
        return np.array(self.fmu.getDirectionalDerivative(unknown, known, list(direction.values())))

    def free(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()


@pytest.fixture
def open_model(tmp_path: Path, plants: Path) -> Iterator[Callable[..., Model]]:
    """Open a plant by its name."""
    opened: list[Model] = []

    def open_one(name: str, **values: Any) -> Model:
        opened.append(Model(plants / f"{name}.fmu", tmp_path / f"unzipped-{len(opened)}", **values))
        return opened[-1]

    yield open_one
    for model in opened:
        model.free()


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(2018)
