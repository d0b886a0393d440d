"""Devices in real time go before what else the machine does, where that is granted."""

import pytest

from orchestrator.core import posix


@pytest.fixture
def real_time():
    """Give this thread, and the processes that it starts, a priority of real time."""
    before = posix.scheduling()
    try:
        posix.take_priority(1)
    except PermissionError:
        yield
        return
    yield
    posix.put_back_scheduling(*before)
