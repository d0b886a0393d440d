"""When a fault acts and what is said of it, by hand: steps of 4 ms from 0.1 s on."""

import pytest

from orchestrator.core.coupling import fault_records
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import block
from orchestrator.core.system import Fault, System

pytestmark = pytest.mark.usefixtures("sample_blocks")
MS = 1_000_000
LINE = "s.time -> g.u"


def record(kind, begin, until=None, step=4 * MS, stop=200 * MS, own=None, **amount):
    system = System("ramp").add("s", block("source")).add("g", block("gain"))
    system = system.connect("s.time", "g.u", **({"delay": own} if own else {}))
    fault = Fault.of(kind, LINE, begin, until, **amount)
    (found,) = fault_records((fault,), system, 100 * MS, stop, step)
    return found


@pytest.mark.parametrize(
    ("begin", "until", "step", "expected"),
    [
        ("109.5 ms", "121 ms", 4 * MS, (112, 124)),
        ("112 ms", "124 ms", 4 * MS, (112, 124)),
        ("109.5 ms", "121 ms", None, (109.5, 121)),
        ("20 ms", "100.5 ms", 4 * MS, (100, 104)),
        ("20 ms", None, None, (100, None)),
    ],
)
def test_it_acts_from_the_first_point_not_before_its_times(begin, until, step, expected):
    found = record("drop", begin, until, step)
    assert (found.begin_ns, found.until_ns) == tuple(t and t * MS for t in expected)


def test_what_is_said():
    found = record("drop", "109.5 ms", "121 ms")
    assert str(found) == (
        f"fault 'drop' from 0.112 s until 0.124 s on {LINE}: no sample arrives, so the input"
        " keeps its value"
    )
    assert record("drop", "109.5 ms").times == "from 0.112 s"
    assert record("bias", "0.1 s", value=0.25).what == "0.25 s are added to the sent value"
    assert record("scale", "0.1 s", factor=3.0).what == "the sent value is multiplied by 3"


@pytest.mark.parametrize(("own", "before", "later"), [("4 ms", 4, 5), (None, 0, 9)])
def test_how_much_later_a_line_is(own, before, later):
    found = record("delay-step", "0.1 s", own=own, delay="9 ms")
    assert found.extra_delay_ns == later * MS
    assert found.what == f"the delay is 9 ms instead of {before} ms"
    assert record("drop", "0.1 s", own=own).extra_delay_ns == 0


def test_one_that_acts_at_no_point_is_refused(wording):
    assert record("drop", "199 ms", stop=201 * MS).begin_ns == 200 * MS
    with wording.raises(DescriptionError):
        record("drop", "199 ms")
    with wording.raises(DescriptionError):
        record("drop", "109.5 ms", "111 ms")
