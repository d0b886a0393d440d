"""Cases whose devices are emulated: where their emulators are is known when they are started."""

from pathlib import Path

import pytest

from orchestrator.checks import check_target

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("name", ["epos/rig.toml", "impact/rig.toml"])
def test_a_rig_that_says_no_addresses_is_sound(name, plants):
    report = check_target(EXAMPLES / name)
    assert report.exit_code() == 0, report.findings
    assert report.systems
