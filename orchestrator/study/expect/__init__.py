"""Expectations: what measures and signals are to keep, and verdicts on what they did."""
