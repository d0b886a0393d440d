"""One measurement of one peer, in this process.

usage: python child.py PEER JOB RESULT
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

from job import Job


def main() -> None:
    """Measure, or say why not."""
    peer, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    job = Job.read(source)
    began = time.perf_counter()
    try:
        module = importlib.import_module(f"peer_{peer}")
    except (ImportError, OSError) as error:
        result: dict[str, object] = {"skipped": f"not installed ({error})"}
    else:
        imported = time.perf_counter() - began
        try:
            result = module.measure(job)
        except Exception as error:  # noqa: BLE001 - a foreign program; the reason goes to the table
            result = {"skipped": f"{type(error).__name__}: {error}"}
        result |= {"import_s": imported, "version": module.VERSION}
    target.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
