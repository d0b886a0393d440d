"""`softdock check`: everything that can be said of a description without running it."""

from orchestrator.checks.catalogue import code_named, codes, expect_begin
from orchestrator.checks.report import Report
from orchestrator.checks.target import check_target

__all__ = ["Report", "check_target", "code_named", "codes", "expect_begin"]
