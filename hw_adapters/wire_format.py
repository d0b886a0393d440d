"""The error of what came over a wire and is not what its protocol says."""

from __future__ import annotations

from orchestrator import SoftdockError


class WireFormatError(SoftdockError):
    """A datagram or record is cut short, damaged, or of another protocol; nothing of it is used."""
