"""What is wrong with the tables of an animation, whatever is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.core.system import nearest
from orchestrator.pictures.animation.description import Animation, Frame
from orchestrator.pictures.animation.shapes import WORLD, Arm, Arrow, Line, Spring

#: What a page may hold; beyond it a browser takes long to open it.
MOST_PICTURES = 20_000


def loose_ends(name: str, table: Animation) -> Iterator[tuple[str, str]]:
    """Say where names of frames lead nowhere, and where points have no partner."""
    where = f"animation.{name}"
    yield from _compared(where, table)
    if WORLD in table.frame:
        yield f"{where}.frame.{WORLD}", "the world is there already: choose another name"
    known = [WORLD, *table.frame]
    for key, frame in table.frame.items():
        yield from _frame(f"{where}.frame.{key}", key, frame, table)
    for key, part in table.part.items():
        here = f"{where}.part.{key}"
        if isinstance(part, Line | Spring | Arm):
            yield from _between(here, part, known)
            continue
        yield from _named(f"{here}.in", part.within, known)
        if not isinstance(part, Arrow) and part.ghost is not None:
            yield from _named(f"{here}.ghost", part.ghost, known)


def _compared(where: str, table: Animation) -> Iterator[tuple[str, str]]:
    if len(table.reference) not in {0, 1, len(table.cases)}:
        text = (
            f"expected one case, or one for each of the {len(table.cases)} cases, found"
            f" {len(table.reference)}"
        )
        yield f"{where}.reference", text
    for key, one in table.owners():
        if one.reference and one.case is not None:
            yield f"{where}.{key}", "expected 'case' or 'reference', found both"
        elif one.reference and not table.reference:
            yield f"{where}.{key}.reference", "the animation names no 'reference'"


def _frame(here: str, key: str, frame: Frame, table: Animation) -> Iterator[tuple[str, str]]:
    yield from _named(f"{here}.in", frame.within, [WORLD, *table.frame])
    if _circles(key, table):
        yield f"{here}.in", f"the frame stands in itself, by way of '{frame.within}'"


def _circles(name: str, table: Animation) -> bool:
    seen, here = set(), table.frame[name].within
    while here in table.frame and here not in seen:
        if here == name:
            return True
        seen.add(here)
        here = table.frame[here].within
    return False


def _between(
    here: str, part: Line | Spring | Arm, known: Sequence[str]
) -> Iterator[tuple[str, str]]:
    yield from _named(f"{here}.from.in", part.begin.within, known)
    yield from _named(f"{here}.to.in", part.end.within, known)
    begin, end = len(part.begin.at), len(part.end.at)
    if begin != end:
        yield here, f"expected as many points in 'from' as in 'to', found {begin} and {end}"


def _named(where: str, name: str, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    if name not in known:
        yield where, f"no frame '{name}'{nearest(name, known)}; known: {', '.join(known)}"


def pictures(table: Animation, length_ns: int) -> int:
    """Return how many pictures a run of some length has."""
    return int(length_ns * table.fps / (1e9 * table.speed) + 1e-9) + 1


def too_many(name: str, table: Animation, length_ns: int) -> Iterator[str]:
    """Say whether a run would give more pictures than a page should hold."""
    count = pictures(table, length_ns)
    if count > MOST_PICTURES:
        yield (
            f"animation '{name}': {length_ns / 1e9:.6g} s at speed {table.speed:g} and"
            f" {table.fps:g} pictures a second are {count} pictures; expected at most"
            f" {MOST_PICTURES}: show a part with 'from' and 'until', or raise 'speed'"
        )
