"""Work grows with the system, not with its square: counted in operations, not in time."""

import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from orchestrator import Execution, System, fmu, simulate
from orchestrator.author import read_toml, write_toml
from orchestrator.core.coupling import DelayMode
from orchestrator.core.master import compile_schedule
from orchestrator.core.master.run.recorder import recordable
from orchestrator.core.simunits import instantiation, registry, resolve
from orchestrator.core.simunits.fmi import fmu_description, fmu_reading
from orchestrator.core.ssp import read_ssd, write_ssd
from orchestrator.core.system import Connection, Endpoint, TransportDelay

SMALL, TIMES = 30, 4
#: Sorting, and what is done in larger pieces.
ROOM = 1.1


def chain(part, count, *, delayed=False):
    """A chain of one FMU; or pairs of them, each a ring with a delay."""
    names = [f"x{i}" for i in range(count)]
    lines = [_line(a, b) for a, b in pairwise(names)]
    if delayed:
        lines = lines[::2]
        lines += [_line(line.target.component, line.source.component, 3_000_000) for line in lines]
    fed = {line.target.component for line in lines}
    parts = {}
    for name in names:
        values = {"n": 0, "flag": False} | ({} if name in fed else {"u": 0.0})
        parts[name] = replace(part, name=name, values=values)
    return System("chain", parts, tuple(lines))


def _line(source, target, delay_ns=None):
    delay = None if delay_ns is None else TransportDelay(delay_ns)
    ends = Endpoint(source, "y"), Endpoint(target, "u")
    return Connection(*ends, delay=delay, suppress_unit_conversion=True)


def operations(work):
    """How many operations of Python a function takes."""
    count = 0

    def each(frame, event, _):
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def stages(system, folder):
    """What is done to a system until it runs, by name."""
    ssd, toml = folder / f"{len(system.components)}.ssd", folder / f"{len(system.components)}.toml"
    write_ssd(system, ssd)
    write_toml(system, toml)
    names = [f"{name}.y" for name in system.components]
    made = {
        "SSD": lambda: read_ssd(ssd),
        "TOML": lambda: read_toml(toml),
        "resolve": lambda: resolve(system),
        "check": system.check,
        "record": lambda: recordable(system, names),
    }
    for algorithm in ("jacobi", "gauss-seidel"):
        made[algorithm] = lambda algorithm=algorithm: compile_schedule(
            system, algorithm, 10**6, DelayMode.MEAN, names
        )
    return made


@pytest.mark.slow
@pytest.mark.parametrize("delayed", [False, True], ids=["chain", "rings"])
def test_work_grows_with_the_system(probe, tmp_path, delayed):
    part = fmu(probe)
    small = stages(chain(part, SMALL, delayed=delayed), tmp_path)
    large = stages(chain(part, TIMES * SMALL, delayed=delayed), tmp_path)
    for name, work in small.items():
        work()  # what is done once is done
        large[name]()
        ratio = operations(large[name]) / operations(work)
        assert ratio < TIMES * ROOM, f"{name}: {ratio:.2f} times the operations"


def test_an_fmu_is_opened_once_and_described_three_times_for_each_run(probe, monkeypatch):
    described, read_fmu = [], fmu_reading.read_fmu

    def counted(path, *given, **named):
        described.append(path)
        return read_fmu(path, *given, **named)

    for module in (fmu_reading, registry, instantiation):
        monkeypatch.setattr(module, "read_fmu", counted)
    fmu_description.open_fmu.cache_clear()
    fmu_reading._read.cache_clear()
    system = chain(fmu(probe), 3)
    described.clear()
    runs = 10
    for i in range(runs):
        simulate(system.set("x0.u", float(i)), step="1 ms", stop="2 ms")
    assert fmu_description.open_fmu.cache_info().misses == 1
    # To check its connections, to check its parameters, and to make it; and once, whether it may be
    # there several times.
    assert len(described) == (3 * 3 + 1) * runs


def test_a_name_that_is_near_is_looked_for_only_if_one_is_missing(probe, monkeypatch):
    from orchestrator.core.master.run import recorder

    monkeypatch.setattr(recorder, "choices_for", None)
    system = chain(fmu(probe), 3)
    with Execution(system, step="1 ms", record=["x0.y", "x2.y"]) as execution:
        assert execution.recorded_columns == 2
