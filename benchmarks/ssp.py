"""How long a large SSP takes: read, made flat, checked and compiled, against parsing its XML.

Usage: python benchmarks/ssp.py [COMPONENTS]

The file has components in nested systems of ten, in a ring that delays cut, with units and
parameter bindings. It is laid out as most tools do it, an element a line and units in each set, and
not as Softdock writes it: what lxml takes to parse the text is the floor, and would be less of it.
All figures are processor times, the best of three in one process.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import TypeVar

from lxml import etree
from runner import Benchmark

from orchestrator.core.coupling import DelayMode
from orchestrator.core.master.schedule.compile import compile_schedule
from orchestrator.core.simunits import Block, Input, Output, Parameter, State, block, resolve
from orchestrator.core.ssp import diagnose, write_ssd
from orchestrator.core.ssp.common.names import NAMESPACES
from orchestrator.core.system import Causality, Connector, System

_GROUP = 10
_SSD, _SSC, _SSV = (NAMESPACES[prefix] for prefix in ("ssd", "ssc", "ssv"))
_T = TypeVar("_T")


class Lag(Block):
    """A first-order lag, whose output passes nothing on at once."""

    u: float = Input(unit="N.m")
    k: float = Parameter(start=1.0, unit="1/s")
    y: float = Output(unit="N.m", depends_on=())
    x: float = State(start=0.0)

    def step(self, t: float, h: float) -> None:
        """Take a step of the explicit Euler method."""
        self.x += h * self.k * (self.u - self.x)
        self.y = self.x


def chain(count: int) -> System:
    """Systems of ten components in a row each, in one ring."""
    top = System("large")
    names = [f"group{number}" for number in range(count // _GROUP)]
    for name in names:
        inner = System(
            name,
            connectors={
                "u": Connector("u", Causality.INPUT, unit="N.m"),
                "y": Connector("y", Causality.OUTPUT, unit="N.m"),
            },
        )
        for number in range(_GROUP):
            inner = inner.add(f"part{number}", block(Lag), k=1.0 + number)
        inner = inner.connect("u", "part0.u")
        for number in range(1, _GROUP):
            inner = inner.connect(f"part{number - 1}.y", f"part{number}.u")
        top = top.add(name, inner.connect(f"part{_GROUP - 1}.y", "y"))
    for before, after in zip(names, [*names[1:], names[0]], strict=True):
        top = top.connect(f"{before}.y", f"{after}.u", delay="2 ms")
    return top


def as_others_write(content: bytes) -> bytes:
    """Return the text of an .ssd with each set of parameters complete, and a line for each."""
    root = etree.fromstring(content)
    units = {unit.get("name"): unit for unit in root.iter(f"{{{_SSC}}}Unit")}
    for values in list(root.iter(f"{{{_SSV}}}ParameterSet")):
        used = {typed.get("unit") for typed in values.iter(f"{{{_SSV}}}Real")}
        etree.SubElement(values, f"{{{_SSV}}}Units").extend(deepcopy(units[u]) for u in used)
    for element in root.iter():
        element.text = element.tail = None
    etree.indent(root)
    for element in root.iter(f"{{{_SSC}}}Unit", f"{{{_SSD}}}Connector", f"{{{_SSV}}}Parameter"):
        element.text = element[-1].tail = None
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def best(work: Callable[[], _T]) -> tuple[float, _T]:
    """Shortest of three times, in seconds, and what the work gives."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def main() -> None:
    """Measure and print."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("components", type=int, nargs="?", default=1000)
    options = benchmark.options()
    count = 100 if options.quick else options.components
    made = chain(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "SystemStructure.ssd"
        writing, _ = best(lambda: write_ssd(made, path))
        content = as_others_write(path.read_bytes())
        path.write_bytes(content)
        floor, _ = best(lambda: etree.fromstring(content))
        begin = time.process_time()
        diagnose(path)
        first = time.process_time() - begin
        reading, (system, found) = best(lambda: diagnose(path))
    if system is None:
        raise SystemExit("\n".join(map(str, found)))
    resolving, resolved = best(lambda: resolve(system))
    flattening, flat = best(resolved.flat)
    checking, checked = best(lambda: flat.check(algebraic_loops=True))
    every = [f"{name}.y" for name in checked.components]
    compiling, _ = best(
        lambda: compile_schedule(checked, "jacobi", 1_000_000, DelayMode.MEAN, every)
    )
    rows = {
        "parse with lxml (floor)": floor,
        "read, the first time": first,
        "read": reading,
        "write": writing,
        "resolve": resolving,
        "flat": flattening,
        "check": checking,
        "compile": compiling,
        "load, check, compile": first + resolving + flattening + checking + compiling,
    }
    benchmark.table(
        f"{count} components, {len(content) / 1e6:.2f} MB, {len(flat.connections)} connections",
        ["", "ms", "floors"],
        [(name, f"{1e3 * taken:.1f}", f"{taken / floor:.1f}") for name, taken in rows.items()],
    )
    benchmark.finish(components=count, seconds=rows)


if __name__ == "__main__":
    main()
