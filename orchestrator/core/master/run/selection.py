"""What of a system is recorded: outputs by names and patterns, every other variable by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
from orchestrator.core.system import Causality, Component, Connector, DataType, System
from orchestrator.core.system.naming import is_pattern, listed_names, matching


def recordable(system: System, record: Sequence[str] | str | None) -> list[str]:
    """Return what to record: what is asked for, or all outputs that are numbers."""
    outputs = [name for name, part, c in _variables(system, outputs=True) if _counts(part, c)]
    if record is None:
        return outputs
    others = {name: c for name, _, c in _variables(system, outputs=False)}
    named = {name: c for name, _, c in _variables(system, outputs=True)} | others
    chosen: list[str] = []
    problems: list[DescriptionError] = []
    for text in [record] if isinstance(record, str) else record:
        if is_pattern(text):
            numbers = [name for name, c in others.items() if not c.type.is_text]
            found = matching(text, outputs) or matching(text, numbers)
            fault = "no variable that is a number matches it"
        elif text in named and named[text].type.is_text:
            told = f"it is a {named[text].type}; only numbers are recorded, so leave it out"
            problems.append(CapabilityError(f"cannot record '{text}': {told}"))
            continue
        else:
            found = [text] if text in named else []
            fault = "no component has this variable"
        chosen += found
        if not found:
            offer = _offer(text, [*named])
            problems.append(UnknownNameError(f"cannot record '{text}': {fault}; {offer}"))
    if problems:
        raise DescriptionError.collect(problems)
    return list(dict.fromkeys(chosen))


def _variables(system: System, *, outputs: bool) -> Iterator[tuple[str, Component, Connector]]:
    for component in system.components.values():
        for connector in component.connectors.values():
            if (connector.causality is Causality.OUTPUT) is outputs:
                yield f"{component.name}.{connector.name}", component, connector


def _counts(component: Component, output: Connector) -> bool:
    """Whether an output is recorded unasked: it is a number, and no clock that never ticks."""
    ticks = component.shares_events or output.type is not DataType.CLOCK
    return ticks and not output.type.is_text


def _offer(text: str, names: list[str]) -> str:
    return f"there are: {listed_names(names, text.replace('*', '').replace('?', ''))}"
