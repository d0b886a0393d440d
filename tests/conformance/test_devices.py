"""Every registered adapter is held to the suite, and the suite to broken adapters."""

from importlib import import_module

import pytest

from orchestrator.core.diagnostics import PluginError, UnknownNameError
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    Received,
    device_class,
    device_names,
    read_settings,
)
from orchestrator.rig.devices.conformance import (
    CHECKS,
    Bench,
    Golden,
    Refused,
    Wiring,
    check_device,
)
from orchestrator.rig.devices.conformance import (
    checks as suite,
)

#: The others start an emulator each, for half a second and more.
QUICK = ("golden-bytes", "foreign-bytes", "absent", "back-to-back")


@pytest.mark.usefixtures("real_time")
@pytest.mark.parametrize("check", QUICK)
@pytest.mark.parametrize("name", device_names())
def test_an_adapter_does_what_every_adapter_must(name, check):
    assert outcome_of(name, check) == "passed"


@pytest.mark.slow
@pytest.mark.usefixtures("real_time")
@pytest.mark.parametrize("check", [name for name in CHECKS if name not in QUICK])
@pytest.mark.parametrize("name", device_names())
def test_an_adapter_survives_what_goes_wrong(name, check):
    assert outcome_of(name, check) in {"passed", "skipped"}


def outcome_of(name, check):
    """Check; a pause of the machine is no fault of an adapter, and does not come three times."""
    for _ in range(3):
        (found,) = check_device(name, [check])
        if found.outcome != "failed":
            return found.outcome
    return found.remark


def test_only_faults_that_a_protocol_cannot_have_are_left_out():
    left_out = {name: set(suite.bench_of(name).without) for name in device_names()}
    assert left_out.pop("shm") == {"duplicate", "reorder"}  # it holds the newest sample only
    assert left_out.pop("ati_net_ft") == {"nan"}  # whole counts are numbers
    # It sends nothing when it is not in order; its numbers count PDUs.
    assert left_out.pop("dcp") == {"wrong-status", "clock-jump"}
    # A line: one frame after the other; whole numbers; no time.
    for name in ("canopen_cia402", "motor_bench"):
        assert left_out.pop(name) == {"reorder", "nan", "clock-jump"}
    # TCP, no numbers and no time.
    assert left_out.pop("pi_gcs") == {"duplicate", "reorder", "clock-jump"}
    assert {name: faults for name, faults in left_out.items() if faults} == {}


@pytest.mark.parametrize("name", device_names())
def test_logs_of_emulators_tell_what_devices_have(name):
    """Names are those of connectors, columns those of the log; what is commanded is told."""
    bench, adapter = suite.bench_of(name), device_class(name)
    settings = read_settings(adapter, bench.wiring().settings, name)
    ports, columns = adapter.connectors(settings), import_module(bench.emulator)._COLUMNS
    for known, connectors in ((bench.truth, ports.outputs), (bench.logged_commands, ports.inputs)):
        scalars = {
            f"{c.name}[{i}]" if c.shape else c.name for c in connectors for i in range(c.size)
        }
        found = known(settings)
        assert found.keys() <= scalars
        assert {one.column for one in found.values()} <= {*columns}
        assert {one.row_key[0] for one in found.values() if one.row_key} <= {*columns}
        # voltages of a motor bench do not come over the wire
        assert found or not connectors or (name, connectors) == ("motor_bench", ports.inputs)


def test_unknown_names_are_told():
    with pytest.raises(UnknownNameError, match="Did you mean 'lost'"):
        check_device("udp", ["lots"])
    with pytest.raises(UnknownNameError, match="Did you mean 'kuka_rsi'"):
        check_device("kuka_rsy")


class Careless(Device):
    """Counts by itself, and takes everything for a sample."""

    def __init__(self, settings):
        super().__init__(settings)
        self.count = 0

    @classmethod
    def connectors(cls, settings):
        return DeviceConnectors((), (DeviceConnector("x", "m", maximum=1.0),), 100.0)

    def open(self):
        pass

    def close(self):
        pass

    def receive(self, timeout_s):
        self.count += 1
        return Received((2.0,), sequence=self.count)

    def send(self, values):
        pass


@pytest.fixture
def careless(monkeypatch):
    from orchestrator.rig.devices.conformance import checks, session

    arguments = suite.bench_of("shm").wiring().arguments
    bench = Bench(
        emulator="hw_adapters.shm.emulator",
        wiring=lambda: Wiring(arguments, {}),
        golden=(Golden("one", lambda: b"\1", b"\2"),),
        refused=(Refused("anything", lambda: b"taken"),),
    )
    monkeypatch.setattr(suite, "bench_of", lambda name: bench)
    for module in (session, checks):
        monkeypatch.setattr(module, "device_class", lambda name: Careless)


@pytest.mark.parametrize(
    ("check", "remark"),
    [
        ("golden-bytes", "expected one: b'\\x02', found b'\\x01'"),
        ("foreign-bytes", "anything: expected WireFormatError, found b'taken'"),
        ("back-to-back", "expected -inf to 1, found 2"),
        ("lost", "expected gaps in the sequence, found none"),
        ("malformed", "expected damaged datagrams that are refused, found none"),
        ("wrong-status", "expected all marked, found 0 of 5"),
        ("frozen", "expected values that change while it is commanded, found none"),
        ("no-numbers", "expected refusals, found none"),
        ("saturated", "expected a status, or values far beyond 2, found 2"),
        ("clock-jump", "expected more than 100 s to have gone by, found 0.110 s"),
        (
            "absent",
            f"expected nothing where there is no device, found {Received((2.0,), sequence=1)}",
        ),
    ],
)
def test_the_suite_finds_what_an_adapter_does_wrong(careless, check, remark):
    (found,) = check_device("careless", [check])
    assert (found.outcome, found.remark) == ("failed", remark)


def test_a_device_without_a_bench_is_told(monkeypatch):
    from orchestrator.rig.devices.conformance import checks

    monkeypatch.setattr(checks, "device_class", lambda name: Careless)
    with pytest.raises(PluginError, match="has no bench"):
        checks.bench_of("careless")
