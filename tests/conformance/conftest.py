"""Devices in real time go before what else the machine does, where that is granted."""

import pytest

from orchestrator.core import operating_system


@pytest.fixture
def real_time():
    """Give this thread, and the processes that it starts, a priority of real time."""
    before = operating_system.scheduling()
    try:
        operating_system.take_priority(1)
    except PermissionError:
        yield
        return
    yield
    operating_system.put_back_scheduling(*before)
