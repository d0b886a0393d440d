"""The adapter for force-torque sensors that speak RDT."""

from __future__ import annotations

import http.client
import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from hw_adapters.ati_net_ft.calibration import (
    FORCE_UNITS,
    TORQUE_UNITS,
    Calibration,
    fetch_calibration,
)
from hw_adapters.ati_net_ft.codec import (
    Command,
    Counts,
    Record,
    Request,
    decode_records,
    encode_request,
)
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
#: A request without an effect is made again after so long; silence is waited for at most, s.
_AGAIN_S, _STOP_S = 0.25, 1.0
#: A stream has ended when nothing came for so long, s, and for so many records.
_QUIET_S, _QUIET_RECORDS = 0.02, 5
#: The mean of so many records is the zero.
_TARE_RECORDS = 32
#: Numbers of successive records differ by at most this; others are of an earlier stream.
_FELT_GAP = 10


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
    def _expect_unit(cls, value: str, field: ValidationInfo) -> str:
        units = FORCE_UNITS if field.field_name == "force_unit" else TORQUE_UNITS
        if value not in units:
            raise ValueError(f"one of {', '.join(units)}")
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
        What is felt when the stream begins is 0 from then on: the mean of the first records, which
        is taken off here. The sensor is not asked for it, so that no request can be lost or late.
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
    """A force-torque sensor that streams its wrench; it takes no commands."""

    Settings = AtiNetFtSettings
    sequence_period = 2**32

    def __init__(self, settings: AtiNetFtSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._socket: DatagramSocket | None = None
        self._calibration: Calibration | None = None
        self._waiting: deque[Record] = deque()
        self._clock = Counter(_FT_PERIOD)
        self._asked_s = 0.0
        self._streams = False
        self._felt: list[Counts] = []
        self._felt_last = self._felt_strange = 0
        self._zero = (0.0,) * 6
        self._begin_count()

    def _begin_count(self) -> None:
        #: Requests for the stream, beside the first: each begins the count of records again.
        self._again = 0
        self._base, self._last = 0, (0, -math.inf)

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the six components of the wrench, in the frame of the sensor."""
        options = cast("AtiNetFtSettings", settings)
        kinds = (
            ("f", "N", "Force", options.force_limit),
            ("t", "N.m", "Torque", options.torque_limit),
        )
        outputs = tuple(
            DeviceConnector(
                f"{letter}{axis}",
                unit,
                f"{quantity} along {axis}" if letter == "f" else f"{quantity} about {axis}",
                frame=options.frame,
                minimum=-limit,
                maximum=limit,
            )
            for letter, unit, quantity, limit in kinds
            for axis in "xyz"
        )
        return DeviceConnectors(inputs=(), outputs=outputs, rate=options.rate)

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return where the count of each output stands in a record."""
        outputs = cls.connectors(settings).outputs
        return {port.name: f"byte {12 + 4 * i}, i32" for i, port in enumerate(outputs)}

    def open(self) -> None:
        """Ask for the calibration, end what still streams, and start the stream."""
        settings = self._settings
        self._calibration = self._known_calibration()
        sensor_rate = self._calibration.rate_hz
        if sensor_rate and abs(sensor_rate - settings.rate) > _RATE_SHARE * settings.rate:
            raise DeviceError(
                f"{settings.device_host}: expected {settings.rate:g} records per second, found"
                f" {sensor_rate:g}; set 'rate', or the sensor's RDT output rate on its own page"
            )
        peer = (settings.device_host, settings.device_port)
        self._socket = DatagramSocket(settings.host, settings.port, peer)
        self._waiting.clear()
        self._clock = Counter(_FT_PERIOD)
        self._felt, self._zero, self._streams = [], (0.0,) * 6, False
        self._felt_last = self._felt_strange = 0
        self._begin_count()
        self._stop()
        self._stream()

    def _known_calibration(self) -> Calibration:
        settings = self._settings
        if settings.calibration is not None:
            return Calibration(**settings.calibration.model_dump())
        try:
            return fetch_calibration(
                settings.device_host, settings.http_port, settings.connect_timeout
            )
        except (OSError, http.client.HTTPException) as error:
            address = f"http://{settings.device_host}:{settings.http_port}"
            raise DeviceError(
                f"{address}: the sensor does not send its calibration ({error}); check that it is"
                " on and in this network, or give 'calibration'"
            ) from None

    def close(self) -> None:
        """Stop the stream, and see that it has stopped."""
        if self._socket is not None:
            try:
                self._stop()
            except OSError:
                pass  # closed before, or the network is gone: the sensor streams on, unheard
            finally:
                self._socket.close()

    def account(self) -> str:
        """Say which sensor it was, and what others sent."""
        return "" if self._socket is None else self._socket.account()

    def _stream(self) -> None:
        self._asked_s = time.monotonic()
        self._ask(Command.STREAM_BUFFERED if self._settings.buffered else Command.STREAM)

    def _stop(self) -> None:
        """Ask for silence until there is some."""
        begin = asked_s = time.monotonic()
        self._ask(Command.STOP)
        quiet = max(_QUIET_S, _QUIET_RECORDS / self._settings.rate)
        while connected(self._socket).receive(quiet) is not None:
            now = time.monotonic()
            if now - begin > _STOP_S:
                return
            if now - asked_s > 0.2 * _AGAIN_S:
                asked_s = now
                self._ask(Command.STOP)

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next record; a request for the stream that was lost is made again."""
        deadline = time.monotonic() + timeout_s
        while (record := self._record(deadline)) is not None and self._is_tared(record):
            pass
        if record is None:
            return None
        calibrated = cast("Calibration", self._calibration).wrench(record.counts)
        time_s = self._clock.count(record.ft_sequence) / self._settings.internal_rate
        return Received(
            values=tuple(a - b for a, b in zip(calibrated, self._zero, strict=True)),
            device_time=time_s,
            sequence=self._counted(record.rdt_sequence, time_s),
            valid=record.valid,
            status=record.status,
        )

    def _counted(self, number: int, time_s: float) -> int:
        """Count on where a request that was made again began the stream again."""
        last, last_s = self._last
        if self._again and number < last and time_s > last_s:
            self._again -= 1
            self._base += last + max(1, round((time_s - last_s) * self._settings.rate)) - number
        self._last = number, time_s
        return (self._base + number) % _FT_PERIOD

    def send(self, values: Sequence[float]) -> None:
        """Do nothing: a sensor has no commands."""

    def _record(self, deadline: float) -> Record | None:
        if not self._waiting:
            now = time.monotonic()
            if not self._streams and now - self._asked_s > _AGAIN_S:
                self._stream()
                self._again += 1
            datagram = connected(self._socket).receive(max(deadline - now, 0.0))
            if datagram is None:
                return None
            self._waiting.extend(decode_records(datagram[0]))
            self._streams = True
        return self._waiting.popleft()

    def _is_tared(self, record: Record) -> bool:
        """Whether a record is one of those whose mean is the zero."""
        if not self._settings.tare or len(self._felt) == _TARE_RECORDS:
            return False
        gap = (record.rdt_sequence - self._felt_last) % _FT_PERIOD
        if self._felt and not 0 < gap <= _FELT_GAP:
            self._felt_strange += 1
            if len(self._felt) > 1 and self._felt_strange < _TARE_RECORDS:
                return True  # an old one
            self._felt, self._felt_strange = [], 0
        if record.valid:
            self._felt.append(record.counts)
            self._felt_last = record.rdt_sequence
        if len(self._felt) == _TARE_RECORDS:
            self._set_zero()
        return True

    def _set_zero(self) -> None:
        wrench = cast("Calibration", self._calibration).wrench
        rows = [wrench(counts) for counts in self._felt]
        self._zero = tuple(sum(column) / len(rows) for column in zip(*rows, strict=True))

    def _ask(self, command: Command) -> None:
        connected(self._socket).send(encode_request(Request(command)))
