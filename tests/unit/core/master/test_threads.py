"""Units of one group are stepped by as many threads as are asked for, with the same results."""

import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

#: More calls than are timed, first alone and then shared.
STEPS = 60
GROUPS = (5, 2, 1, 3)  # units that are stepped at the same time


@pytest.fixture(scope="session")
def sleeping(small_fmu):
    return small_fmu("sleep_in_step")


def layers(path, sizes, **broken):
    """One group of units after the other: the first of each feeds all of the next."""
    system = System("s")
    for row, size in enumerate(sizes):
        for column in range(size):
            name = f"r{row}c{column}"
            start = {} if row else {"u": 1.0 + column}
            system = system.add(name, fmu(path), at=broken.get(name, 1e9), **start)
            if row:
                system = system.connect(f"r{row - 1}c0.y", f"{name}.u")
    return system


def elsewhere(run, sizes):
    """For each group: whether a thread that is not this one has stepped any of its units."""
    return [
        any(run.get(f"r{row}c{column}.how") for column in range(size))
        for row, size in enumerate(sizes)
    ]


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
def test_groups_of_different_size_give_the_bits_of_one_thread(sleeping, threads):
    system, found = layers(sleeping, GROUPS), []
    for count in (1, threads):
        with Execution(system, step="1 ms", algorithm="gauss-seidel", threads=count) as run:
            run.step(STEPS)
            found.append((run.recording().values.tobytes(), elsewhere(run, GROUPS)))
    (alone, never), (together, shared) = found
    assert together == alone
    assert never == [False] * len(GROUPS)
    assert shared == [size > 1 for size in GROUPS]


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 8])
def test_of_several_failures_the_one_of_the_first_unit_is_told(sleeping, threads, wording):
    system = layers(sleeping, (5, 2), r1c0=0.02, r1c1=0.02)
    with Execution(system, step="1 ms", algorithm="gauss-seidel", threads=threads) as run:
        run.step(20)
        assert elsewhere(run, (5, 2)) == [threads > 1] * 2
        with wording.raises(StepError):
            run.step()
        assert len(run.recording().time_ns) == 21


def test_threads_do_not_share_what_one_unit_takes_alone(sleeping, small_fmu):
    """Beside a unit that sleeps, others of some nanoseconds would not be done any sooner."""
    system = System("s").add("slow", fmu(sleeping), at=1e9, u=1.0)
    for name in ("a", "b", "c"):
        system = system.add(name, fmu(small_fmu("quiet")), u=1.0)
    with Execution(system, step="1 ms", algorithm="jacobi", threads=2) as run:
        run.step(17)  # sixteen are timed
        assert run._engine.shared == 0
