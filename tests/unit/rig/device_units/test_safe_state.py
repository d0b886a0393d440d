"""A run that is killed leaves its device in the safe state."""

import os
import subprocess
import sys

import pytest
from scripted_device import Peer

RUN = """
import sys, time
from scripted_device import Scripted
from orchestrator.core.simunits import component_of, make_unit
from orchestrator.core.system import Source
import numpy as np
source = Source.parse(f"device:scripted_device:Scripted?port={sys.argv[1]}&command_stale_after=60")
unit = make_unit(component_of(source, "rig"))
unit.bind(["u"], ["y"])
unit.setup(0, None)
unit.initialise_outputs(0)
unit.exit_initialisation()
unit.set(np.array([0.75]))
time.sleep(60.0)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_its_device_in_the_safe_state():
    paths = os.pathsep.join(path for path in sys.path if path)
    with Peer() as peer:
        run = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", RUN, str(peer.port)], env=os.environ | {"PYTHONPATH": paths}
        )
        peer.wait_for(lambda: 0.75 in peer.commands, seconds=60.0)
        run.kill()
        run.wait()
        peer.wait_for(lambda: peer.commands[-1] == 0.0)
