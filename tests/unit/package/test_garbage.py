import gc

import pytest

from orchestrator.core.garbage import collection_paused


@pytest.fixture(autouse=True)
def _as_before():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


def test_the_collector_goes_on_after_the_outermost_pause_and_after_errors():
    gc.enable()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), collection_paused():
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_collector_that_was_stopped_stays_stopped():
    gc.disable()
    with collection_paused():
        pass
    assert not gc.isenabled()


def test_a_function_is_paused_in_every_call():
    gc.enable()

    @collection_paused()
    def seen():
        return gc.isenabled()

    assert [seen(), seen()] == [False, False]
    assert gc.isenabled()
