"""Prints how many models of the corpus passed, were refused with a message, or came out wrong."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counts = {"passed": 0, "refused": 0, "wrong": 0}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            kind = dict(getattr(report, "user_properties", ())).get("corpus")
            if kind and report.when == "call":
                counts["wrong" if outcome == "failed" else kind] += 1
    listed = ", ".join(f"{count} {name}" for name, count in counts.items())
    terminalreporter.write_line(f"corpus of {sum(counts.values())} models: {listed}")
