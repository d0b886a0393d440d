"""Units whose state cannot be saved or restored are named."""

import pytest

from orchestrator import start
from orchestrator.core.diagnostics import CapabilityError, StepError
from orchestrator.core.simunits import Block, Output, block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")


def test_units_that_cannot_save_are_named(make_fmu, wording):
    mute = make_fmu(lambda text: text.replace('canGetAndSetFMUstate="true"', ""))
    system = System("s").add("g", block("gain"), u=1.0)
    for name in ("p", "q"):
        system = system.add(name, fmu(mute), u=1.0, n=0, flag=False)
    run = start(system, step="1 s")
    with wording.raises(CapabilityError):
        run.save()
    run.step()
    assert run.get("p.y") == 1.0


def test_a_unit_that_lies_is_named(make_fmu, wording):
    lied = make_fmu(options=("-DWITHOUT_STATE",))
    run = start(System("s").add("p", fmu(lied), u=1.0, n=0, flag=False), step="1 s")
    with wording.raises(StepError):
        run.save()


def test_units_that_cannot_serialise_are_named(probe, make_fmu, wording):
    system = System("s").add("p", fmu(probe), u=1.0, n=0, flag=False)
    with wording.raises(CapabilityError):
        start(system, step="1 s").save().stored()
    lied = make_fmu(lambda text: text.replace("canGetAnd", 'canSerializeFMUstate="true" canGetAnd'))
    run = start(System("s").add("p", fmu(lied), u=1.0, n=0, flag=False), step="1 s")
    with wording.raises(StepError):
        run.save().stored()


def test_a_block_with_hidden_attributes_is_refused(register, wording):
    class Hidden(Block):
        y: float = Output()

        def step(self, t, h):
            self._count = getattr(self, "_count", 0) + 1

    register(hidden=Hidden)
    run = start(System("s").add("h", block("hidden")), step="1 s")
    with wording.raises(CapabilityError):
        run.save()


def test_a_unit_that_does_not_take_its_state(register, wording):
    class Stubborn(Block):
        y: float = Output()
        refuses = False

        def step(self, t, h):
            self.y += h

        def get_state(self):
            return {"y": self.y}

        def set_state(self, state):
            if Stubborn.refuses:
                raise OSError("the device is gone")
            super().set_state(state)

    register(stubborn=Stubborn)
    run = start(
        System("s").add("i", block("integrator"), u=1.0).add("rig", block("stubborn")), step=1
    )
    here = run.save()
    run.step()
    Stubborn.refuses = True
    with wording.raises(StepError):
        run.restore(here)
    with wording.raises(StepError):
        run.step()
    Stubborn.refuses = False
    run.restore(here)
    run.step()
    assert (run.time, run.get("i.y"), run.get("rig.y")) == (1.0, 1.0, 1.0)
