"""The example as it ships, and how the tests read its runs."""

import importlib.util
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).parents[3] / "examples" / "snare"
ROPES = ("rope_1", "rope_2", "rope_3")


def part_of_the_example(name):
    """Load one of its scripts."""
    spec = importlib.util.spec_from_file_location(f"snare_{name}", EXAMPLE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def vector(run, name, size=3):
    """Signals of an array over time, (rows, size)."""
    return np.array([run[f"{name}[{i + 1}]"] for i in range(size)]).T
