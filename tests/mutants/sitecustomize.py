"""Lets processes that tests start compile the mistake of ``tests/mutate.py``, too."""

import os
import sys
from pathlib import Path

if os.environ.get("MUTANT"):
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    import tests.mutate  # noqa: F401

    sys.path.pop()
