import pytest


@pytest.fixture(autouse=True)
def _plots_are_looked_at_elsewhere(no_pictures):
    """Here it is about commands; drawing takes nine tenths of a run's time."""
