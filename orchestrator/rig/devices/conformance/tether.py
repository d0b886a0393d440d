"""Runs a module as a program that ends with who started it: ``tether PARENT MODULE ARGUMENTS``.

A parent that is killed cannot end what it started; the kernel does (``PR_SET_PDEATHSIG``).
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

#: From <sys/prctl.h>.
_PR_SET_PDEATHSIG = 1


def main(parent: int, module: str) -> None:
    """Run the module, with what follows in ``sys.argv``."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
    if os.getppid() != parent:
        sys.exit("who started this program is gone")
    sys.argv[:] = sys.argv[2:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
