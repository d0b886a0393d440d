"""The table of codes: complete, documented, explained, tested."""

import re
from pathlib import Path

from diagnostic_cases.files import FILES
from diagnostic_cases.systems import SYSTEMS

from orchestrator.checks import code_named, codes
from orchestrator.checks.catalogue import FAMILIES, ROOMS, page
from orchestrator.core.diagnostics import UnknownNameError

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "checks.md"


def test_every_code_is_tested():
    own = {name for name in codes() if not name.startswith("SSP")}  # those: tests/unit/core/ssp
    assert own == {*SYSTEMS, *FILES}


def test_a_code_means_one_thing():
    names = [code.name for room in ROOMS for code in room.CODES]
    assert len(names) == len(set(names))


def test_names_are_of_a_family_and_three_digits():
    assert all(re.fullmatch(r"[A-Z]{3}\d{3}", name) for name in codes())
    assert {name[:3] for name in codes()} == set(FAMILIES)


def test_the_page_of_the_documentation_is_that_of_the_table():
    assert PAGE.read_text() == page()  # python -m orchestrator.checks.catalogue > the page


def test_a_code_is_explained():
    text = str(code_named("con106"))
    assert text.startswith("CON106 error: connected units do not convert\n\n")
    assert text.endswith("(SSP 1.0.1, 5.3.2)")


def test_an_unknown_code_is_refused_with_those_that_are_alike(wording):
    with wording.raises(UnknownNameError):
        code_named("CON199")
