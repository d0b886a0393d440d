"""A slice of ``make fuzz``: damaged files give a result or one of Softdock's errors."""

import pytest
from fuzz.one import try_one
from fuzz.readers import READERS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", READERS)
def test_what_is_damaged_was_sound(name, tmp_path):
    path = tmp_path / f"sound{READERS[name].suffix}"
    path.write_bytes(READERS[name].seed())
    READERS[name].read(path)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 2**40))
def test_a_damaged_file_is_read_or_refused(name, number, tmp_path):
    assert try_one(name, number, tmp_path) == ""
