"""The adapter for force-torque sensors that speak RDT."""

from __future__ import annotations

import http.client
from collections import deque
from collections.abc import Sequence
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from hw_adapters.ati_net_ft.calibration import (
    FORCE_UNITS,
    TORQUE_UNITS,
    Calibration,
    fetch_calibration,
)
from hw_adapters.ati_net_ft.codec import Command, Record, Request, decode_records, encode_request
from hw_adapters.counter import Counter
from hw_adapters.datagram_socket import DatagramSocket, connected
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
)

#: The sensor's rate may differ by this share from what the settings expect.
_RATE_SHARE = 0.01
#: The sensor's count of its samples begins again after so many: 7.1 days at 7 kHz.
_FT_PERIOD = 2**32


class CalibrationSettings(BaseModel):
    """A calibration that is not asked for over HTTP.

    Parameters
    ----------
    counts_per_force, counts_per_torque
        Counts for one unit.
    force_unit, torque_unit
        As the sensor names them, such as ``N`` and ``Nm``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    counts_per_force: float = Field(gt=0.0, allow_inf_nan=False)
    counts_per_torque: float = Field(gt=0.0, allow_inf_nan=False)
    force_unit: str = "N"
    torque_unit: str = "Nm"

    @field_validator("force_unit", "torque_unit")
    @classmethod
    def _known(cls, value: str, field: ValidationInfo) -> str:
        known = FORCE_UNITS if field.field_name == "force_unit" else TORQUE_UNITS
        if value not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return value


class AtiNetFtSettings(DeviceSettings):
    """Where the sensor is, and how it is read.

    Parameters
    ----------
    device_host, device_port, http_port
        Of the sensor: RDT over UDP, and its pages over TCP.
    host, port
        Here; empty and 0: any.
    rate
        Records per second that the sensor is set to, Hz: another one is refused.
    internal_rate
        Samples per second that the sensor takes and counts by itself, Hz; records are some of them.
    buffered
        Several records come in one datagram: fewer datagrams, and samples that are older.
    tare
        What is felt when the run begins is 0 from then on.
    force_limit, torque_limit
        Measuring range, N and N.m.
    frame
        Name of the sensor's frame.
    calibration
        Default: it is asked for over HTTP.
    """

    device_host: str
    device_port: int = Field(default=49152, ge=1, le=65535)
    http_port: int = Field(default=80, ge=1, le=65535)
    host: str = ""
    port: int = Field(default=0, ge=0, le=65535)
    rate: float = Field(default=7000.0, gt=0.0, allow_inf_nan=False)
    internal_rate: float = Field(default=7000.0, gt=0.0, allow_inf_nan=False)
    buffered: bool = False
    tare: bool = False
    force_limit: float = Field(default=float("inf"), gt=0.0)
    torque_limit: float = Field(default=float("inf"), gt=0.0)
    frame: str | None = None
    calibration: CalibrationSettings | None = None


class AtiNetFt(Device):
    """A sensor that streams its wrench; it takes no commands."""

    Settings = AtiNetFtSettings
    sequence_period = 2**32

    def __init__(self, settings: AtiNetFtSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._socket: DatagramSocket | None = None
        self._calibration: Calibration | None = None
        self._waiting: deque[Record] = deque()
        self._clock = Counter(_FT_PERIOD)

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the six components of the wrench, in the frame of the sensor."""
        given = cast("AtiNetFtSettings", settings)
        kinds = (("f", "N", "Force", given.force_limit), ("t", "N.m", "Torque", given.torque_limit))
        outputs = tuple(
            DeviceConnector(
                f"{letter}{axis}",
                unit,
                f"{what} along {axis}" if letter == "f" else f"{what} about {axis}",
                frame=given.frame,
                minimum=-limit,
                maximum=limit,
            )
            for letter, unit, what, limit in kinds
            for axis in "xyz"
        )
        return DeviceConnectors(inputs=(), outputs=outputs, rate=given.rate)

    def open(self) -> None:
        """Ask for the calibration, set the zero if wanted, and start the stream."""
        given = self._settings
        self._calibration = self._known_calibration()
        found = self._calibration.rate_hz
        if found and abs(found - given.rate) > _RATE_SHARE * given.rate:
            raise DeviceError(
                f"{given.device_host}: expected {given.rate:g} records per second, found"
                f" {found:g}; set 'rate', or the sensor's RDT output rate on its own page"
            )
        peer = (given.device_host, given.device_port)
        self._socket = DatagramSocket(given.host, given.port, peer)
        self._waiting.clear()
        self._clock = Counter(_FT_PERIOD)
        if given.tare:
            self._ask(Command.TARE)
        self._ask(Command.STREAM_BUFFERED if given.buffered else Command.STREAM)

    def _known_calibration(self) -> Calibration:
        given = self._settings
        if given.calibration is not None:
            return Calibration(**given.calibration.model_dump())
        try:
            return fetch_calibration(given.device_host, given.http_port, given.connect_timeout)
        except (OSError, http.client.HTTPException) as error:
            place = f"http://{given.device_host}:{given.http_port}"
            raise DeviceError(
                f"{place}: the sensor does not tell its calibration ({error}); is it there, and in"
                " this network? Else give 'calibration'"
            ) from None

    def close(self) -> None:
        """Stop the stream."""
        if self._socket is not None:
            try:
                self._ask(Command.STOP)
            except OSError:
                pass  # closed before, or the network is gone: the sensor streams on, unheard
            finally:
                self._socket.close()

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next record."""
        if not self._waiting:
            found = connected(self._socket).receive(timeout_s)
            if found is None:
                return None
            self._waiting.extend(decode_records(found[0]))
        record = self._waiting.popleft()
        return Received(
            values=cast("Calibration", self._calibration).wrench(record.counts),
            device_time=self._clock.count(record.ft_sequence) / self._settings.internal_rate,
            sequence=record.rdt_sequence,
            valid=record.valid,
            status=record.status,
        )

    def send(self, values: Sequence[float]) -> None:
        """Do nothing: a sensor has no commands."""

    def _ask(self, command: Command) -> None:
        connected(self._socket).send(encode_request(Request(command)))
