"""Strings of a flat model: known when the FMU is built, and not part of it."""

from __future__ import annotations

import logging
from typing import Any

from orchestrator.export.modelica.flat.expression import Interpreter, Scope
from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.flat.refusal import Refusal
from orchestrator.export.modelica.flat.structure_probe import referenced_names
from orchestrator.export.modelica.flat.tensor import Tensor

Json = Any
_LOGGER = logging.getLogger(__name__)


def read_texts(flat: FlatModel, interpreter: Interpreter) -> dict[str, Tensor]:
    """Values of the String parameters and constants; other Strings are left out with a warning."""
    entries, types = flat.tree["variables"], flat.tree["variable_type_names"]
    strings = [name for name in entries if types[name] == "String"]
    moving = [name for name in strings if not _is_constant(entries[name])]
    waiting = [name for name in strings if name not in moving]
    texts: dict[str, Tensor] = {}
    for name in waiting * len(waiting):  # they may name each other in any order
        entry = entries[name]
        node = entry["binding"] or entry["start"] or {"Literal": {"value": {"String": ""}}}
        try:
            if not (set(referenced_names(node)) - texts.keys()):
                texts[name] = interpreter.evaluate(node, Scope(texts))
        except Refusal as refusal:
            raise flat.variable_error(name, refusal) from refusal
    if moving:
        shown = ", ".join(moving[:3]) + (", .." if len(moving) > 3 else "")
        _LOGGER.warning(
            "%s: %d String variables are left out of the FMU: %s", flat.name, len(moving), shown
        )
    return texts


def _is_constant(entry: Json) -> bool:
    variability = entry["variability"]
    fixed = isinstance(variability, dict) and "Discrete" not in variability
    return fixed and not entry["dims"]
