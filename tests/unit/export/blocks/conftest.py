import importlib.util
import sys
from pathlib import Path

import pytest

from orchestrator import build_block

FIXTURES = Path(__file__).parents[3] / "fixtures" / "blockfmu"


@pytest.fixture(scope="session")
def samples():
    """The blocks of tests/fixtures/blockfmu/traced_blocks.py, in a module of that name."""
    spec = importlib.util.spec_from_file_location("traced_blocks", FIXTURES / "traced_blocks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["traced_blocks"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build the FMU of a block once: ``built(kind, "3.0", python=True)``."""
    folder = tmp_path_factory.mktemp("blocks")
    known = {}

    def build(kind, fmi, *, python=False):
        if python:
            reason = "the extra 'fmu' is not installed"
            pytest.importorskip("pythonfmu" if fmi == "2.0" else "pythonfmu3", reason=reason)
        key = (kind, fmi, python)
        if key not in known:
            target = folder / ("python" if python else "c")
            known[key] = build_block(kind, target, fmi=(fmi,), python=python).path
        return known[key]

    return build
