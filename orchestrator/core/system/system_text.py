"""A system as a few lines of text, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.system.connection import Connection

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


#: Number of listed items of each sort, and length of a line.
_MOST, _WIDTH = 6, 100


#: A notebook draws a system of up to this many components; it shows a larger one as text.
MOST_DRAWN = 60


def part_count(system: System) -> int:
    """Return how many components a system has, those of nested systems included."""
    return len(system.components) + sum(map(part_count, system.systems.values()))


def text_of(system: System) -> str:
    """Return what is in a system, in at most 24 lines of 100 characters."""
    lines = [f"System '{system.name}': {_counts(system)}"]
    if system.description:
        lines.append(f"  {system.description.splitlines()[0]}")
    parts = [f"  {name} ({c.source.short})" for name, c in system.components.items()]
    lines += _first(parts, "components")
    nested = [f"  {name}: {_counts(inner)}" for name, inner in system.systems.items()]
    lines += _first(nested, "nested systems")
    lines += _first([f"  {_line(line)}" for line in system.connections], "connections")
    if part_count(system) > MOST_DRAWN:
        lines.append(f'  draw_system(system).save("{system.name}.svg") draws all of it')
    return "\n".join(text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…" for text in lines)


def svg_of(system: System) -> str | None:
    """Return its block diagram, as of :func:`~orchestrator.draw_system`.

    ``None``: it cannot be drawn, or has too many components for the output of a notebook.
    """
    if part_count(system) > MOST_DRAWN:
        return None
    from orchestrator.core.upward import system_svg

    try:
        return system_svg(system)
    except SoftdockError:  # its text is shown
        return None


def _line(line: Connection) -> str:
    return f"{line} ({line.delay.nominal_ns / 1e6:g} ms)" if line.delay else str(line)


def _first(lines: list[str], plural: str) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"  and {len(lines) - _MOST} more {plural}"


def _counts(system: System) -> str:
    numbers = {
        "component": len(system.components),
        "nested system": len(system.systems),
        "connection": len(system.connections),
    }
    counts = [f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in numbers.items() if n]
    return ", ".join(counts) or "empty"
