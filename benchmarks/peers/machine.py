"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def _first(path: str, key: str) -> str:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next((s.partition(":")[2].strip() for s in lines if s.startswith(key)), "unknown")


def fingerprint() -> dict[str, object]:
    """Processor, system, compiler, load."""
    compiler = subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "machine": platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "compiler": compiler.stdout.splitlines()[0],
        "load_average": os.getloadavg(),
    }
