"""Lets an interpreter, and those that it starts, take the engine of another build."""

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

_NAME = "orchestrator.engine._engine"


class _Finder:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find the engine in the folder that SOFTDOCK_OTHER_ENGINE names, and nothing else."""
        if name != _NAME:
            return None
        (library,) = Path(os.environ["SOFTDOCK_OTHER_ENGINE"]).glob("_engine.*.so")
        return spec_from_file_location(name, library)


if "SOFTDOCK_OTHER_ENGINE" in os.environ:
    sys.meta_path.insert(0, _Finder)
    if os.environ["SOFTDOCK_OTHER_ENGINE"].endswith("thread"):
        os.environ.pop("LD_PRELOAD", None)  # compilers do not run under ThreadSanitizer
    if os.environ["SOFTDOCK_OTHER_ENGINE"].endswith("address"):
        import resource

        _set = resource.setrlimit
        # AddressSanitizer maps terabytes, which it does not use: no limit of memory holds with it.
        resource.setrlimit = lambda kind, most: kind == resource.RLIMIT_DATA or _set(kind, most)
