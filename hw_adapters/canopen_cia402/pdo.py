"""PDOs: which objects are in which, how they are packed, and whether the line can carry them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hw_adapters.canopen_cia402.codec import CanFrame
from hw_adapters.canopen_cia402.objects import MAPPABLE, DriveObject
from orchestrator.core.diagnostics import choices_for
from orchestrator.rig.devices import WireFormatError

_MOST_BYTES, _MOST_PDOS = 8, 4
#: Bit 31 of a COB-ID: the PDO is not used.
UNUSED = 0x8000_0000
#: Of SYNC: at each of them.
AT_EACH_SYNC = 1


@dataclass(frozen=True, slots=True)
class PdoMap:
    """One PDO of one drive.

    Parameters
    ----------
    number
        1 to 4.
    commanded
        Whether it is an RPDO, which the drive receives.
    node
        Of the drive.
    objects
        In their order, without gaps.
    """

    number: int
    commanded: bool
    node: int
    objects: tuple[DriveObject, ...]

    @property
    def identifier(self) -> int:
        """Of its frame, by the predefined connection set."""
        return (0x100 if self.commanded else 0x080) + 0x100 * self.number + self.node

    @property
    def size(self) -> int:
        """Its bytes."""
        return sum(drive_object.size for drive_object in self.objects)

    def has_room(self, size: int) -> bool:
        """Whether an object of so many bytes fits in as well."""
        return self.size + size <= _MOST_BYTES

    @property
    def parameters(self) -> tuple[int, int]:
        """Indices of its communication and its mapping parameters."""
        first = 0x1400 if self.commanded else 0x1800
        return first + self.number - 1, first + 0x200 + self.number - 1

    def encode(self, values: Mapping[str, int]) -> CanFrame:
        """Write values, by the names of the objects.

        Raises
        ------
        WireFormatError
            If one does not fit its object.
        """
        try:
            data = b"".join(
                drive_object.pack(values[drive_object.name]) for drive_object in self.objects
            )
        except struct.error:
            listing = ", ".join(f"{o}: {values[o.name]}" for o in self.objects)
            raise WireFormatError(f"RPDO{self.number}: a value does not fit: {listing}") from None
        return CanFrame(self.identifier, data)

    def decode(self, data: bytes) -> dict[str, int]:
        """Read the values of a frame.

        Raises
        ------
        WireFormatError
            If it is longer or shorter than the mapping.
        """
        if len(data) != self.size:
            raise WireFormatError(
                f"TPDO{self.number} of node {self.node}: expected {self.size} bytes, found"
                f" {len(data)}"
            )
        values, at = {}, 0
        for drive_object in self.objects:
            values[drive_object.name] = drive_object.unpack(data[at : at + drive_object.size])
            at += drive_object.size
        return values


def pdo_maps(node: int, maps: Sequence[Sequence[str]], *, commanded: bool) -> tuple[PdoMap, ...]:
    """Return the PDOs of a drive; :func:`pdo_problems` has found nothing in them."""
    return tuple(
        PdoMap(i, commanded, node, tuple(MAPPABLE[name] for name in names))
        for i, names in enumerate(maps, 1)
    )


def pdo_problems(
    maps: Sequence[Sequence[str]], needed: Iterable[str], *, commanded: bool
) -> Iterator[str]:
    """Say why maps do not fit; nothing if they do.

    Parameters
    ----------
    maps
        Names of objects, for each PDO.
    needed
        Names that must be among them.
    commanded
        Whether they are RPDOs.
    """
    kind, objects_by_name = ("RPDO" if commanded else "TPDO"), _names(commanded=commanded)
    names = [name for pdo_names in maps for name in pdo_names]
    if len(maps) > _MOST_PDOS:
        yield f"{len(maps)} {kind}s; expected {_MOST_PDOS} at most"
    for name in sorted({n for n in names if n not in objects_by_name}):
        yield (
            f"expected objects for {kind}s, found"
            f" '{name}'{choices_for(name, objects_by_name, 'object')}"
        )
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield f"'{name}' is in the {kind}s more than once; expected once"
    for name in needed:
        if name not in names:
            yield f"'{name}' is in no {kind}; expected it in one"
    for i, pdo_names in enumerate(maps, 1):
        size = sum(objects_by_name[name].size for name in pdo_names if name in objects_by_name)
        if not 0 < size <= _MOST_BYTES:
            listing = (
                " + ".join(
                    f"{n} {objects_by_name[n].size}" for n in pdo_names if n in objects_by_name
                )
                or "nothing"
            )
            yield f"{kind}{i} has {size} bytes ({listing}); expected 1 to {_MOST_BYTES}"


def _names(*, commanded: bool) -> dict[str, DriveObject]:
    return {
        name: drive_object
        for name, drive_object in MAPPABLE.items()
        if drive_object.commanded == commanded
    }


def frame_bits(size: int) -> int:
    """Return the bits of a frame of so many bytes with the most bits that stuffing can add.

    References
    ----------
    Davis, Burns, Bril, Lukkien: Controller Area Network (CAN) schedulability analysis: refuted,
    revisited and revised, 2007, Eq 1 for identifiers of 11 bits: g + 8 s + 13 +
    floor((g + 8 s - 1) / 4) with g = 34.
    """
    return 34 + 8 * size + 13 + (34 + 8 * size - 1) // 4
