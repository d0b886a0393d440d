"""Systems and results that are recorded, for the tests of this folder."""

from recorded_runs import capture, hybrid, kept, loops_and_plans, result

__all__ = ["capture", "hybrid", "kept", "loops_and_plans", "result"]
