"""The payload of data and parameter PDUs: values in the order of their positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp.data_types import DcpType, Scalar, pack_value, unpack_value

Values = tuple[Scalar, ...]
#: Type, sequence number and data id before the payload.
HEADER_BYTES = 5


@dataclass(frozen=True, slots=True)
class Place:
    """One variable in a payload.

    Parameters
    ----------
    reference
        Of the variable.
    type
        Of the values in the payload: that of the output.
    size
        Number of its elements.
    """

    reference: int
    type: DcpType
    size: int


class Payload:
    """Writes and reads payloads of one layout.

    Parameters
    ----------
    places
        By position, without gaps.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)

    @property
    def least_size(self) -> int:
        """Bytes of the shortest payload: strings and binaries are empty."""
        return sum(place.type.size * place.size for place in self.places)

    def pack(self, values: Mapping[int, Values]) -> bytes:
        """Write the values of all variables, by reference."""
        parts = []
        for place in self.places:
            found = values[place.reference]
            if len(found) != place.size:
                raise WireFormatError(
                    f"value reference {place.reference}: expected {place.size} values, found"
                    f" {len(found)}"
                )
            parts += [pack_value(place.type, value) for value in found]
        return b"".join(parts)

    def unpack(self, content: bytes) -> dict[int, Values]:
        """Read the values of all variables, by reference."""
        found, at = {}, 0
        for place in self.places:
            values = []
            for _ in range(place.size):
                value, at = unpack_value(place.type, content, at)
                values.append(value)
            found[place.reference] = tuple(values)
        if at != len(content):
            raise WireFormatError(f"DCP data: expected {at} bytes of payload, found {len(content)}")
        return found


def has_gap(positions: Iterable[int]) -> bool:
    """Whether positions do not count from 0 on one by one."""
    found = sorted(positions)
    return found != list(range(len(found)))
