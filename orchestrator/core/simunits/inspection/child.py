"""The process that loads an FMU for its checks: ``python -m ..child FMU FOLDER INTERFACE NAMES``.

It writes one line of JSON when a check begins and one when it ends, so that its parent knows which
check a crash belongs to.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from orchestrator.core.simunits.inspection.check import capabilities, parse_description
from orchestrator.core.simunits.inspection.probe import InstanceBench, Skip
from orchestrator.core.simunits.inspection.trials import TRIALS


def main(path: str, folder: str, interface: str, names: str) -> None:
    """Run the checks of the given names."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the FMU prints itself is no answer

    def tell(**line: Any) -> None:
        channel.write(json.dumps(line) + "\n")
        channel.flush()

    description = parse_description(Path(path))
    promised = capabilities(Path(path))[interface]
    for name in names.split(","):
        tell(begin=name)
        bench = InstanceBench(description, folder, promised, exchange=interface == "Model Exchange")
        try:
            bench.shorten()
            tell(name=name, outcome="passed", remark=TRIALS[name](bench))
        except Skip as reason:
            tell(name=name, outcome="skipped", remark=str(reason))
        except Exception as error:  # noqa: BLE001 - whatever a foreign FMU causes is its result
            said = next((p.messages[-1] for p in reversed(bench.opened) if p.messages), "")
            text = str(error) or type(error).__name__
            tell(name=name, outcome="failed", remark=f"{text}: {said}" if said else text)
    channel.close()
    os._exit(0)  # an FMU that was not freed must not be unloaded in an unknown state


if __name__ == "__main__":
    main(*sys.argv[1:5])
