"""What of a system is recorded: outputs by names and patterns, inputs by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.system import Causality, DataType, System

#: Of so many outputs a message lists all; of more, as many that come nearest.
_LISTED = 8


def recordable(system: System, record: Sequence[str] | str | None) -> list[str]:
    """Return what to record: what is asked for, or all outputs that are numbers.

    Parameters
    ----------
    system
        Flat.
    record
        Names ``component.connector`` of outputs and of connected inputs, or patterns for outputs:
        ``*`` stands for any characters, ``?`` for one; brackets stand for themselves. Patterns
        pass over outputs that are no numbers. ``None`` means ``"*"``, and an empty list nothing.
        A row of an input is what it was held at in the step that ended then.

    Returns
    -------
    list of str
        In the order of ``record``, and of the system within a pattern; each once.

    Raises
    ------
    DescriptionError
        If names are neither outputs nor connected inputs, or patterns match no output; all
        together, with the outputs that come nearest.
    """
    types = {
        f"{component.name}.{output.name}": output.type
        for component in system.components.values()
        for output in component.of(Causality.OUTPUT)
    }
    numbers = [
        f"{component.name}.{output.name}"
        for component in system.components.values()
        for output in component.of(Causality.OUTPUT)
        if not output.type.is_text
        and (component.shares_events or output.type is not DataType.CLOCK)  # else it never ticks
    ]
    if record is None:
        return numbers
    fed = {str(line.target) for line in system.connections}
    chosen: list[str] = []
    problems: list[DescriptionError] = []
    for text in [record] if isinstance(record, str) else record:
        if is_pattern(text):
            found, fault = matching(text, numbers), "no output matches it"
        else:
            found = [text] if text in types or text in fed else []
            fault = "it is neither an output nor an input that is connected"
        chosen += found
        if not found:
            problems.append(
                UnknownNameError(f"cannot record '{text}': {fault}; {_offer(text, list(types))}")
            )
    if problems:
        raise DescriptionError.collect(problems)
    return list(dict.fromkeys(chosen))


def is_pattern(text: str) -> bool:
    """Whether a text has wildcards."""
    return "*" in text or "?" in text


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """Names that a pattern matches as a whole, in their order."""
    wildcards = {"*": ".*", "?": "."}
    expression = "".join(wildcards.get(c) or re.escape(c) for c in pattern)
    return [name for name in names if re.fullmatch(expression, name, re.DOTALL)]


def _offer(text: str, names: list[str]) -> str:
    if len(names) <= _LISTED:
        return f"outputs: {', '.join(names) or 'none'}"
    bare = text.replace("*", "").replace("?", "")
    near = sorted(names, key=lambda name: -SequenceMatcher(None, bare, name).ratio())[:_LISTED]
    return f"of {len(names)} outputs the nearest: {', '.join(near)}"
