"""A step allocates nothing, in real time and not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from compile_cache import compile_fixture


@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer replaces malloc, which this test replaces in order to count",
)
def test_a_step_allocates_nothing(tmp_path):
    library = tmp_path / "allocations.so"
    compile_fixture("allocations/allocations.c", library, "-fno-builtin")
    program = Path(__file__).with_name("count_allocations.py")
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(program)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    content = json.loads(done.stdout)
    assert content["seen"] >= 10  # allocations are seen at all
    assert content["overruns"] == 1030  # and the paths of overruns were taken
    # What a call allocates, its outcome among it, does not depend on the number of its steps.
    for few, many in (content["plain"], content["paced"]):
        assert few == many
