"""The same random inputs for a block in process and for its FMU in FMPy."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

from orchestrator import Block

STEP_NS = 1_000_000


def draws(kind: type[Block], count: int, seed: int) -> list[dict]:
    """Random inputs for every step."""
    random = np.random.default_rng(seed)
    sorts = {
        "Real": lambda: float(random.normal()),
        "Integer": lambda: int(random.integers(-3, 4)),
        "Boolean": lambda: bool(random.integers(0, 2)),
    }
    inputs = [c for c in kind.connectors.values() if c.causality == "input"]
    return [
        {c.name: tuple(random.normal(size=c.size)) if c.shape else sorts[c.type]() for c in inputs}
        for _ in range(count)
    ]


def steps(count: int, seed: int, longest: float | None = None) -> list[float]:
    """Random steps in seconds."""
    random = np.random.default_rng(seed + 1)
    return (random.uniform(0.1, 1.0, count) * (longest or 0.005)).tolist()


def in_process(kind: type[Block], inputs: list[dict], lengths: list[float], *, start=0.5) -> list:
    """Outputs at the start and after every step."""
    block = kind()
    outputs = [c.name for c in kind.connectors.values() if c.causality == "output"]
    found, time = [], start

    def give(given: dict) -> None:
        for name, value in given.items():
            block.assign(kind.connectors[name], value)

    def take() -> None:
        found.append([x for name in outputs for x in np.ravel(getattr(block, name)).tolist()])

    give(inputs[0])
    block.initialise(time)
    take()
    for given, length in zip(inputs, lengths, strict=True):
        give(given)
        block.step(time, length)
        time += length
        take()
    return found


@contextmanager
def slave(file: Path) -> Iterator:
    """An FMU in FMPy, instantiated."""
    description = fmpy.read_model_description(file, validate=True)
    folder = fmpy.extract(file)
    kind = FMU2Slave if description.fmiVersion == "2.0" else FMU3Slave
    one = kind(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="one",
    )
    one.instantiate()
    one.variables = {v.name: v for v in description.modelVariables}
    one.version = description.fmiVersion
    try:
        yield one
    finally:
        one.freeInstance()
        rmtree(folder)


def set_values(one, given: dict) -> None:
    """Set variables by name; an array of FMI 2.0 by elements."""
    for name, value in given.items():
        if isinstance(value, tuple) and one.version == "2.0":
            set_values(one, {f"{name}[{i}]": x for i, x in enumerate(value, 1)})
            continue
        variable = one.variables[name]
        references, numbers = [variable.valueReference], np.ravel(value).tolist()
        kinds = {
            "Real": "setReal",
            "Integer": "setInteger",
            "Boolean": "setBoolean",
            "Float64": "setFloat64",
            "Int32": "setInt32",
        }
        getattr(one, kinds[variable.type])(references, numbers)


def get_outputs(one) -> list[float]:
    """All outputs in order."""
    found = []
    for variable in one.variables.values():
        if variable.causality != "output":
            continue
        kinds = {
            "Real": "getReal",
            "Integer": "getInteger",
            "Boolean": "getBoolean",
            "Float64": "getFloat64",
            "Int32": "getInt32",
        }
        call = getattr(one, kinds[variable.type])
        if one.version == "2.0":
            found += call([variable.valueReference])
        else:
            size = (
                int(np.prod([int(d.start) for d in variable.dimensions]))
                if variable.dimensions
                else 1
            )
            found += call([variable.valueReference], nValues=size)
    return [float(x) for x in found]


def begin(one, inputs: dict, start: float) -> None:
    """Initialise."""
    if one.version == "2.0":
        one.setupExperiment(startTime=start)
        one.enterInitializationMode()
    else:
        one.enterInitializationMode(startTime=start)
    set_values(one, inputs)


def in_fmpy(file: Path, inputs: list[dict], lengths: list[float], *, start=0.5) -> list:
    """Outputs at the start and after every step."""
    with slave(file) as one:
        begin(one, inputs[0], start)
        found, time = [get_outputs(one)], start
        one.exitInitializationMode()
        for given, length in zip(inputs, lengths, strict=True):
            set_values(one, given)
            one.doStep(time, length)
            time += length
            found.append(get_outputs(one))
        one.terminate()
    return found
