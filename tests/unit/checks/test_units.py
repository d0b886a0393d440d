"""What FMUs define their units to be."""

import pytest

from orchestrator.checks.fmus import check_file

_FORCE = '<BaseUnit kg="1" m="1" s="-2"/></Unit>'


def found(make_fmu, unit, definition):
    added = f'{_FORCE}<Unit name="{unit}">{definition}</Unit>'
    path = make_fmu(lambda text: text.replace(_FORCE, added))
    return [each for each in check_file(path, "probe") if each.code == "FMU121"]


@pytest.mark.parametrize("unit", ["bit/s", "byte", "baud"])
def test_a_name_that_is_no_product_of_si_units_is_not_compared(make_fmu, unit):
    assert found(make_fmu, unit, '<BaseUnit s="-1"/>') == []


def test_a_name_that_says_otherwise_is_told(make_fmu):
    (finding,) = found(make_fmu, "mm", '<BaseUnit m="1"/>')
    assert finding.code == "FMU121"
    assert "unit 'mm' is defined as 1 m, but its name says 0.001 m" in str(finding)
