"""Packages of others, put where Python finds them, and the commands that meet them."""

import os
import subprocess
import sys

SYSTEM = """
[system]
name = "s"
[component.a]
source = "block:part.py:Part"
"""
BLOCK = """
from orchestrator import Block, Output

class Part(Block):
    y: float = Output(unit="m", depends_on=())

    def step(self, t: float, h: float) -> None:
        self.y = -3.0 * (t + h)
"""
EXPERIMENT = """
title = "x"
[defaults]
step = "1 ms"
stop = "10 ms"
linearise = false
[case.one]
system = "s.toml"
"""
#: One that fails in a hook.
BROKEN = """
from contextlib import contextmanager
from orchestrator import Extension, SoftdockError

class Broken(Extension):
    {hook}
"""


def write_case(folder):
    """Write a system of one block and an experiment that runs it for 10 ms."""
    for name, text in {"s.toml": SYSTEM, "part.py": BLOCK, "experiment.toml": EXPERIMENT}.items():
        (folder / name).write_text(text)
    return folder


def install(folder, package, text, *entries, group="extensions"):
    """Put a package and its metadata where Python finds them, as pip does."""
    site = folder / "site"
    (site / f"{package}-1.0.dist-info").mkdir(parents=True)
    (site / f"{package}.py").write_text(text)
    info = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    (site / f"{package}-1.0.dist-info" / "METADATA").write_text(info)
    points = "\n".join(f"{name} = {package}:{what}" for name, what in entries)
    where = site / f"{package}-1.0.dist-info" / "entry_points.txt"
    where.write_text(f"[softdock.{group}]\n{points}\n")


def run(folder, *options, command="run"):
    return python(folder, "-m", "orchestrator", command, str(folder), *options)


def python(folder, *arguments):
    """Run a program, or a module, with the packages that are installed."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "COLUMNS": "200"}
    given = arguments if arguments[0] == "-m" else ("-c", *arguments)
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *given],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def results(folder):
    return folder / "results" / folder.name
