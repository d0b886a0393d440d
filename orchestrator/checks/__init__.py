"""`softdock check`: everything that can be said of a description without running it."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.checks.catalogue import (
        code_named as code_named,
        codes as codes,
        expect_begin as expect_begin,
    )
    from orchestrator.checks.run_checks import CheckReport as CheckReport
    from orchestrator.checks.target import check_target as check_target
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
