"""What is said about compensated lines: files, drawings, checkpoints, refusals."""

from __future__ import annotations

import pytest

from orchestrator import Compensation, Fault, System, block, read_system, write_ssd
from orchestrator.authoring import read_toml, write_toml
from orchestrator.diagnostics import CapabilityError, DescriptionError, LoadError
from orchestrator.drawing.wording import wire_label
from orchestrator.export.portable import make_portable
from orchestrator.master.run.facts import facts_of
from orchestrator.system import fault_problems

pytestmark = pytest.mark.usefixtures("sample_blocks")


def system(**line):
    made = System("s").add("source", block("source")).add("gain", block("gain"))
    return made.connect("source.y", "gain.u", **line)
