import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE_BLOCKS = Path(__file__).parents[2] / "fixtures" / "sample_blocks.py"

# As a user's script: blocks, engines, errors and saved states are alive at the process's end.
SCRIPT = """
import gc, weakref
from pathlib import Path
import numpy as np
import orchestrator.core.simunits.registry as block_registry
from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import System

exec(Path({sample_blocks!r}).read_text())
found = block_registry.block_class
block_registry.block_class = lambda name: BLOCKS.get(name) or found(name)

def system(how):
    return (
        System("s").add("a", block("matrix"), u=(1.0, 2.0)).add("i", block("integrator"))
        .add("f", block("faulty"), how=how, at=0.5).add("p", fmu({probe!r}), n=1, flag=True)
        .connect("i.y", "f.u", delay="10 ms").connect("f.y", "i.u").connect("i.y", "p.u")
    )

def run(how, algorithm):
    execution = Execution(system(how), step="1 ms", algorithm=algorithm)
    try:
        execution.advance("1 s")
    except StepError as error:
        execution.error = error
    return execution

kept = [run(how, algorithm) for how in (0, 1, 2, 4) for algorithm in ("jacobi", "gauss-seidel")]
states = [unit.get_state() for execution in kept for unit in execution.units]
checkpoints = [run(0, algorithm).save() for algorithm in ("jacobi", "gauss-seidel")]
checkpoints += [c.engine.signals for c in checkpoints]
gone = weakref.ref(run(1, "jacobi"))
gc.collect()
assert gone() is None, "an execution that nobody holds is not freed"
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_nothing_leaks(probe, kept):
    """nanobind reports instances that are alive after the interpreter's end on stderr."""
    script = SCRIPT.format(sample_blocks=str(SAMPLE_BLOCKS), probe=str(probe))
    if not kept:
        script += "\ndel kept, states, checkpoints\ngc.collect()\n"
    done = subprocess.run(  # noqa: S603 - this interpreter, our script
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    messages = [line for line in done.stderr.splitlines() if line]
    assert (done.returncode, done.stdout, messages) == (0, "done\n", [])
