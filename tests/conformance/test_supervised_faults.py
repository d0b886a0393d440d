"""What a device says under a fault of the wire is found by the checks of the supervisor."""

import pytest

from orchestrator import Reason
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.devices.conformance import bench_of
from orchestrator.rig.devices.conformance.session import session
from orchestrator.rig.supervisor.checks import HealthCheck, SignalCheck
from orchestrator.rig.supervisor.settings import DeviceLimits, SignalLimits
from orchestrator.rig.supervisor.watch_memory import Head

#: What the first signal of each device stays within, far beyond what it is led to here.
RANGES = {"ur_rtde": 1.0, "pi_gcs": 0.015, "dcp": 1.0, "canopen_cia402": 1e4}
FOUND = {
    "freeze": Reason.SENSOR_STALE,
    "nan": Reason.MALFORMED,
    "saturated": Reason.WORKSPACE,
    "wrong-status": Reason.STATUS,
    "clock-jump:5": Reason.SENSOR_LOST,
}
#: Of a drive that looks at its encoder by itself.
FOUND_BY_ITSELF = {("canopen_cia402", "saturated"): Reason.STATUS}


class Watch:
    """Samples as the process of a device counts them, and the checks that see them."""

    def __init__(self, device, reach):
        ports = device.connectors(device.settings)
        size = sum(port.size for port in ports.outputs)
        self.counter = SampleCounter(size, ports.rate, device.sequence_period)
        self.period_ns = round(1e9 / ports.rate)
        # A stand-still of ten samples is none: the device is led.
        limits = {"minimum": -reach, "maximum": reach, "frozen": 10e-9 * self.period_ns}
        self.signal = SignalCheck(SignalLimits(**limits), ports.outputs[0].unit)
        # Bit 16: the first drive warns; the program of a robot does not run.
        self.health = HealthCheck(DeviceLimits(lost=100, status_mask=1 << 16), 0)
        self.now_ns = 0

    def reasons(self, heard):
        for sample in heard.samples:
            self.now_ns += self.period_ns
            if self.counter.take(sample, self.now_ns):
                self.signal.take(self.now_ns, sample.values[0])
            self._row()
        for _ in heard.refused:
            self.counter.refuse()
            self._row()
        return {self.signal.reason(), *self.health.reasons(self.now_ns)} - {Reason.OPERATION}

    def _row(self):
        facts, row = self.counter.facts, [0.0] * len(Head)
        row[Head.NUMBER], row[Head.VALID] = facts.number, facts.valid
        row[Head.STATUS] = facts.status
        row[Head.LOST], row[Head.MALFORMED] = facts.lost, facts.malformed
        row[Head.DEVICE_TIME] = facts.device_time
        self.health.take(self.now_ns, row)


@pytest.mark.usefixtures("real_time")
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (name, fault)
        for name in RANGES
        for fault in FOUND
        if fault.partition(":")[0] not in bench_of(name).without
    ],
)
def test_the_supervisor_finds_what_the_wire_can_carry(name, fault):
    with session(name, bench_of(name), later=fault) as sessions:
        watch = Watch(sessions.device, RANGES[name])
        assert watch.reasons(sessions.stir(25)) == set()
        sessions.strike()
        heard = sessions.hear(40, 0.4) if fault == "nan" else sessions.stir(25)
        assert FOUND_BY_ITSELF.get((name, fault), FOUND[fault]) in watch.reasons(heard)
