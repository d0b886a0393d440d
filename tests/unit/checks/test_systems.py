"""Every code that is about a system appears where it should and nowhere else."""

from dataclasses import replace

import pytest
from diagnostic_cases.case import Forge
from diagnostic_cases.systems import SYSTEMS

from orchestrator.checks.run_checks import check_case, check_declaration, is_sound
from orchestrator.core.simunits import component_of
from orchestrator.core.system import Source

pytestmark = pytest.mark.usefixtures("sample_blocks")


@pytest.fixture
def forge(make_fmu, c_fmu):
    return Forge(make_fmu, c_fmu)


def codes_of(system, run):
    subject, found = check_declaration(system)
    more, _ = check_case(replace(subject, run=run), is_sound_system=is_sound(found))
    return [finding.code for finding in [*found, *more]]


@pytest.mark.parametrize("code", SYSTEMS)
def test_appears(code, forge):
    case = SYSTEMS[code]
    assert code in codes_of(case.bad(forge), case.run)


@pytest.mark.parametrize("code", SYSTEMS)
def test_does_not_appear_where_nothing_is_wrong(code, forge):
    case = SYSTEMS[code]
    assert code not in codes_of(case.good(forge), case.good_run or case.run)


@pytest.mark.parametrize(
    ("frame", "is_told"), [("&frame=tool", True), ("&frame=hub", False), ("", False)]
)
def test_ports_of_devices_say_their_frames(frame, is_told):
    device = Source.parse(f"device:ati_net_ft?device_host=127.0.0.1{frame}")
    system = SYSTEMS["CON120"].good(None).remove("gain")
    system = system.add("sensor", component_of(device)).connect("sensor.fx", "body.force")
    assert ("CON120" in codes_of(system, SYSTEMS["CON120"].run)) is is_told
