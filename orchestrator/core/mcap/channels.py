"""The channels of a file: one for each component, whose messages are objects of its signals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ChannelPlan:
    """One channel.

    Parameters
    ----------
    topic
        Name of the component behind a slash; signals without a component have only the slash.
    columns
        Numbers of its signals.
    schema
        As JSON Schema, with units, frames and descriptions.
    """

    topic: str
    columns: tuple[int, ...]
    schema: bytes
    _line: str = field(repr=False)

    def messages(self, values: Floats) -> list[bytes]:
        """Return rows, of all signals, as objects in JSON; what is no number is null."""
        rows = values[:, list(self.columns)]
        text: Callable[[float], str] = repr if np.isfinite(rows).all() else _number
        return [(self._line % tuple(map(text, row))).encode() for row in rows.tolist()]


def channel_plans(
    names: Sequence[str], about: Mapping[str, Mapping[str, str]]
) -> list[ChannelPlan]:
    """Return the channels for some signals.

    Parameters
    ----------
    names
        ``component.connector``.
    about
        By name, what the schema says of it: ``unit``, ``frame``, ``description``.
    """
    found: dict[str, dict[str, int]] = {}
    for number, name in enumerate(names):
        component, dot, signal = name.partition(".")
        topic, key = (component, signal) if dot else ("", name)
        found.setdefault(topic, {})[key] = number
    plans = []
    for topic, columns in found.items():
        properties = {
            key: {"type": ["number", "null"], **about.get(names[number], {})}
            for key, number in columns.items()
        }
        schema = {"type": "object", "title": topic, "properties": properties}
        line = ",".join(json.dumps(key).replace("%", "%%") + ":%s" for key in columns)
        text = json.dumps(schema).encode()
        plans.append(ChannelPlan(f"/{topic}", tuple(columns.values()), text, f"{{{line}}}"))
    return plans


def name_of(topic: str, key: str) -> str:
    """Return the name of a signal."""
    component = topic.removeprefix("/")
    return f"{component}.{key}" if component else key


def _number(value: float) -> str:
    if value != value:
        return "null"
    return {np.inf: "1e999", -np.inf: "-1e999"}.get(value, repr(value))
