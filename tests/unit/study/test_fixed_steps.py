"""FMUs whose steps have a length of their own: they keep it, or the verification is refused."""

import pytest

from orchestrator import CapabilityError, System, fmu, verify

pytestmark = pytest.mark.native


@pytest.fixture
def rig(c_fmu):
    """Make a system of a unit that takes whole multiples of 0.4 ms."""

    def fixed(text):
        return text.replace("<CoSimulation ", '<CoSimulation fixedInternalStepSize="0.0004" ')

    return lambda source, **values: System("s").add("rig", fmu(c_fmu(source, fixed)), **values)


def test_a_fixed_internal_step_is_kept_where_it_does_not_fit(rig):
    verification = verify(rig("every3"), step="0.8 ms", stop="8 ms")
    assert verification.failures == ()
    assert [text for text in verification.remarks if "'rig' keeps its step of 0.8 ms" in text]


def test_a_fixed_internal_step_that_fits_is_shortened(rig):
    verification = verify(rig("every3"), step="1.6 ms", stop="16 ms")
    assert verification.failures == verification.remarks == ()


def test_what_shares_events_cannot_keep_its_step_and_is_refused_by_name(rig, wording):
    with wording.raises(CapabilityError):
        verify(rig("counter3", value=0), step="0.8 ms", stop="8 ms")
    assert verify(rig("counter3", value=0), step="1.6 ms", stop="16 ms").failures == ()


def test_what_is_iterated_cannot_keep_its_step_and_is_refused_by_name(rig, wording):
    system = rig("every3").connect("rig.y", "rig.u", factor=0.1, suppress_unit_conversion=True)
    with wording.raises(CapabilityError):
        verify(system, step="0.8 ms", stop="8 ms", algorithm="newton")
