"""FMUs that say that their state is larger than any memory."""

import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System


@pytest.mark.parametrize("isolation", ["none", "process"])
@pytest.mark.parametrize("size", ["1ull << 45", "1ull << 63"])
def test_a_state_that_no_memory_holds(small_fmu, size, isolation, wording):
    path = small_fmu("crash_on_demand", f"-DSTATE_SIZE=({size})")
    system = System("s").add("a", fmu(path), u=1.0).with_options("a", isolation=isolation)
    with Execution(system, step="1 ms") as run:
        run.step(3)
        saved = run.save()
        with wording.raises(StepError):
            saved.stored()
        run.step(3)
        assert len(run.recording().time_ns) == 7
