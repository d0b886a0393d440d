"""`softdock check`: everything that can be said of a description without running it."""

from orchestrator.checks.catalogue import code_named, codes, expect_begin
from orchestrator.checks.run_checks import CheckReport
from orchestrator.checks.target import check_target

__all__ = ["CheckReport", "check_target", "code_named", "codes", "expect_begin"]
