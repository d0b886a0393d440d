"""What a master has configured of a slave, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description import SlaveDescription, VariableKind
from orchestrator.dcp.error_codes import ErrorCode
from orchestrator.dcp.identifiers import LogLevel, LogMode, OpMode, Scope, Transport
from orchestrator.dcp.payload import HEADER_BYTES, Payload, Place, Values, has_gap
from orchestrator.dcp.slave.wire import Address

Positions = dict[int, tuple[int, DcpType]]
Listening = tuple[Transport, int]
Target = tuple[Transport, Address]


@dataclass(slots=True)
class Configuration:
    """The settings of CFG PDUs, by data id or parameter id.

    Parameters
    ----------
    resolution
        In s, numerator and denominator; ``None``: not set.
    inputs, outputs, tunables
        By position: value reference, and type in the payload.
    steps, scopes
        Of data ids.
    sources, targets, tunable_sources
        Where they come in, and go to.
    parameters
        Values that were set, by value reference.
    logging
        By category: up to which level, and how.
    """

    resolution: tuple[int, int] | None = None
    inputs: dict[int, Positions] = field(default_factory=dict)
    outputs: dict[int, Positions] = field(default_factory=dict)
    tunables: dict[int, Positions] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    sources: dict[int, Listening] = field(default_factory=dict)
    targets: dict[int, list[Target]] = field(default_factory=dict)
    tunable_sources: dict[int, Listening] = field(default_factory=dict)
    parameters: dict[int, Values] = field(default_factory=dict)
    logging: dict[int, tuple[LogLevel, LogMode]] = field(default_factory=dict)

    @property
    def listening(self) -> set[Listening]:
        """All that is received by."""
        return {*self.sources.values(), *self.tunable_sources.values()}

    def extents(self, about: SlaveDescription) -> dict[int, int]:
        """Return the structural parameters that were set, by reference."""
        known = about.by_reference
        return {
            reference: int(values[0])
            for reference, values in self.parameters.items()
            if known[reference].kind is VariableKind.STRUCTURAL
        }

    def payload(self, positions: Positions, about: SlaveDescription) -> Payload:
        """Return the layout of a data id."""
        known, extents = about.by_reference, self.extents(about)
        rows = (positions[at] for at in sorted(positions))
        return Payload(
            Place(reference, kind, about.size(known[reference], extents))
            for reference, kind in rows
        )

    def flaw(self, about: SlaveDescription, mode: OpMode) -> ErrorCode:
        """Return the first thing that is missing, in the order of Table 112; else ``NONE``."""
        return next(self._flaws(about, mode), ErrorCode.NONE)

    def _flaws(self, about: SlaveDescription, mode: OpMode) -> Iterator[ErrorCode]:
        code = ErrorCode
        data = {**self.inputs, **self.outputs}
        in_time = mode is not OpMode.NRT
        checks = (
            (code.INCOMPLETE_CONFIG_GAP_INPUT_POS, _any_gap(self.inputs)),
            (code.INCOMPLETE_CONFIG_GAP_OUTPUT_POS, _any_gap(self.outputs)),
            (code.INCOMPLETE_CONFIG_GAP_TUNABLE_POS, _any_gap(self.tunables)),
            (code.INCOMPLETE_CONFIG_NW_INFO_INPUT, _lacks(self.inputs, self.sources)),
            (code.INCOMPLETE_CONFIG_NW_INFO_OUTPUT, _lacks(self.outputs, self.targets)),
            (code.INCOMPLETE_CONFIG_NW_INFO_TUNABLE, _lacks(self.tunables, self.tunable_sources)),
            (code.INCOMPLETE_CONFIG_STEPS, in_time and _lacks(self.outputs, self.steps)),
            (
                code.INCOMPLETE_CONFIG_TIME_RESOLUTION,
                self.resolution is None and about.fixed_resolution is None,
            ),
            (code.INCOMPLETE_CONFIG_SCOPE, _lacks(data, self.scopes)),
            (code.NOT_SUPPORTED_PDU_SIZE, self._is_too_long(about)),
        )
        return (error for error, is_so in checks if is_so)

    def _is_too_long(self, about: SlaveDescription) -> bool:
        limit = min((place.max_pdu_size for place in about.transports.values()), default=0)
        groups = (*self.inputs.values(), *self.outputs.values(), *self.tunables.values())
        return any(
            HEADER_BYTES + self.payload(positions, about).least_size > limit for positions in groups
        )


def _any_gap(groups: Mapping[int, Positions]) -> bool:
    return any(map(has_gap, groups.values()))


def _lacks(ids: Mapping[int, object], known: Mapping[int, object]) -> bool:
    return not set(ids) <= set(known)
