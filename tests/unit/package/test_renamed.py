"""Modules under the names that earlier versions documented."""

import importlib
import sys

import pytest

from orchestrator import renamed


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    for name in renamed.NEW_NAMES:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        vars(sys.modules[package]).pop(last, None) if package in sys.modules else None


@pytest.mark.parametrize(
    ("old", "name", "new"),
    [
        ("orchestrator.errors", "DescriptionError", "orchestrator.diagnostics"),
        ("orchestrator.campaign", "simulate", "orchestrator.experiment"),
        ("orchestrator.campaign.prepare", "prepare", "orchestrator.experiment.prepare.prepare"),
        ("orchestrator.master.plan", "Plan", "orchestrator.master.algorithms.plan"),
        ("orchestrator.portable", "write_portable_ssp", "orchestrator.export.portable"),
        ("orchestrator.simunits.compiled", "compiled", "orchestrator.simunits.blocks.compiled"),
        ("orchestrator.system_fmu", "export_system", "orchestrator.export.system"),
    ],
)
@pytest.mark.filterwarnings("ignore:'orchestrator.campaign' is now")
def test_an_old_module_is_the_new_one_and_says_so(old, name, new):
    with pytest.warns(DeprecationWarning, match=f"'{old}' is now '{new}'"):
        found = importlib.import_module(old)
    assert getattr(found, name) is getattr(importlib.import_module(new), name)


def test_other_modules_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("orchestrator.nothing")


def test_the_former_names_of_step_size_control_are_read():
    from dataclasses import replace

    from orchestrator import Group, Plan, StepMethod, StepSizeControl
    from orchestrator.master.algorithms import plan as module

    with pytest.warns(DeprecationWarning, match="'StepRule' is now 'StepSizeControl'"):
        assert module.StepRule is StepSizeControl
    control = StepSizeControl(StepMethod.DOUBLING, 1e-4, 1e-6)
    with pytest.warns(DeprecationWarning, match="'rule' of a plan is now 'step_size_control'"):
        plan = Plan((Group(("a",)),), rule=control)
    assert plan == Plan((Group(("a",)),), step_size_control=control)
    assert replace(plan, latch_at_end=False).step_size_control is control
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        module.Nothing  # noqa: B018 - it is looked up
