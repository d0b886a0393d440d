"""Signals that wait while a message is under way."""

import signal

import pytest

from orchestrator.core.operating_system.interrupts import interruptible
from orchestrator.core.simunits.isolation.wire import Interruption


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["heard", "ignored"])
def sigint(request):
    """Let SIGINT be heard, or ignored as in the background of a script."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param
    signal.signal(signal.SIGINT, before)


def end(did):
    with interruptible():
        with Interruption():
            signal.raise_signal(signal.SIGTERM)
            did.append("the message")
        did.append("what comes after it")


def test_sigterm_waits_and_is_not_lost(sigint):
    did = []
    with pytest.raises(SystemExit) as ended:
        end(did)
    assert ended.value.code == 128 + signal.SIGTERM
    assert did == ["the message"]
    assert signal.getsignal(signal.SIGINT) is sigint


@pytest.mark.parametrize("raise_after", [True, False])
def test_sigint_that_is_ignored_stays_so(raise_after):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible(), Interruption(raise_after=raise_after) as interruption:
            signal.raise_signal(signal.SIGINT)
        assert not interruption.seen
    finally:
        signal.signal(signal.SIGINT, before)
