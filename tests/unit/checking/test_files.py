"""Every code that is about a file appears where it should and nowhere else."""

import pytest
from shapes.files import FILES, copied

from orchestrator.checking import check_target

pytestmark = pytest.mark.usefixtures("toys")


def codes_of(file):
    return [finding.code for finding in check_target(file).findings]


@pytest.mark.parametrize("code", FILES)
def test_appears(code, probe, tmp_path):
    assert code in codes_of(FILES[code].bad(tmp_path, copied(probe, tmp_path)))


@pytest.mark.parametrize("code", FILES)
def test_does_not_appear_where_nothing_is_wrong(code, probe, tmp_path):
    assert code not in codes_of(FILES[code].good(tmp_path, copied(probe, tmp_path)))
