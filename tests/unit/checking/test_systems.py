"""Every code that is about a system appears where it should and nowhere else."""

from dataclasses import replace

import pytest
from shapes.shape import Forge
from shapes.systems import SYSTEMS

from orchestrator.checking.examine import examine_file, examine_run, is_sound

pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture
def forge(make_fmu, c_fmu):
    return Forge(make_fmu, c_fmu)


def codes_of(system, run):
    subject, found = examine_file(system)
    more, _ = examine_run(replace(subject, run=run), sound=is_sound(found))
    return [finding.code for finding in [*found, *more]]


@pytest.mark.parametrize("code", SYSTEMS)
def test_appears(code, forge):
    shape = SYSTEMS[code]
    assert code in codes_of(shape.bad(forge), shape.run)


@pytest.mark.parametrize("code", SYSTEMS)
def test_does_not_appear_where_nothing_is_wrong(code, forge):
    shape = SYSTEMS[code]
    assert code not in codes_of(shape.good(forge), shape.good_run or shape.run)
